"""A run: the loop around an algorithm, and all that it leaves in its folder."""
