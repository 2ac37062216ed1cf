"""The embedded runtime: files and pipes in, matches and delivered rows out, without a cluster."""
