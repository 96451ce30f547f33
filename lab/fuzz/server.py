"""Junk requests of the server of `python -m scenarios serve`, without a socket; needs the extra `openenv`."""

import functools
import json
import random
import time
from typing import Any

from lab.fuzz.judging import Fault
from lab.fuzz.junk import KINDS, LEAVES

SECONDS = 2.0
MAX_DETAIL = 10_000  # characters of the sentence of a refusal
MAX_ANSWER = 60_000  # characters of an answer
PLAYED = {"env_id": "LifeOps-v0", "scenario": "easy_1", "seed": 0, "episode_id": "fuzz"}
LEGAL = {"action_type": "reject_event", "request_id": "r1"}
FIELDS = ("env_id", "scenario", "seed", "episode_id", "action", "message", "timeout_s", "request_id", "extra")
BODIES = (
    *(b"", b"{", b"null", b"[]", b"3", b'"reset"', b"\xff\xfe", b'{"a":' * 20_000, b"[" * 10**5, b" " * (2**20 + 1)),
    *(b'{"seed": 1e999}', b'{"seed": NaN}', b'{"seed":' + b"9" * 5000 + b"}", b'{"episode_id": "\\ud800"}'),
)


def request(dice: random.Random, before: int) -> str:
    """Sends legal requests, then a junk one: the sentence of its refusal, "" where it is answered with 200."""
    client = _client()
    for path, body in (("/reset", PLAYED), *[("/step", _step(dice.randrange(3)))] * before):
        if (status := client.post(path, json=body).status_code) != 200:
            raise Fault(f"a legal request is answered with {status}")
    start = time.process_time()
    sent = _socket_junk(dice) if dice.random() < 0.3 else None
    answer = _over_socket(client, sent) if sent is not None else _over_http(client, dice)
    if (seconds := time.process_time() - start) > SECONDS:
        raise Fault(f"answered after {seconds:.1f} s")
    return answer


def _step(message: Any) -> dict[str, Any]:
    return {"episode_id": PLAYED["episode_id"], "action": {"message": message}}


def _over_http(client: Any, dice: random.Random) -> str:
    """A request with a junk body or address."""
    path = dice.choice(("/reset", "/step", "/step", "/step"))
    if dice.random() < 0.1:
        answer = client.get("/state", params={"episode_id": dice.choice(("", "x" * 300, "é", "nobody", "\x00"))})
    else:
        body = dice.choice(BODIES) if dice.random() < 0.2 else _as_bytes(_body(dice, path))
        kind = dice.choice(("application/json", "application/json", "text/plain", ""))
        answer = client.post(path, content=body, headers={"content-type": kind})
    found = _read(answer.text)
    if answer.status_code == 200:
        return ""
    if not 400 <= answer.status_code < 500:
        raise Fault(f"status {answer.status_code}")
    detail = found["detail"]
    if not isinstance(detail, str) or len(detail) > MAX_DETAIL or "Traceback" in detail:
        raise Fault(f"no plain sentence: {detail!r:.200}")
    return detail


def _over_socket(client: Any, message: str) -> str:
    """A message of a WebSocket, which stays open afterwards."""
    with client.websocket_connect("/ws") as socket:
        for text in (message, json.dumps({"type": "state"})):
            if text == message == "":
                socket.send_bytes(b"\xff")
            else:
                socket.send_text(text)
            answer = socket.receive_text()
            found = _read(answer)
            if text is not message and found["type"] != "state":
                raise Fault(f"the session has ended: {answer:.200}")
            said = found["data"].get("message", "") if text is message and found["type"] == "error" else ""
            if len(said) > MAX_DETAIL:
                raise Fault(f"a reason of {len(said)} characters")
            if text is message:
                reason = said
    return reason


def _body(dice: random.Random, path: str) -> Any:
    """A request of which something is junk."""
    junk = dice.choice(LEAVES) if dice.random() < 0.5 else KINDS[dice.choice(list(KINDS))](dice, LEGAL)
    if path == "/step" and dice.random() < 0.6:
        return _step(junk)
    body: dict[str, Any] = dict(PLAYED) if path == "/reset" else _step(0)
    name = dice.choice(FIELDS)
    body.update({name: junk})
    return body


def _socket_junk(dice: random.Random) -> str:
    """The text of a message."""
    kind = dice.choice(("reset", "step", "state", "close_", "mcp", 3, None, "é", "x" * 10**5))
    data = dice.choice(({}, None, [], 3, {"message": dice.choice(LEAVES)}, {dice.choice(FIELDS): dice.choice(LEAVES)}))
    return dice.choice(("", "{", "[]", "[" * 9**5, _as_bytes({"type": kind, "data": data}).decode()))


def _as_bytes(value: Any) -> bytes:
    """As JSON where possible: a value of Python alone appears as its class."""
    try:
        return json.dumps(value, default=lambda odd: type(odd).__name__[:99], skipkeys=True).encode()
    except (ValueError, RecursionError, TypeError, RuntimeError, KeyError, MemoryError, OSError):
        return b"{}"


def _read(text: str) -> Any:
    """The answer, which is strict JSON."""

    def refuse(word: str) -> None:
        raise Fault(f"{word} in an answer")

    if len(text) > MAX_ANSWER:
        raise Fault(f"an answer of {len(text)} characters")
    return json.loads(text, parse_constant=refuse)


@functools.cache
def _client() -> Any:
    """A client of one server for all requests, whose programs are compiled."""
    from fastapi.testclient import TestClient  # pyright: ignore[reportMissingImports]

    from scenarios.serving import app

    client = TestClient(app.create_app(limit=64), raise_server_exceptions=True)
    client.__enter__()
    client.post("/reset", json=PLAYED)
    client.post("/step", json=_step(0))
    return client
