"""The Spark runtime; together with the facade `eddyline.spark` the only place that imports pyspark."""
