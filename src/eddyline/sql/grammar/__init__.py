"""Spark's grammar of queries and expressions: text to tokens, tokens to a syntax tree."""
