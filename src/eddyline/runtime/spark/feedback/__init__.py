"""What the tasks of a batch tell the driver of their tuples, and the orders that it finds from that for the next one."""
