"""The demo on Spark: files that come in, a pipeline, people at work in other processes, and a check of every result."""
