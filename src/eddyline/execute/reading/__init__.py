"""Batches as they come in: Arrow, pandas or polars, in any layout, checked and converted."""
