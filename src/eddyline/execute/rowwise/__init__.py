"""The papers' executor: tuples visit one subject after the other, as long as any query is left."""
