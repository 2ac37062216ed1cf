"""Queries in normal form to segments: subjects cut into regions, distinct conditions, one shared program."""
