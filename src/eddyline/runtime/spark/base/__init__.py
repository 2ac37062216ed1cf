"""What the whole Spark runtime stands on: settings, secrets, names of a batch, Spark's types and failures."""
