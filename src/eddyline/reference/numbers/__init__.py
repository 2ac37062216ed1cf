"""Numbers as Java and Spark have them, and arithmetic with them."""
