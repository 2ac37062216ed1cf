"""What takes over where an executor fails, so that a mistake which one query brings out stops no other."""
