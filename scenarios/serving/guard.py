"""What stands between the network and the server: no endless bodies, no odd messages, no noise when a client leaves."""

import contextlib
import json
from typing import Any

from scenarios.serving.packages import fastapi

MAX_BODY = 2**20  # bytes of a request or a message
MAX_TYPE = 255  # characters of the type of a message, which an answer repeats
NO_OBJECT = json.dumps({"type": "(the message is not a JSON object of a known type)"})
"""What is answered as an unknown type."""


class Guard:
    """An ASGI application around another.

    A request whose body is longer than `MAX_BODY`, however it is sent, is answered with 413. A WebSocket message that
    is no JSON object, which would end the session, arrives as `NO_OBJECT`. A client that leaves is no error.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one connection."""
        size = 0

        async def checked() -> Any:
            nonlocal size
            message = await receive()
            if message["type"] == "websocket.receive" and not _is_object(message.get("text")):
                return {"type": "websocket.receive", "text": NO_OBJECT}
            size += len(message.get("body", b"")) if message["type"] == "http.request" else 0
            if size > MAX_BODY:
                raise fastapi.HTTPException(413, f"the request is longer than {MAX_BODY} bytes.")
            return message

        with contextlib.suppress(fastapi.WebSocketDisconnect):
            await self._app(scope, checked, send)


def _is_object(text: Any) -> bool:
    """Whether a message is the text of a JSON object, of a type that can be repeated."""
    try:
        found = json.loads(text)
        return isinstance(found, dict) and len(str(found.get("type"))) <= MAX_TYPE
    except (TypeError, ValueError, RecursionError):
        return False
