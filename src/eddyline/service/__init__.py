"""What commands share, and a server will: files of queries, findings, changes of registries, jobs. Nothing here prints."""
