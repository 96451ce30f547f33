"""Files, names and arguments: what runs on the host."""
