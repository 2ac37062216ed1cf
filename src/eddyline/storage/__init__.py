"""Folders and files that last: written whole, flushed to the disk, used by one process at a time."""
