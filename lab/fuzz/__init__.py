"""Damaged files, calls and arguments: each is accepted, or refused in a few plain words."""
