"""Transitions as datasets."""
