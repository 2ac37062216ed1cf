"""Measurements on Spark: one core, whole jobs, beside a pass-through and the ways that users have today."""
