"""Files that users write: queries in four forms, schemas in many."""
