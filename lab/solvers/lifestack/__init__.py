"""Returns of LifeStack: the best plan of a crisis, and the one that inspects first."""
