"""Parts that the algorithms share: the state of a run, its supersteps, returns, and steps along a gradient."""
