"""Two trees of this project beside each other on one machine: `python -m bench compare OLD NEW`."""
