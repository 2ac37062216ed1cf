"""Spark sessions: our own, those of commands, and what a user's session must be like."""
