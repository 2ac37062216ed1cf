"""Matches to results: Arrow columns for each distinct SELECT list, and one account of what became of every match."""
