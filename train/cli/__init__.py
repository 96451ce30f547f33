"""The commands of `python -m train`."""
