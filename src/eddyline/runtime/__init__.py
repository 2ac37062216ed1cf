"""Where batches come from and results go to: one folder a runtime, all of them around the same engine."""
