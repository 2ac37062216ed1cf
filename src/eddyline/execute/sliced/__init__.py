"""The sliced executor: masks of 512 tuples; formulas and patterns that many queries share."""
