"""Plain conjunctions as the papers' Attribute Selection Constructs."""
