"""The demo in one process: the engine, a market, and a story of changes."""
