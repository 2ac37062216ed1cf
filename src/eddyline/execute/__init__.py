"""Batches to matches: values to region ids, then the executors."""
