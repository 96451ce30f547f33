"""The server: what it answers, and that whatever cannot be answered gets a status of 4xx and a sentence."""

import asyncio
import json

import jax
import pytest

pytest.importorskip("openenv")
pytest.importorskip("fastapi")

from fastapi import WebSocketDisconnect
from fastapi.testclient import TestClient

import jaxenv
import scenarios
from scenarios.serving import app as serving
from scenarios.serving.connections import MAX_BODY, Guard
from scenarios.serving.environment import MAX_SNAPSHOTS, TextEnvironment

EASY = {"env_id": "LifeOps-v0", "scenario": "easy_1", "seed": 0}


@pytest.fixture(scope="module")
def client():
    with TestClient(serving.create_app(limit=6)) as client:
        yield client


@pytest.fixture
def episode(client: TestClient) -> str:
    """A new episode in one session that all tests share."""
    return client.post("/reset", json=EASY | {"episode_id": "shared"}).json()["observation"]["episode_id"]


def test_an_episode(client: TestClient, episode: str) -> None:
    answer = client.post("/reset", json=EASY | {"episode_id": episode}).json()
    assert set(answer) == {"observation", "reward", "done"}
    assert (answer["reward"], answer["done"]) == (None, False)
    told = answer["observation"]
    assert told["text"] == scenarios.TextEnv("LifeOps-v0", "easy_1").reset()
    assert told["legal_actions"]["1"]["action_type"] == "reject_event"
    step = {
        "episode_id": episode,
        "action": {"message": 'So be it: {"action_type": "accept_event", "request_id": "r1"}'},
    }
    answer = client.post("/step", json=step).json()
    assert (answer["reward"], answer["done"]) == (0.0, True)
    assert answer["observation"]["info"]["error"] is None
    assert answer["observation"]["legal_actions"] == {}
    state = client.get("/state", params={"episode_id": episode}).json()
    assert state == EASY | {"episode_id": episode, "step_count": 1, "snapshot": state["snapshot"]}
    again = client.post("/step", json=step)
    assert (again.status_code, again.json()["observation"]["info"]["error"]) == (
        200,
        "no episode is running: reset begins one.",
    )


def test_the_first_session_of_a_warm_server_compiles_nothing(client: TestClient, caplog) -> None:
    serving.warm("LifeOps-Shaped-v0")
    with jax.log_compiles(), caplog.at_level("WARNING", "jax"):
        client.post("/reset", json={"env_id": "LifeOps-Shaped-v0", "scenario": 2, "seed": 4, "episode_id": "shared"})
        answer = client.post("/step", json={"episode_id": "shared", "action": {"message": 1}})
    assert answer.json()["observation"]["info"]["step_taken"]
    assert not [record for record in caplog.records if "Compiling" in record.getMessage()]


def test_an_action_without_message_is_the_message(client: TestClient) -> None:
    """As a client sends it that passes on what a model wrote."""
    client.post("/reset", json=EASY | {"episode_id": "shared"})
    action = {"action_type": "accept_event", "request_id": "r1"}
    answer = client.post("/step", json={"episode_id": "shared", "action": action}).json()
    assert (answer["reward"], answer["done"], answer["observation"]["info"]["error"]) == (0.0, True, None)


def test_a_snapshot_is_a_moment_of_one_session(client: TestClient) -> None:
    def post(path, **body):
        return client.post(path, json={"episode_id": "forks", **body})

    def step(message):
        return post("/step", action={"message": message}).json()

    def snapshot():
        return client.get("/state", params={"episode_id": "forks"}).json()["snapshot"]

    post("/reset", env_id="TeamsClone-v0", scenario="general", seed=3)
    step("0")
    token = snapshot()
    told = [step("1"), step("2")]
    moved = post("/reset", snapshot=token).json()
    assert moved["observation"]["episode_id"] == "forks"
    assert [step("1"), step("2")] == told
    assert client.get("/state", params={"episode_id": "forks"}).json()["step_count"] == 3
    post("/reset", snapshot=token, seed=8)
    assert [step("1"), step("2")] != told
    elsewhere = client.post("/reset", json={"episode_id": "shared", "snapshot": token})
    assert (elsewhere.status_code, "no such snapshot" in elsewhere.json()["detail"]) == (422, True)
    assert "leave out" in post("/reset", snapshot=token, scenario="general").json()["detail"]
    with pytest.raises(scenarios.ScenarioError, match="no such snapshot"):
        TextEnvironment("LifeOps-v0").reset(snapshot=["a list"])  # a WebSocket checks no types
    for _ in range(MAX_SNAPSHOTS):
        snapshot()
    assert post("/reset", snapshot=token).status_code == 422  # the oldest one went


