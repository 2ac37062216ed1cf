"""Where values lie among the constants of a subject: the region of each, or its ordinal."""
