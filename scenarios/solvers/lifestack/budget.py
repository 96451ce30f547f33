"""The budget of a search: seconds of computing and nodes."""

import time

NODES_PER_CLOCK_CHECK = 256


class Exhausted(Exception):
    """The budget is spent."""


class Budget:
    """Seconds and nodes that a search may take; seconds of this thread, so that a busy machine cuts nothing short."""

    def __init__(self, seconds: float, nodes: int = 2_000_000) -> None:
        self.end = time.thread_time() + seconds
        self.nodes = nodes

    def part(self, share: float, nodes: int | None = None) -> "Budget":
        """A budget with a share of the remaining seconds."""
        return Budget((self.end - time.thread_time()) * share, self.nodes if nodes is None else nodes)

    def spend(self) -> None:
        """Counts a node.

        Raises:
            Exhausted: if nothing is left.
        """
        self.nodes -= 1
        if self.nodes < 0 or (self.nodes % NODES_PER_CLOCK_CHECK == 0 and time.thread_time() > self.end):
            self.nodes = -1
            raise Exhausted