def test_a_reset_may_ask_for_nothing(client: TestClient) -> None:
    answer = client.post("/reset").json()["observation"]
    state = client.get("/state", params={"episode_id": answer["episode_id"]}).json()
    assert (state["env_id"], state["scenario"], state["step_count"]) == ("LifeOps-v0", None, 0)
    replay = client.post("/reset", json={"episode_id": "replay", "seed": state["seed"]}).json()["observation"]
    assert replay["text"] == answer["text"]  # the seed that was drawn is reported


def test_what_is_told_about_the_server(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "healthy"}
    about = client.get("/metadata").json()
    assert about["name"] == "jaxenv"
    assert all(id in about["description"] for id in jaxenv.registered())
    assert "message" in client.get("/schema").json()["action"]["properties"]
    assert {"/reset", "/step", "/state"} <= set(client.get("/openapi.json").json()["paths"])


MALFORMED = [
    ("/reset", {"env_id": "LifeOp-v0"}, 422, "Did you mean 'LifeOps-v0'?"),
    ("/reset", {"env_id": 3}, 422, "env_id"),
    ("/reset", {"env_id": "\ud800"}, 422, "env_id"),
    ("/reset", {"scenario": "easy_3"}, 422, "Did you mean"),
    ("/reset", {"scenario": 99}, 422, "an index from 0 to 11"),
    ("/reset", {"scenario": [1]}, 422, "scenario"),
    ("/reset", {"scenario": float("nan")}, 422, "scenario"),
    ("/reset", {"scenaro": "easy_1"}, 422, "scenaro"),
    ("/reset", {"seed": -1}, 422, "a whole number from 0"),
    ("/reset", {"seed": 10**30}, 422, "a whole number from 0"),
    ("/reset", {"seed": "x"}, 422, "seed"),
    ("/reset", {"episode_id": ""}, 422, "episode_id"),
    ("/reset", {"episode_id": "x" * 300}, 422, "episode_id"),
    ("/reset", [], 422, "body"),
    ("/step", {"action": {"message": "0"}}, 422, "episode_id"),
    ("/step", {"episode_id": "nobody", "action": {"message": "0"}}, 404, "no session has this episode_id"),
    ("/step", {"episode_id": "shared"}, 422, "action"),
    ("/step", {"episode_id": "shared", "action": 3}, 422, "action"),
    ("/step", {"episode_id": "shared", "action": {}}, 422, "message"),
    ("/step", {"episode_id": "shared", "action": {"message": None}}, 422, "message"),
    ("/step", {"episode_id": "shared", "action": {"message": True}}, 422, "message"),
    ("/step", {"episode_id": "shared", "action": {"message": float("inf")}}, 422, "message"),
    ("/step", {"episode_id": "shared", "action": {"message": "0", "massage": "1"}}, 422, "massage"),
]


@pytest.mark.parametrize(("path", "body", "status", "words"), MALFORMED)
def test_malformed_requests_get_a_sentence(client: TestClient, path: str, body, status: int, words: str) -> None:
    answer = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 422), (b"\xff", 400), (b'{"a":' * 20_000, 400), (b" " * (MAX_BODY + 1), 413)],
)
def test_bodies_that_are_no_json(client: TestClient, content: bytes, status: int) -> None:
    answer = client.post("/step", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)


