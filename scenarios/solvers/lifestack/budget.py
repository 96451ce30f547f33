"""How long the planner may think."""

import time

NODES_BETWEEN_LOOKS = 256  # at the clock on the wall


class Exhausted(Exception):
    """The budget is spent."""


class Budget:
    """Seconds and nodes that a search may take."""

    def __init__(self, seconds: float, nodes: int = 2_000_000) -> None:
        self.end = time.monotonic() + seconds
        self.nodes = nodes

    def part(self, share: float, nodes: int | None = None) -> "Budget":
        """A budget with a share of the seconds that are left."""
        return Budget((self.end - time.monotonic()) * share, self.nodes if nodes is None else nodes)

    def spend(self) -> None:
        """Counts a node.

        Raises:
            Exhausted: where nothing is left.
        """
        self.nodes -= 1
        if self.nodes < 0 or (self.nodes % NODES_BETWEEN_LOOKS == 0 and time.monotonic() > self.end):
            self.nodes = -1
            raise Exhausted
