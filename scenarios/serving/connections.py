"""Between the network and the server: no endless or slow requests, no odd messages, no noise when a client leaves."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from jaxenv.host.companions import optional

exceptions = optional("starlette.exceptions", "the server", "openenv")
responses = optional("starlette.responses", "the server", "openenv")
websockets = optional("starlette.websockets", "the server", "openenv")
http = optional("uvicorn.protocols.http.auto", "the server", "openenv")

HEAD_SECONDS = 60  # from a connection's beginning, or its last answer, until the head of the next request is complete
MAX_BODY = 2**20  # bytes of a request or a message
BODY_SECONDS = 60  # for the body of a request, from its head on
MAX_TYPE = 255  # characters of the type of a message, which an answer repeats
NO_OBJECT = json.dumps({"type": "(the message is not a JSON object of a known type)"})
"""The message that the server answers as an unknown type."""


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


class Guard:
    """An ASGI application around another.

    A request whose body is longer than `MAX_BODY`, however it is sent, is answered with 413, and one whose body is not
    complete after `BODY_SECONDS` with 408; both end the connection. A WebSocket message that is no JSON object, which
    would end the session, arrives as `NO_OBJECT`. A client that leaves is no error. What a page of another site asks
    for, which a browser says in `Origin`, is refused with 403: it could play on this machine.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        if _is_foreign(dict(scope.get("headers", ()))):
            await _refuse_origin(scope, receive, send)
            return
        size = 0
        deadline = asyncio.get_running_loop().time() + BODY_SECONDS if scope["type"] == "http" else None

        async def checked() -> Any:
            nonlocal size, deadline
            message = await _before(deadline, receive)
            if message["type"] == "websocket.receive" and not _is_object(message.get("text")):
                return {"type": "websocket.receive", "text": NO_OBJECT}
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
                deadline = deadline if message.get("more_body") else None  # the next message is that the client leaves
            if size > MAX_BODY:
                raise _refusal(413, f"the request is longer than {MAX_BODY} bytes.")
            return message

        with contextlib.suppress(websockets.WebSocketDisconnect):
            await self._app(scope, checked, send)


def _is_foreign(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the page that asks comes from another host or port; a program that is no browser names none."""
    origin = headers.get(b"origin")
    return origin is not None and origin.partition(b"://")[2] != headers.get(b"host")


async def _refuse_origin(scope: Any, receive: Any, send: Any) -> None:
    """Answers with 403; of a WebSocket that is not accepted yet this is what closing does."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        reason = "pages of other sites may not play here."
        await responses.JSONResponse({"detail": reason}, 403)(scope, receive, send)


async def _before(deadline: float | None, receive: Any) -> Any:
    """The next message, which comes before a time of the loop; None for whenever it comes.

    Raises:
        HTTPException: if it does not.
    """
    try:
        async with asyncio.timeout_at(deadline):
            return await receive()
    except TimeoutError:
        raise _refusal(408, f"the request is not complete after {BODY_SECONDS} seconds.") from None


def _refusal(status: int, reason: str) -> Exception:
    """An answer to a request that may go on, so that its connection ends."""
    return exceptions.HTTPException(status, reason, {"connection": "close"})


def _is_object(text: Any) -> bool:
    """Whether a message is the text of a JSON object, of a type that can be repeated."""
    try:
        found = json.loads(text)
        return isinstance(found, dict) and len(str(found.get("type"))) <= MAX_TYPE
    except (TypeError, ValueError, RecursionError):
        return False
