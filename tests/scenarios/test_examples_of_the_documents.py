"""The examples of the documents that the environments come from run as they are written there."""

import __future__

import dataclasses
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import scenarios
from jaxenv.envs.lifeops.reward import RewardParts
from scenarios import ScenarioError, lifestack
from scenarios.lifeops import LifeOpsEnv
from scenarios.lifestack import LifeStackEnv
from scenarios.teamsclone import TeamsEnvClient

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"
FLAGS = __future__.annotations.compiler_flag  # the classes of the schema name each other before they are defined


def run(name: str, **names: Any) -> dict[str, Any]:
    """Runs an example where some names have a meaning, and gives all the names that it leaves."""
    exec(compile((DOCUMENTS / f"{name}.py").read_text("utf-8"), name, "exec", FLAGS), names)
    return names


def value(name: str, **names: Any) -> Any:
    """The value of an example that is one expression."""
    return eval((DOCUMENTS / f"{name}.py").read_text("utf-8"), names)


# LifeStack, Task Schema Reference ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crisis() -> dict[str, Any]:
    return run("lifestack_pass_it_to_the_environment", **run("lifestack_custom_task"))


def test_lifestack_a_custom_task_is_passed_to_the_environment(crisis) -> None:
    obs = crisis["obs"]
    assert (obs["scenario_id"], obs["goal"], obs["step_count"]) == ("my_task", "Do the thing", 0)
    assert obs["facts"] == {"secret_key": "unknown", "public_info": "visible", "done": None}
    assert (obs["resources"]["money"], obs["deadline_step"], obs["horizon"]) == (500, 8, 20)
    assert obs == crisis["env"].observation()


def test_lifestack_its_route_wins_it(crisis) -> None:
    env = crisis["env"]
    env.reset(task=crisis["my_task"])
    assert {"action_type": "inspect", "target": "secret_key"} in env.valid_actions()
    observation, reward, done, info = env.step({"action_type": "inspect", "target": "secret_key"})
    assert observation["facts"]["secret_key"] is True
    assert (reward, done, info["terminated"], info["truncated"]) == (pytest.approx(-0.08), False, False, False)
    observation, reward, done, info = env.step({"action_type": "execute", "target": "r1"})
    assert observation["facts"]["done"] is True
    assert reward == pytest.approx(sum(info["reward_parts"].values()), abs=1e-5)
    assert (info["reward_parts"]["routes"], info["reward_parts"]["success"]) == (1.0, 8.0)
    assert (done, info["terminated"], info["success"], env.valid_actions()) == (True, True, True, [])


def test_lifestack_the_records_have_the_fields_of_its_dataclasses() -> None:
    found = run("lifestack_dataclasses", dataclass=dataclasses.dataclass, Any=Any)
    for name in ("Task", "Route", "Milestone", "ExoEvent"):
        fields = {field.name for field in dataclasses.fields(found[name])}
        assert fields <= set(getattr(lifestack, name).model_fields), name


# TeamsClone, Environment Specification -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> TeamsEnvClient:
    return TeamsEnvClient()


def keys(state: Any) -> Any:
    """The names in nested mappings and in the first items of lists; ... stands for anything."""
    if isinstance(state, dict):
        return {name: keys(item) for name, item in state.items()}
    return keys(state[0]) if isinstance(state, list) and state and isinstance(state[0], dict) else None


def test_teamsclone_the_state_has_the_keys_of_the_specification(client) -> None:
    shown, found = value("teamsclone_state"), client.reset()["state"]
    assert found.keys() == shown.keys()
    assert found["agentState"] == shown["agentState"]
    assert found["users"][0] == shown["users"][0]
    assert found["episodeStats"].keys() >= shown["episodeStats"].keys()
    for part in ("currentChannel", "recentMessages", "users"):
        assert keys(found[part]) == keys(shown[part])
    assert keys(found["teams"]).keys() == keys(shown["teams"]).keys()


@pytest.mark.parametrize(("name", "reward"), [("send_message", 0.1), ("switch_channel", 0.05)])
def test_teamsclone_actions_earn_what_the_specification_says(client, name, reward) -> None:
    client.reset()
    response = client.step(value(f"teamsclone_{name}"))
    assert (response["success"], response["reward"], response["done"]) == (True, reward, False)


