"""The jobs, one a file: a frozen request in, a value out that knows itself as JSON."""
