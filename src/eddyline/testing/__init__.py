"""What tests of queries need: a schema of every type, nasty and benign rows, random queries, and a shrinker."""
