"""Host-side helpers: files, names and arguments."""
