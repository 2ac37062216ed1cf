"""Dates, timestamps and time zones, over all integers."""
