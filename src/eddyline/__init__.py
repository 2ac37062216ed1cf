"""Many standing SQL queries over streams, evaluated together on every arriving tuple."""
