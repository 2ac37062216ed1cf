"""The experiments of the papers, one file a figure, and what they share: data, query sets, courses over time, pictures."""
