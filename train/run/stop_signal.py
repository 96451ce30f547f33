"""A clean stop: a signal ends a run after its superstep, with a checkpoint."""

import signal
from types import FrameType
from typing import Any


class StopSignal:
    """Turns the first SIGINT or SIGTERM into a request to stop after the superstep; a second one acts as usual."""

    def __init__(self) -> None:
        """Starts without a request."""
        self.is_requested = False
        self._previous: dict[int, Any] = {}

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.is_requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __enter__(self) -> "StopSignal":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._request)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