def test_teamsclone_a_reaction_needs_a_message_that_there_is(client) -> None:
    state, action = client.reset()["state"], value("teamsclone_react_to_message")
    response = client.step(action)
    assert "msg-uuid" in response["error"]
    assert response["reward"] == -0.1
    action["payload"]["messageId"] = state["recentMessages"][0]["id"]
    assert client.step(action)["info"]["reward_parts"]["react"] == 0.05


def test_teamsclone_a_call_is_joined_where_one_runs(client) -> None:
    client.reset()
    response = client.step(value("teamsclone_join_call"))
    assert "call" in response["error"]
    assert response["reward"] == -0.1


def encode_state(state: dict) -> np.ndarray:
    encodings = {"channel_enc": np.zeros(32), "message_enc": np.zeros(64)}  # which the example leaves open
    return run("teamsclone_encode_state", np=np, **encodings)["encode_state"](state)


def test_teamsclone_a_state_is_encoded_as_suggested(client) -> None:
    features = encode_state(client.reset()["state"])
    assert features.shape == (32 + 64 + 5 + 2,)
    # a question waits in channel-2; Alice and the agent are available
    assert features[-7:].tolist() == [0, 0.1, 0, 0, 0, 2, 0]


class Agent:
    """Encodes each state as the specification suggests and takes its actions in turn."""

    def __init__(self) -> None:
        names = ("send_message", "switch_channel", "react_to_message", "join_call")
        self.actions = [value(f"teamsclone_{name}") for name in names]
        self.seen: list[Any] = []

    def select_action(self, state: dict) -> dict:
        assert np.isfinite(encode_state(state)).all()
        return self.actions[len(self.seen) % len(self.actions)]

    def update(self, state: dict, action: dict, reward: float, next_state: dict, done: bool) -> None:
        self.seen.append((state, action, reward, next_state, done))


def test_teamsclone_the_gym_like_loop_plays_an_episode() -> None:
    agent = Agent()
    found = run("teamsclone_gym_like_interface", agent=agent)
    assert found["env"].reset()["message"] == "A new episode of general."
    rewards = [reward for _, _, reward, _, _ in agent.seen]
    assert len(rewards) == 100
    assert all(map(math.isfinite, rewards))
    assert [done for *_, done in agent.seen] == [False] * 99 + [True]
    assert (found["done"], found["info"]["truncated"]) == (True, True)
    assert found["state"]["episodeStats"]["totalReward"] == pytest.approx(sum(rewards), abs=1e-3)


def test_teamsclone_trajectories_are_collected_and_learned_from(client) -> None:
    learned = []

    def collect_trajectory(env: TeamsEnvClient, policy: Any) -> list[float]:
        env.reset()
        return [env.step(value("teamsclone_send_message"))["reward"] for _ in range(3)]

    policy = SimpleNamespace(update=learned.extend)
    run(
        "teamsclone_batch_processing",
        env=client,
        policy=policy,
        collect_trajectory=collect_trajectory,
        num_parallel_envs=2,
    )
    assert [len(trajectory) for trajectory in learned] == [3, 3]
    assert all(rewards[0] == 0.1 for rewards in learned)


def test_teamsclone_responses_have_the_format_of_the_specification(client) -> None:
    shown = value("teamsclone_response_format", true=True, false=False)
    reset, step, error = client.reset(), client.step(value("teamsclone_send_message")), client.step(None)
    assert reset.keys() | step.keys() | error.keys() == shown.keys()
    assert {"state", "reward", "done", "info"} <= step.keys()
    assert ("error" in step, "error" in error, error["success"]) == (False, True, False)


def test_teamsclone_what_reset_returns_is_the_first_state_too(client) -> None:
    response = client.reset()
    assert [response[name] for name in response["state"]] == list(response["state"].values())
    assert set(response) == {"success", "state", "message"}
    with pytest.raises(KeyError, match="nothing"):
        response["nothing"]


