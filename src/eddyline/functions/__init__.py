"""Spark's scalar functions: names and types in one table, coercions, and how Spark is asked for the failing-as-NULL form."""
