"""What commands print: text, tables and charts for people, JSON for machines."""
