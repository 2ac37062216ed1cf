"""Bound joins to normal form: branches of sides, keys, a window and a residual."""
