"""Matching and counting inside of a user's DataFrame."""
