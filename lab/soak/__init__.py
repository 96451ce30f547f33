"""Random legal play whose laws are checked step by step."""
