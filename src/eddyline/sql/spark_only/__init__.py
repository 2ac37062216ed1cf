"""What only Spark can read or compute: found, checked, written anew from its tokens."""
