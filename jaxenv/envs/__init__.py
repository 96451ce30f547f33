"""The environments, one package each; they do not know each other."""
