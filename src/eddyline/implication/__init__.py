"""Does one predicate imply another, and how is a predicate relaxed until it does: the paper DISJ's matching of boxes."""
