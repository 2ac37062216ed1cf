"""One driver a workload: what is measured, against whom, and on which sample results are compared."""
