"""One batch of a pipeline: pinned, matched, delivered, committed."""
