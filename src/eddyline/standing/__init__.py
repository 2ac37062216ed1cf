"""The standing set: the queries in force, one version of them, as everything above matches, changes and keeps them."""
