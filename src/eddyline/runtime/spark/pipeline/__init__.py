"""Pipelines: sources in, all registered queries evaluated together, results out, on Structured Streaming."""
