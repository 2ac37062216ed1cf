"""What `eddyline pipeline capacity` reckons with: measured, and its predictions held against runs."""
