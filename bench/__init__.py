"""Measurements: workloads, peers, and a table that anyone can print with `make bench`."""
