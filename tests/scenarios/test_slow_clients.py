"""Clients that do not end their requests: each gets so much time, and there is a limit to the connections they hold."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openenv")
pytest.importorskip("fastapi")

import uvicorn
from websockets.sync import client as websockets

from scenarios.serving import app as serving
from scenarios.serving import connections
from scenarios.serving.connections import Guard, TimedConnection

HEAD = b"POST /step HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
SCOPE = {"type": "http", "method": "POST", "path": "/step", "headers": [], "query_string": b""}


@pytest.fixture(scope="module")
def app() -> Any:
    return serving.create_app()


async def silent() -> Any:
    await asyncio.Event().wait()


async def trickling() -> Any:
    await asyncio.sleep(0.01)
    return {"type": "http.request", "body": b" ", "more_body": True}


@pytest.mark.parametrize("receive", [silent, trickling])
def test_a_body_that_does_not_end_gets_a_sentence(app: Any, receive: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(asyncio.wait_for(app(SCOPE, receive, send), 20))
    start, body = sent
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert json.loads(body["body"]) == {"detail": "the request is not complete after 0.2 seconds."}


def test_a_body_that_has_ended_leaves_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.05)
    messages = iter(({"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}))
    received: list[str] = []

    async def receive() -> Any:
        message = next(messages)
        await asyncio.sleep(0.3 if message["type"] == "http.disconnect" else 0)
        return message

    async def app(scope: Any, receive: Any, send: Any) -> None:
        received.extend([(await receive())["type"], (await receive())["type"]])

    asyncio.run(Guard(app)({"type": "http"}, receive, None))
    assert received == ["http.request", "http.disconnect"]


@contextlib.contextmanager
def served(app: Any, **options: Any) -> Iterator[int]:
    """The port of a server in a thread."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, **options))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def answer(client: socket.socket) -> bytes:
    """All that the server says until it ends the connection."""
    client.settimeout(20)
    return b"".join(iter(lambda: client.recv(65536), b""))


def test_a_slow_client_loses_its_connection(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.5)
    with served(app) as port, socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(HEAD + b"{")
        assert answer(client).startswith(b"HTTP/1.1 408 ")


HEALTH = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", HEALTH[:20], HEALTH, HEALTH + HEALTH[:20]])
def test_a_connection_without_a_whole_head_ends(app: Any, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    with (
        served(app, http=TimedConnection, timeout_keep_alive=60) as port,
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.sendall(sent)
        answers = answer(client)
    assert answers.count(b"HTTP/1.1 200 OK") == sent.count(HEALTH)


async def slow(scope: Any, receive: Any, send: Any) -> None:
    """Answers HTTP after a second; echoes one message of a WebSocket."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": (await receive())["text"]})
    elif scope["type"] == "http":
        await asyncio.sleep(1)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


def test_connections_at_work_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.4)
    with served(slow, http=TimedConnection, lifespan="off") as port:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(HEALTH)
            assert answer(client).startswith(b"HTTP/1.1 200 OK")
        with websockets.connect(f"ws://127.0.0.1:{port}") as channel:
            time.sleep(1)
            channel.send("still here")
            assert channel.recv() == "still here"


def test_requests_beyond_the_connections_are_refused(app: Any) -> None:
    with served(app, limit_concurrency=3) as port, contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(HEAD)
        time.sleep(0.2)
        client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        client.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert answer(client).startswith(b"HTTP/1.1 503 ")


def test_there_are_connections_for_every_session_and_some_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr(serving.uvicorn, "run", lambda app, **options: asked.update(options))
    serving.serve("127.0.0.1", 8000, "LifeOps-v0", limit=4096, idle_seconds=1.0)
    assert asked["limit_concurrency"] == 2 * 4096 + serving.SPARE_CONNECTIONS
    assert asked["ws_max_size"] == connections.MAX_BODY
    assert asked["http"] is TimedConnection
