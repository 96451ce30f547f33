"""Connections that bring a request in time, or end."""

import asyncio
from typing import Any

from scenarios.serving.packages import http

HEAD_SECONDS = 60  # from a connection's beginning, or its last answer, until the head of the next request is complete


class TimedConnection(http.AutoHTTPProtocol):
    """Uvicorn's protocol of an HTTP connection, which ends if it waits for `HEAD_SECONDS` without a request in work.

    Uvicorn has no limit for a client that sends nothing, or a part of a head. Once a request is in work `Guard` and
    the sessions' limits hold; a connection that became a WebSocket has left this protocol.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begins to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Begins to wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._limit = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _stop_waiting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()

    def _close_if_idle(self) -> None:
        is_websocket = self.transport.get_protocol() is not self
        is_at_work = self.cycle is not None and not self.cycle.response_complete
        if not is_websocket and not is_at_work:
            self.transport.close()
