"""Seeded workloads: the same queries and tuples in every run."""
