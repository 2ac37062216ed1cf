"""Queries into segments, and segments into larger ones, beside pushes or by whoever adds."""