def test_an_answer_that_names_no_action_is_no_malformed_request(client: TestClient, episode: str) -> None:
    for message in ("what?", 400, {"action_type": "\ud800"}, {"x": [[]]}):
        body = json.dumps({"episode_id": episode, "action": {"message": message}})
        answer = client.post("/step", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 200
        told = answer.json()
        assert (told["reward"], told["done"], told["observation"]["info"]["step_taken"]) == (0.0, False, False)
        assert told["observation"]["text"].startswith(told["observation"]["info"]["error"])


def test_a_refused_reset_takes_no_session() -> None:
    with TestClient(serving.create_app(limit=1)) as client:
        assert client.post("/reset", json={"env_id": "nothing"}).status_code == 422
        assert client.post("/reset", json=EASY).status_code == 200
        full = client.post("/reset", json=EASY)
        assert (full.status_code, full.json()["detail"][:24]) == (429, "all 1 sessions are in us")
        with client.websocket_connect("/ws") as socket, client.websocket_connect("/ws") as late:
            assert late.receive_json()["data"]["code"] == "CAPACITY_REACHED"
            socket.send_json({"type": "state"})
            assert socket.receive_json()["data"] == {"episode_id": None, "step_count": 0}


def test_a_websocket_survives_malformed_messages(client: TestClient) -> None:
    with client.websocket_connect("/ws") as socket:
        for message in (
            {"type": "step", "data": {"message": "0"}},  # before the reset
            {"type": "step", "data": {"message": None}},
            {"type": "step"},
            {"type": "reset", "data": {"env_id": ["LifeOps-v0"]}},
            {"type": "reset", "data": {"seed": "x"}},
            {"type": "reset", "data": {"scenario": {"x": 1}}},
            {"type": "reset", "data": {"scenaro": "easy_1"}},
            {"type": "reset", "data": {"env_id": "\ud800"}},
            {"type": "dance"},
            {"type": "x" * 100_000},
            ["reset"],
            "reset",
            None,
        ):
            socket.send_text(json.dumps(message))
            answer = socket.receive_json()
            assert answer["type"] == "error"
            assert 0 < len(answer["data"]["message"]) < 1000
        for send, message in ((socket.send_text, "{"), (socket.send_text, "[" * 9**5), (socket.send_bytes, b"{}")):
            send(message)
            assert "not a JSON object" in socket.receive_json()["data"]["message"]
        socket.send_json({"type": "reset", "data": EASY})
        assert socket.receive_json()["data"]["observation"]["text"].startswith("A day of meeting requests")


def test_a_websocket_outlives_a_first_reset(monkeypatch) -> None:
    """OpenEnv counts it as idling, and it compiles."""
    seen, limits = [], serving.openenv.ConcurrencyConfig
    monkeypatch.setattr(serving.openenv, "ConcurrencyConfig", lambda **given: seen.append(given) or limits(**given))
    for idle in (1.0, 900.0):
        serving.create_app(idle_seconds=idle)
    assert [given["session_timeout"] for given in seen] == [60.0, 900.0]


def test_pages_of_other_sites_may_not_play(client: TestClient) -> None:
    for origin in ("https://elsewhere.example", "null", "http://testserver:81"):
        answer = client.post("/reset", headers={"Origin": origin})
        assert (answer.status_code, answer.json()) == (403, {"detail": "pages of other sites may not play here."})
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers={"Origin": origin}):
            pass
    assert client.post("/reset", headers={"Origin": "http://testserver"}).status_code == 200
    with client.websocket_connect("/ws", headers={"Origin": "http://testserver"}):
        pass


def test_a_client_that_leaves_is_no_error() -> None:
    async def app(scope, receive, send) -> None:
        raise WebSocketDisconnect(1006)

    asyncio.run(Guard(app)({"type": "websocket"}, None, None))


def test_a_session_that_was_ended_cannot_go_on() -> None:
    session = serving.TextEnvironment("LifeOps-v0")
    session.reset(**EASY)
    session.close()
    with pytest.raises(scenarios.ScenarioError, match="the session has ended"):
        session.step(serving.TextAction(message=0))
    with pytest.raises(scenarios.ScenarioError, match="the session has ended"):
        session.reset(**EASY)


def test_an_unknown_environment_is_not_served() -> None:
    with pytest.raises(scenarios.ScenarioError, match="Available: LifeOps-v0"):
        serving.create_app("LifeOps")
