"""Some hundred junk calls, and every one that was ever not answered as it should be."""

import collections
import itertools
from pathlib import Path
from typing import Any

import jax
import pytest

import jaxenv
import scenarios
from lab.fuzz import client
from lab.fuzz.client import DAMAGES, TEAMS, Fault, Game, judge
from lab.fuzz.edits import mutants
from lab.fuzz.junk import HALF, Endless, Masked, Number, Whole, Word
from scenarios.teamsclone import TeamsEnvClient

CALLS = 56
TARGETS = (TEAMS, "LifeOps-v0")


@pytest.mark.slow
def test_junk_calls_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TARGETS", TARGETS)
    answers: dict[str, collections.Counter] = {kind: collections.Counter() for kind in DAMAGES}
    some = itertools.islice(mutants(DAMAGES, 5), CALLS)
    for kind, call in (each for each in some if each[0] != "order"):
        answers[kind]["refused" if judge(call, tmp_path) else "taken"] += 1
    assert all(answers[kind]["refused"] for kind in ("types", "numbers", "texts", "mappings", "near actions"))
    assert sum(counts["taken"] for counts in answers.values()) > 0


def test_out_of_order(tmp_path: Path) -> None:
    assert "reset begins" in judge(client.Call("order", "LifeOps-v0", 0, "1"), tmp_path)


@pytest.fixture(scope="module")
def games() -> list[Game]:
    for target in TARGETS:
        client._warm(target)
    return [client._game(target, 0) for target in TARGETS]


NAMED: dict[str, tuple[Any, str]] = {
    "a number that Python does not write": (10**5000, ""),
    "a number that says it is none": (Number(99), ""),
    "a number by name alone": (Whole(), ""),
    "text that raises": (Word("none"), "no action in the answer"),
    "what does not say of which class it is": (Masked(None), ""),
    "what says that it is text": (Masked(str), ""),
    "what says that it is a dictionary": (Masked(dict), ""),
    "a class with a name of a million characters": (type("N" * 10**6, (), {})(), "NNN"),
    "mappings in mappings without end": (Endless(), "more than"),
    "60,000 unknown fields": ({f"k{number}": number for number in range(60_000)}, "more than 1000 values"),
    "half a character": ({"type": HALF, "action_type": HALF}, "half a character"),
}


@pytest.mark.parametrize("name", NAMED)
def test_answered_now(name: str, games: list[Game]) -> None:
    junk, words = NAMED[name]
    said = []
    for game in games:
        game.reset()
        said.append(game.call(junk))
    assert all(said)
    assert any(words in each for each in said), said


def test_a_thousand_unknown_fields_are_refused_in_a_few() -> None:
    bare, params = jaxenv.make("LifeOps-v0")
    library = scenarios.load("lifeops")
    codec = scenarios.Codec(bare, params, library)
    state = bare.init(jax.random.key(0), params, 0)
    with pytest.raises(scenarios.ScenarioError) as refused:
        codec.encode(state, {f"k{number}": number for number in range(900)})
    assert len(str(refused.value)) < 10_000


@pytest.mark.parametrize("seed", ["1", -1, 2**32, None, True, 1.5, 10**5000], ids=range(7))
def test_a_seed_that_is_none(seed: Any) -> None:
    with pytest.raises(scenarios.ScenarioError, match=r"the seed is .*, expected a whole number"):
        TeamsEnvClient(seed=seed)
    with pytest.raises(scenarios.ScenarioError, match="the seed is"):
        scenarios.TextEnv("LifeOps-v0", seed=seed)


def test_an_object_is_told_by_its_class() -> None:
    with pytest.raises(scenarios.ScenarioError, match='the scenario is "object", expected a name'):
        scenarios.TextEnv("LifeOps-v0", object())  # pyright: ignore[reportArgumentType]


def test_the_judge_finds_what_is_wrong(games: list[Game], monkeypatch: pytest.MonkeyPatch) -> None:
    game = games[1]
    game.reset()
    monkeypatch.setattr(
        game.env, "step", lambda junk: ("no", float("nan"), False, {"error": "no", "step_taken": False})
    )
    with pytest.raises(ValueError, match="JSON"):
        game.call(0)
    monkeypatch.setattr(game.env, "step", lambda junk: ("no", 0.0, False, {"error": "no", "step_taken": True}))
    with pytest.raises(Fault, match="step by the answer"):
        game.call(0)
    monkeypatch.setattr(
        game.env, "step", lambda junk: ("x\n" * 9000, 0.0, False, {"error": "x\n" * 9000, "step_taken": False})
    )
    with pytest.raises(Fault, match="a reason of 18000"):
        game.call(0)
