"""Text to checked records: files, YAML and JSON with the line of every value, limits, and errors that teach."""
