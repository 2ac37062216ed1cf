"""The rows of a standing set: ids and texts, what goes with them, values that many have in common."""
