"""A limited number of sessions, each dropped after some time without use."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any


class SessionError(ValueError):
    """A session that cannot be had; `status` is the HTTP status of the answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Sessions:
    """Values by id, for several threads.

    >>> from scenarios.serving.sessions import Sessions
    >>> sessions = Sessions(list, limit=1, idle_seconds=60)
    >>> sessions.open("a") is sessions.get("a")
    True
    >>> sessions.open("b")
    Traceback (most recent call last):
    scenarios.serving.sessions.SessionError: all 1 sessions are in use; each ends when it idles.
    """

    def __init__(
        self, make: Callable[[], Any], limit: int, idle_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begins without sessions.

        Args:
            make: () -> the value of a new session.
            limit: sessions at a time.
            idle_seconds: how long a session stays after its last use.
            clock: () -> seconds.
        """
        self._make, self._limit, self._idle_seconds, self._clock = make, limit, idle_seconds, clock
        self._values: dict[str, tuple[Any, float]] = {}  # with the time of the last use
        self._held: list[str] = []  # ids, one for each request at work
        self._lock = threading.Lock()

    def open(self, id: str) -> Any:
        """The value of the session with an id, a new one if there is none.

        Raises:
            SessionError: where there is no room for it.
        """
        with self._lock:
            self._drop_idle()
            if id not in self._values and len(self._values) >= self._limit:
                raise SessionError(429, f"all {self._limit} sessions are in use; each ends when it idles.")
            return self._use(id, self._values[id][0] if id in self._values else self._make())

    def get(self, id: str) -> Any:
        """The value of the session with an id.

        Raises:
            SessionError: where there is none.
        """
        with self._lock:
            self._drop_idle()
            if id not in self._values:
                raise SessionError(404, "no session has this episode_id, or it idled too long: call /reset.")
            return self._use(id, self._values[id][0])

    def close(self, id: str) -> None:
        """Makes room."""
        with self._lock:
            self._values.pop(id, None)

    @contextlib.contextmanager
    def held(self, id: str) -> Iterator[None]:
        """Keeps a session that is at work, as with a first reset, which compiles, from idling meanwhile."""
        with self._lock:
            self._held.append(id)
        try:
            yield
        finally:
            with self._lock:
                self._held.remove(id)
                if id in self._values:
                    self._use(id, self._values[id][0])

    def _use(self, id: str, value: Any) -> Any:
        self._values[id] = value, self._clock()
        return value

    def _drop_idle(self) -> None:
        oldest = self._clock() - self._idle_seconds
        kept = (id for id, (_, used) in self._values.items() if used >= oldest or id in self._held)
        self._values = {id: self._values[id] for id in kept}
