"""What is redundant in a set of queries, put in order for people: figures, clusters, what could go, a page."""
