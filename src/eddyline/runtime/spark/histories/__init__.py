"""Files of any size against queries, for commands: matches and back-tests."""
