"""The server with many clients: what it can hold, how long it takes, and that no session sees another."""

import concurrent.futures
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

pytest.importorskip("openenv")
pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from scenarios.serving.app import create_app

GAMES = [("LifeOps-v0", "easy_1", 0), ("LifeOps-v0", 5, 7), ("LifeOps-v0", 9, 3)]


def play(client, episode, game, turns):
    """Yields after each request what one session was told."""
    env_id, scenario, seed = game
    asked = {"episode_id": episode, "env_id": env_id, "scenario": scenario, "seed": seed}
    yield _told(client.post("/reset", json=asked))
    for turn in range(turns):
        state = client.get("/state", params={"episode_id": episode}).json()
        told = client.post("/step", json={"episode_id": episode, "action": {"message": turn % 2}})
        yield _told(told), state["step_count"]


def _told(answer):
    told = answer.json()
    told["observation"].pop("episode_id")
    return answer.status_code, told


def test_interleaved_sessions_answer_as_each_does_alone():
    with TestClient(create_app(limit=8)) as client:
        alone = [list(play(client, f"alone-{n}", game, 4)) for n, game in enumerate(GAMES)]
        sessions = [play(client, f"together-{n}", game, 4) for n, game in enumerate(GAMES)]
        together = [list(turn) for turn in zip(*sessions, strict=True)]
    assert [list(session) for session in zip(*together, strict=True)] == alone
    assert len({str(session) for session in alone}) == len(GAMES)


@pytest.fixture
def server():
    """(arguments) -> the port of a server of its own, and its process."""
    children = []

    def start(*arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "scenarios", "serve", "--port", str(port), *arguments]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children.append(child)
        for _ in range(600):
            try:
                request(port, "/health")
                return port, child
            except urllib.error.URLError:
                assert child.poll() is None
                time.sleep(0.1)
        raise AssertionError("the server does not start")

    yield start
    for child in children:
        child.kill()
        child.wait()


def request(port, path, body=None):
    """(status, answer) of one request, which may take a minute."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, headers)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return answer.status, json.loads(answer.read())


@pytest.mark.slow
def test_a_slow_client_holds_up_nobody(server):
    """A hundred connections that send a header and then a byte now and then, and one client that plays."""
    port, _ = server("--sessions", "4")
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    head = b"POST /step HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    for each in idle:
        each.sendall(head)
    began = time.perf_counter()
    for turn in range(5):
        for each in idle:
            each.sendall(b" ")
        asked = {"env_id": "LifeOps-v0", "scenario": "easy_1", "seed": turn, "episode_id": "a"}
        status, told = request(port, "/reset", asked)
        assert (status, told["done"]) == (200, False)
    assert time.perf_counter() - began < 30
    for each in idle:
        each.close()


@pytest.mark.slow
def test_a_thousand_sessions_at_once(server):
    """Each answers as it would alone, one more is refused, and every request is answered within a minute."""
    count, threads = 1000, 32
    port, child = server("--sessions", str(count))
    seconds: list[float] = []

    def timed(path, body):
        began = time.perf_counter()
        status, told = request(port, path, body)
        seconds.append(time.perf_counter() - began)
        assert status == 200
        return told

    def begin(number):
        asked = {"env_id": "LifeOps-v0", "scenario": "easy_1", "seed": 0, "episode_id": str(number)}
        return timed("/reset", asked)["observation"]["text"]

    def step(number):
        action = {"message": number % 2}
        return timed("/step", {"episode_id": str(number), "action": action})["observation"]["text"]

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        began = time.perf_counter()
        begun = list(pool.map(begin, range(count)))
        taken = list(pool.map(step, range(count)))
        total = time.perf_counter() - began
    assert len(set(begun)) == 1
    assert [len(set(taken[parity::2])) for parity in (0, 1)] == [1, 1]
    with pytest.raises(urllib.error.HTTPError, match="429"):
        request(port, "/reset", {"env_id": "LifeOps-v0", "episode_id": "one more"})
    seconds.sort()
    with open(f"/proc/{child.pid}/status") as status:
        memory = int(next(line for line in status if line.startswith("VmRSS")).split()[1]) // 1024
    p50, p99 = (1000 * seconds[int(part * len(seconds))] for part in (0.5, 0.99))
    print(
        f"{len(seconds)} requests, {len(seconds) / total:.0f} a second; {p50:.0f} ms p50, {p99:.0f} ms p99; {memory} MB"
    )
    assert seconds[-1] < 60
