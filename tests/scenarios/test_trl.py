"""The door for TRL: one tool, the rewards of `TextEnv`, and TRL's own reading of it where it is installed."""

import inspect

import pytest

import scenarios
from scenarios.trl import ToolEnv, rows


def test_an_episode_has_the_rewards_of_words() -> None:
    (row,) = rows("LifeOps-v0", 1, scenario="s1_basic_conflict")
    env, words = ToolEnv(), scenarios.TextEnv("LifeOps-v0", "s1_basic_conflict", 0)
    assert env.reset(**row) == words.reset()
    total = 0.0
    while not words.is_over:
        action = str(max(words.legal_actions))
        text, reward, _, _ = words.step(action)
        assert env.act(action) == text
        total += reward
        assert env.get_reward() == total
    assert "no episode is running" in env.act("0")
    env.reset(**row)
    assert env.get_reward() == 0.0


def test_rows_are_episodes_of_their_own() -> None:
    first, second = rows("LifeOps-v0", 2)
    assert ToolEnv().reset(**first) != ToolEnv().reset(**second)


def test_act_is_the_only_tool() -> None:
    """As `GRPOTrainer` looks for them: functions of the class but `reset`, `get_reward` and private ones."""
    names = [name for name, _ in inspect.getmembers(ToolEnv, inspect.isfunction) if not name.startswith("_")]
    assert set(names) - {"reset", "get_reward"} == {"act"}


def test_the_tool_has_a_schema() -> None:
    utils = pytest.importorskip("transformers.utils")
    schema = utils.get_json_schema(ToolEnv().act)["function"]
    assert schema["name"] == "act"
    assert schema["parameters"]["required"] == ["action"]
    assert "listed actions" in schema["parameters"]["properties"]["action"]["description"]
