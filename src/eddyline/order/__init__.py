"""From samples of the live tuples to the sequence in which subjects are visited: the papers' strategies, one file each."""
