"""What executors cost: every piece of work and memory as an item, and the queries that use it."""
