"""Which way batches go and in which order tuples visit subjects: decided live, or as a record says."""
