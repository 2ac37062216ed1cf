"""Who proposes an order: the strategies of the papers and our own, one file each; `factory.py` has them by name."""
