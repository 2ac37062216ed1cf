"""HTML pages that need nothing else: what the reports of back-tests and of redundancies are made of."""
