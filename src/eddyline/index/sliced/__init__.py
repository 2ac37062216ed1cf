"""Queries as masks: conditions as ranges of ids, the program that joins them, patterns."""
