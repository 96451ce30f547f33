"""Speed beside other suites, on a GPU within minutes, and programs compiled for chips that are not here."""
