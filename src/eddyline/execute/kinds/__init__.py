"""One file for each executor: what it finds, how it says what it does, and what it costs."""
