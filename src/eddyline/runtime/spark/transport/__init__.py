"""What travels to Spark's workers: functions and compiled sets."""
