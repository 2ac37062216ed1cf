"""The rewrites, one per file; `pipeline.py` has their order."""
