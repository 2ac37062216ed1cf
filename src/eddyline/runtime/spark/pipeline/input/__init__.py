"""What a batch of a pipeline reads: any source as rows of a stream, and what identifies a row."""
