"""Java's regular expressions, on a subset, by the plainest search."""
