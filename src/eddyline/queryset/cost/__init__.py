"""What each query of a set costs, and what one more would."""
