"""How joins of the same streams relate: one question about pairs of tuples."""
