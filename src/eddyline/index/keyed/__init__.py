"""Queries found by rare values: which they are, and their tables."""
