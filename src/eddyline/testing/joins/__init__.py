"""Random joins: two streams whose tuples often meet, statements, scripts of pushes and changes, and a shrinker."""
