"""A page to play an environment by hand: the episode with undo and hints, and the server of the page."""
