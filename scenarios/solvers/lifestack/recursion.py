"""Recursion as deep as an episode is long, on a list instead of the interpreter's stack.

A function that calls itself is written as a generator: it yields the calls that it waits for, and returns its result.
"""

from collections.abc import Generator
from typing import Any, TypeVar

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
