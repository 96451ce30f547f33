"""Damaged files, calls and arguments: each is taken, or refused in a few plain words."""
