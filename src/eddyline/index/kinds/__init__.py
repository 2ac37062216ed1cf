"""One file for each way to compile queries: which it takes, how they are compiled, and how that is kept in a file."""
