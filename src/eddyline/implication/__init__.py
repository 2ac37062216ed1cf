"""Which predicates imply, exclude or never satisfy one another: exact over columns, with a proof or a box that is left."""
