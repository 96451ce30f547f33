"""One scenario, three faces, one verifier: arrays, text and server give the same rewards and the same end."""

import jax
import numpy as np
import pytest

from scenarios import TextEnv
from scenarios.text_env import with_generated, with_library

SEED = 5
STEPS = 12
GAMES = [
    ("LifeOps-v0", "edge_cascade_1"),
    ("LifeOps-v0", "easy_1"),  # where half of the actions are illegal
    pytest.param("LifeOps-Shaped-v0", "edge_cascade_1", marks=pytest.mark.slow),
    pytest.param("LifeStack-v0", "generated", marks=pytest.mark.slow),
    pytest.param("LifeStack-v0", 3, marks=pytest.mark.slow),
    pytest.param("TeamsClone-Mentions-v0", "generated", marks=pytest.mark.slow),
    pytest.param("TeamsClone-v0", None, marks=pytest.mark.slow),
]


def chosen(id: str) -> list[int]:
    """Random indices, those of illegal actions among them."""
    return np.random.default_rng(SEED).integers(with_library(id).env.num_actions, size=STEPS).tolist()


def by_arrays(id: str, scenario) -> list[tuple[float, bool]]:
    """(reward, done) of each step up to the end."""
    key, reset_key, scenario_key = jax.random.split(jax.random.key(SEED), 3)
    generated = scenario == "generated"
    codec = with_generated(id, scenario_key) if generated else with_library(id)
    env, params = codec.env, codec.params
    index = 0 if generated else codec.library.index(scenario) if isinstance(scenario, str) else scenario
    _, state = env.reset(reset_key, params, index)
    found = []
    for action in chosen(id):
        key, step_key = jax.random.split(key)
        _, state, reward, terminated, truncated, _ = env.step(step_key, state, action, params)
        found.append((float(reward), bool(terminated | truncated)))
        if found[-1][1]:
            break
    return found


@pytest.mark.parametrize(("id", "scenario"), GAMES)
def test_text_gives_the_rewards_of_the_arrays(id: str, scenario) -> None:
    env = TextEnv(id, scenario, SEED)
    env.reset()
    played = by_arrays(id, scenario)
    assert len(played) > 1
    assert [env.step(action)[1:3] for action, _ in zip(chosen(id), played, strict=False)] == played


@pytest.mark.parametrize("way", ["http", "websocket"])
@pytest.mark.parametrize(("id", "scenario"), GAMES)
def test_the_server_gives_the_rewards_of_the_arrays(id: str, scenario, way: str) -> None:
    pytest.importorskip("openenv")
    pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    from scenarios.serving.app import create_app

    reset = {"env_id": id, "scenario": scenario, "seed": SEED}
    played = by_arrays(id, scenario)
    with TestClient(create_app(id)) as client:
        if way == "http":
            episode_id = client.post("/reset", json=reset).json()["observation"]["episode_id"]
            answers = [
                client.post("/step", json={"episode_id": episode_id, "action": {"message": action}}).json()
                for action, _ in zip(chosen(id), played, strict=False)
            ]
        else:
            with client.websocket_connect("/ws") as socket:
                socket.send_json({"type": "reset", "data": reset})
                assert socket.receive_json()["type"] == "observation"
                answers = []
                for action, _ in zip(chosen(id), played, strict=False):
                    socket.send_json({"type": "step", "data": {"message": str(action)}})
                    answers.append(socket.receive_json()["data"])
    assert [(answer["reward"], answer["done"]) for answer in answers] == played
