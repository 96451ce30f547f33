"""The server of the page: one game, on this machine, for one person."""

import json
import re
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from scenarios.libraries import Library
from scenarios.playing.game import Game
from scenarios.serving.connections import Guard
from scenarios.text.errors import ScenarioError, quote
from scenarios.text_env import GENERATED

PAGE = Path(__file__).with_name("page.html")
FIELDS = {"begin": ("scenario", "seed"), "take": ("action",), "undo": (), "hint": ()}
"""Path -> what the JSON object of a request may have."""


def create_app(id: str, library: Library | None = None, hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Any:
    """The page and its game as an ASGI application.

    Args:
        id: of `Game`.
        library: likewise.
        hosts: names of this machine by which browsers may reach it, or `*`; a page of another site may not play.

    Raises:
        ScenarioError: as `Game`.
    """
    game, lock = Game(id, library), threading.Lock()

    def page(request: Request) -> Response:
        return HTMLResponse(PAGE.read_text("utf-8"))

    def about(request: Request) -> Response:
        with lock:
            return JSONResponse({"scenarios": [*game.scenarios, GENERATED], **game.moment()})

    def episode(request: Request) -> Response:
        with lock:
            record = game.record()
        name = re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(str(record[part]) for part in ("env", "scenario", "seed")))
        file = {"content-disposition": f'attachment; filename="{name}.json"'}
        return Response(json.dumps(record, indent=1), media_type="application/json", headers=file)

    def posted(name: str) -> Route:
        """The route of a method of the game."""
        method: Callable[..., Any] = getattr(game, name)

        def play(asked: Mapping[str, Any]) -> Any:
            with lock:
                return method(**asked)

        async def answer(request: Request) -> Response:
            asked = _object(await request.body(), FIELDS[name])
            return JSONResponse(await run_in_threadpool(play, asked))

        return Route(f"/{name}", answer, methods=["POST"])

    def refused(request: Request, error: Exception) -> Response:
        return JSONResponse({"detail": str(error)}, 422)

    routes = [Route("/", page), Route("/about", about), Route("/episode", episode), *map(posted, FIELDS)]
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)), Middleware(Guard)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={ScenarioError: refused})


def serve(app: Any, host: str, port: int) -> None:
    """Serves until interrupted."""
    uvicorn.run(app, host=host, port=port, log_level="warning")


class Inline:
    """The page in a notebook that runs on this machine: the last line of a cell shows it.

    >>> from scenarios.playing.app import Inline
    >>> Inline("LifeOps-v0")  # doctest: +SKIP
    """

    def __init__(self, id: str, library: Library | None = None, height: int = 720) -> None:
        """Serves the page, at a free port, for as long as Python runs.

        Args:
            id: of `Game`.
            library: likewise.
            height: of the frame, pixels.
        """
        free = socket.create_server(("127.0.0.1", 0))
        self.address, self._height = f"http://127.0.0.1:{free.getsockname()[1]}", height
        server = uvicorn.Server(uvicorn.Config(create_app(id, library), log_level="warning"))
        threading.Thread(target=server.run, args=([free],), daemon=True).start()

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self._height}px;border:1px solid #dde2e6"
        return f'<iframe src="{self.address}" style="{style}"></iframe>'


def _object(body: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The JSON object of a request."""
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not set(found) <= set(fields):
        raise ScenarioError(f"expected a JSON object of {', '.join(fields) or 'nothing'}, found {quote(found)}.")
    return found
