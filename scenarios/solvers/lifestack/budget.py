"""The limits of a search: seconds of computing, nodes and states, and recursion as deep as an episode is long.

A function that calls itself is written as a generator: it yields the calls that it waits for, and returns its result.
"""

import time
from collections.abc import Generator
from typing import Any, TypeVar

MAX_NODES = 2_000_000
MAX_STATES = 10_000_000  # that the nodes lead to, about 300 bytes each
MAX_DRAWS = 12  # events that may fire in one step, or be foreseen together


class Exhausted(Exception):
    """The budget is spent."""


class Budget:
    """Seconds and nodes that a search may take; seconds of this thread, so that a busy machine cuts nothing short."""

    def __init__(self, seconds: float, nodes: int = MAX_NODES) -> None:
        self.end = time.thread_time() + seconds
        self.nodes, self.states = nodes, MAX_STATES

    @property
    def left(self) -> float:
        """The remaining seconds."""
        return self.end - time.thread_time()

    def spend(self) -> None:
        """Counts a node.

        Raises:
            Exhausted: if nothing is left.
        """
        self.nodes -= 1
        if self.nodes < 0:
            raise Exhausted
        self.hold(1)

    def hold(self, states: int) -> None:
        """Counts states that a node leads to, and looks at the clock.

        Raises:
            Exhausted: if nothing is left.
        """
        self.states -= states
        if self.states < 0 or time.thread_time() > self.end:
            raise Exhausted


def require_few_draws(events: int) -> None:
    """Refuses to look at every way in which many random events may come: there are 2 ** events.

    Raises:
        Exhausted: if there are more than `MAX_DRAWS`.
    """
    if events > MAX_DRAWS:
        raise Exhausted


ResultT = TypeVar("ResultT")
Call = Generator["Call[Any]", Any, ResultT]
"""A call: it yields further calls, is sent their results, and returns its own."""


def result_of(call: Call[ResultT]) -> ResultT:
    """The result of a call, once all calls that it waits for have returned.

    >>> def sum_to(n):
    ...     return n + (yield sum_to(n - 1)) if n else 0
    >>> result_of(sum_to(100_000))
    5000050000
    """
    waiting: list[Call[Any]] = []
    result: Any = None
    while True:
        try:
            inner = call.send(result)
        except StopIteration as returned:
            if not waiting:
                return returned.value
            call, result = waiting.pop(), returned.value
        else:
            waiting.append(call)
            call, result = inner, None
