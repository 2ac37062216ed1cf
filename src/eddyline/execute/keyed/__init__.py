"""The keyed executor: tuples find the queries that name their own values."""
