"""Frozen values in which the stages meet; nothing here parses, rewrites or evaluates."""