# LifeOps, Architecture & Logic Review --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def day() -> LifeOpsEnv:
    return LifeOpsEnv()


def test_lifeops_an_episode_is_played_as_by_its_demo_runner(day) -> None:
    """Section 6.1: `env.reset()`, `env.observation()`, `env.valid_actions()`, `env.step()`."""
    assert day.reset("s1_basic_conflict") == day.observation()
    rewards, done, info = [], False, {}
    while not done:
        valid = day.valid_actions()
        observation, reward, done, info = day.step(valid[0])
        assert observation == day.observation()
        assert reward == pytest.approx(sum(info["reward_parts"].values()), abs=1e-4)
        rewards.append(reward)
    assert len(rewards) == 4
    assert rewards[0] == -10
    assert all(map(math.isfinite, rewards))
    assert (info["terminated"], info["truncated"], info["invalid_action"]) == (True, False, False)
    assert day.valid_actions() == []
    with pytest.raises(ScenarioError, match="the episode has ended"):
        day.step(valid[0])


def test_lifeops_an_unknown_scenario_and_an_invalid_action_are_value_errors(day) -> None:
    """Sections 1.1 and 5.2; the review asks for the clearer error."""
    day.reset("easy_1")
    with pytest.raises(ValueError, match=r"no scenario 's1_basic_conflct' .* Did you mean 's1_basic_conflict'\?"):
        day.reset("s1_basic_conflct")
    before = day.observation()
    with pytest.raises(ValueError, match=r"not legal now: 'accept_event r2'\. Nearest: 'accept_event r1'"):
        day.step({"action_type": "accept_event", "request_id": "r2"})
    assert day.observation() == before


def test_lifeops_the_bonus_of_its_dead_code_is_gone() -> None:
    """Section 2.2."""
    assert "conflict_resolved_bonus" not in RewardParts.__dataclass_fields__


# What the two classes share ------------------------------------------------------------------------------------------


def test_own_documents_and_drawn_scenarios_are_played(day, crisis) -> None:
    (document,) = scenarios.load("lifeops/easy_2").documents
    assert day.reset(document) == day.reset("easy_2") == day.reset(document.model_dump(mode="json"))
    assert crisis["env"].reset("exam_resit")["scenario_id"] == "exam_resit"
    drawn = [LifeOpsEnv(seed=seed).reset()["scenario_id"] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        (3, "no scenario 3, expected the id of one of the library or a Task"),
        ("", 'no scenario "", expected'),
        ("exam_reset", "Did you mean 'exam_resit'"),
        ({"horizon": 3, "golas": "x"}, "unknown field 'golas'. Did you mean 'goal'?"),
    ],
)
def test_what_is_no_scenario_is_refused_in_a_sentence(scenario, words) -> None:
    with pytest.raises(ScenarioError) as error:
        LifeStackEnv().reset(scenario)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_action_that_is_none_is_refused_in_a_sentence(day) -> None:
    day.reset("easy_1")
    for action, words in (
        ("accept", 'not an action: found "accept", expected a mapping'),
        ({"action_type": "acept_event"}, "Did you mean 'accept_event'?"),
        ({"action_type": "block_focus_time", "new_start_min": "25:99"}, 'a time of day such as "14:10"'),
    ):
        with pytest.raises(ScenarioError) as error:
            day.step(action)
        assert words in str(error.value)
        assert "\n" not in str(error.value)


def test_nothing_is_played_before_reset() -> None:
    env = LifeOpsEnv("LifeOps-Shaped-v0")
    for call in (env.observation, env.valid_actions, lambda: env.step({})):
        with pytest.raises(ScenarioError, match=r"no episode has begun: call reset\(\) first\."):
            call()


def test_environments_of_other_documents_are_refused() -> None:
    with pytest.raises(ScenarioError, match="LifeStack-v0 plays other documents"):
        LifeOpsEnv("LifeStack-v0")
    with pytest.raises(ValueError, match="Did you mean 'LifeOps-v0'"):
        LifeOpsEnv("LifeOp-v0")
    with pytest.raises(ScenarioError, match="LifeOps-v0 cannot play this library"):
        TeamsEnvClient(LifeOpsEnv()._env)
