"""LifeStack in words while it runs: legal actions, encode and decode, what an observation shows and hides."""

import functools
from typing import Any

import jax
import numpy as np
import pytest

import scenarios
from jaxenv.envs.lifestack import LifeStack, Limits
from scenarios.lifestack import Action

KEY = jax.random.key(0)
STRESS = "mental_wellbeing.stress_level"
KEYS = {
    "scenario_id",
    "domain",
    "goal",
    "facts",
    "success_conditions",
    "failure_conditions",
    "routes",
    "milestones",
    "events",
    "metrics",
    "resources",
    "step_count",
    "horizon",
    "deadline_step",
}
NEW_PERMIT = {
    "id": "permit",
    "goal": "Get it.",
    "horizon": 12,
    "constraints": {"deadline_step": 9, "budget_max": 50},
    "hidden_state": {"clerk": "kind", "stamp": None},
    "mutable_world": {"form": 1, "queue": 3},
    "visible_world": {"hour": 8},
    "success_conditions": [{"key": "permit", "value": True}],
    "viable_routes": [
        {
            "id": "ask",
            "name": "Ask",
            "required_action_types": ["communicate", "spend"],
            "preconditions": {"form": {"op": "ge", "value": 1}, "clerk": "kind", STRESS: {"op": "lt", "value": 60}},
            "consequences": {"permit": True},
            "closes_routes": ["forge"],
            "milestones_unlocked": ["paper"],
            "cost": {"money": 20},
        },
        {"id": "forge", "preconditions": {"clerk": "blind"}, "consequences": {"permit": "false", "queue": None}},
        {"id": "wait_for_it", "required_action_types": ["wait", "rest"], "milestones_unlocked": ["paper"]},
        {"id": "buy", "required_action_types": ["spend"], "cost": {"money": 51}},
    ],
    "milestones": [
        {"id": "paper", "condition_key": "permit", "condition_value": True, "reward": 1},
        {"id": "noon", "condition_key": "hour", "condition_value": 12},
    ],
    "event_schedule": [
        {"id": "mood", "step": 0, "hidden_state_mutation": {"clerk": "stern"}, "silent": True},
        {"id": "clock", "step": 1, "world_mutation": {"hour": 12, "queue": 9}},
        {"id": "later", "step": 8, "closes_routes": ["ask"]},
    ],
}


class Game:
    def __init__(self, *documents: Any, limits: Limits | None = None) -> None:
        self.env = LifeStack(limits or Limits())
        self.library = scenarios.parse("lifestack", documents)
        self.params = self.env.params_for(self.library.bank)
        self.codec = scenarios.Codec(self.env, self.params, self.library)

    def start(self, index: int = 0) -> Any:
        return self.env.reset(KEY, self.params, index)[1]

    def play(self, state: Any, *acts: tuple[str, str | None]) -> Any:
        for verb, target in acts:
            index = self.codec.encode(state, {"action_type": verb, "target": target})
            _, state, *_ = step(self.env, state, index, self.params)
        return state


step = functools.partial(jax.jit, static_argnums=0)(lambda env, *args: env.step_env(KEY, *args))


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(NEW_PERMIT)


@pytest.fixture(scope="module")
def library() -> Game:
    return Game(*scenarios.load("lifestack").documents)


def test_legal_actions_are_the_mask(library: Game) -> None:
    for index in range(len(library.library)):
        state = library.start(index)
        legal = library.codec.legal_actions(state)
        mask = library.env.action_mask(state, library.params)
        assert [entry for entry, _ in legal] == np.flatnonzero(mask).tolist()
        some = legal[index % 7 :: 7]  # each asks the environment anew
        assert [library.codec.encode(state, action) for _, action in some] == [entry for entry, _ in some]
        assert all(set(action) == {"action_type", "target"} for _, action in legal)


def test_entries_have_the_words_of_the_document(game: Game) -> None:
    state = game.start()
    legal = [(action["action_type"], action["target"]) for _, action in game.codec.legal_actions(state)]
    assert legal == [
        ("communicate", "ask"),
        ("spend", "ask"),
        ("rest", "wait_for_it"),
        ("execute", "forge"),
        ("wait", "wait_for_it"),
        ("inspect", "clerk"),
        ("inspect", "stamp"),
        ("inspect", "form"),
        ("inspect", "queue"),
        ("inspect", "permit"),
        ("rest", None),
        ("self_care", None),
        ("delegate", None),
        ("deprioritize", None),
        ("communicate", None),
        ("wait", None),
    ]
    assert game.codec.decode(state, 8) == {"action_type": "spend", "target": "ask"}
    assert game.codec.decode(state, 11) == {"action_type": "spend", "target": "buy"}
    assert game.codec.decode(state, 117) == {"action_type": "wait", "target": None}
    assert game.codec.encode(state, {"action_type": "wait"}) == 117
    assert game.codec.encode(state, Action(action_type="inspect", target="clerk")) == 96


def test_empty_slots_are_distinguished_from_upkeep(game: Game) -> None:
    state = game.start()
    found = [game.codec.decode(state, index) for index in range(game.env.num_actions)]
    assert found[4] == {"action_type": "communicate", "target": "(no route 5)"}
    assert found[111] == {"action_type": "inspect", "target": "(no key 16)"}
    assert len({tuple(action.values()) for action in found}) == len(found)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"action_type": "comunicate", "target": "ask"}, ["Did you mean 'communicate'?", "inspect"]),
        ({"action_type": "communicate", "target": "aks"}, ["not legal now", "Nearest: 'communicate ask'"]),
        ({"action_type": "spend", "target": "buy"}, ["not legal now: 'spend buy'"]),
        ({"action_type": "inspect", "target": "hour"}, ["not legal now: 'inspect hour'"]),
        ({"action_type": "inspect"}, ["not legal now: 'inspect'"]),
        ({"action_type": "plan", "target": None}, ["not legal now: 'plan'"]),
        ({"action_type": "wait", "route": "ask"}, ["'route'", "action_type, target"]),
        ({"target": "ask"}, ["'action_type' is missing"]),
    ],
)
def test_illegal_actions_teach(game: Game, action: dict, words: list[str]) -> None:
    with pytest.raises(scenarios.ScenarioError) as error:
        game.codec.encode(game.start(), action)
    for word in (*words, "Legal actions: communicate ask; spend ask;"):
        assert word in str(error.value)


def test_an_observation_has_what_is_known(game: Game) -> None:
    found = game.codec.observation(game.start())
    assert set(found) == KEYS
    unknown = "unknown"
    facts = {"clerk": unknown, "stamp": unknown, "form": 1, "queue": unknown, "hour": 8, "permit": None}
    assert found["facts"] == facts
    assert (found["step_count"], found["horizon"], found["deadline_step"]) == (0, 12, 9)
    assert found["resources"] == {"time": 12, "money": 50, "energy": 100}
    assert (found["metrics"][STRESS], len(found["metrics"])) == (40, 23)
    assert found["success_conditions"] == [{"key": "permit", "value": True, "op": "eq"}]
    assert found["failure_conditions"] == []
    assert found["events"] == []
    ask, forge, *_ = found["routes"]
    assert (ask["id"], ask["status"], ask["outstanding"]) == ("ask", "open", ["communicate", "spend"])
    assert ask["preconditions"] == {"form": "holds", "clerk": "unknown", STRESS: "holds"}
    assert (ask["consequences"], ask["closes_routes"], ask["cost"]["money"]) == ({"permit": True}, ["forge"], 20)
    assert forge["outstanding"] == ["execute"]
    assert [(each["open"], each["reached"]) for each in found["milestones"]] == [(False, False), (True, False)]


def test_an_observation_of_a_crisis_in_progress(game: Game) -> None:
    looked = game.play(game.start(), ("inspect", "clerk"), ("communicate", "ask"))
    found = game.codec.observation(looked)
    assert found["facts"]["clerk"] == "stern"
    assert found["facts"]["hour"] == 12
    assert found["facts"]["queue"] == "unknown"
    assert found["events"] == ["clock"]  # the silent one has fired too
    assert found["step_count"] == 2
    ask, forge, *_ = found["routes"]
    assert ask["preconditions"]["clerk"] == "fails"
    assert forge["preconditions"] == {"clerk": "fails"}
    assert ask["outstanding"] == ["spend"]
    assert found["milestones"][1] == {
        "id": "noon",
        "description": "",
        "reward": 0,
        "open": True,
        "reached": True,
    }
    assert found["resources"] == {"time": 11, "money": 50, "energy": 95}
    rested = game.codec.observation(game.play(looked, ("wait", "wait_for_it"), ("rest", "wait_for_it")))
    waited = rested["routes"][2]
    assert (waited["status"], waited["outstanding"]) == ("completed", [])
    assert rested["milestones"][0]["open"]
    assert rested["metrics"][STRESS] < 40


def test_a_fact_stays_as_it_was_when_inspected(game: Game) -> None:
    seen = game.play(game.start(), ("inspect", "queue"), ("wait", None))
    assert game.codec.observation(seen)["facts"]["queue"] == 3  # 9 since step 1
    again = game.play(seen, ("inspect", "queue"))
    assert game.codec.observation(again)["facts"]["queue"] == 9


def test_routes_that_an_event_closes_are_reported() -> None:
    game = Game({**NEW_PERMIT, "event_schedule": [{"id": "shut", "step": 1, "closes_routes": ["ask"]}]})
    before = game.play(game.start(), ("communicate", "ask"))
    ask = game.codec.observation(before)["routes"][0]
    assert (ask["status"], ask["outstanding"]) == ("closed", [])


def test_what_is_hidden_does_not_enter() -> None:
    """Observations of tasks that differ in what cannot be known are the same."""
    other = {
        **NEW_PERMIT,
        "hidden_state": {"clerk": "blind", "stamp": "red"},
        "event_schedule": [
            {"id": "mood", "step": 3, "hidden_state_mutation": {"clerk": "kind"}, "probability": 0.5},
            {"id": "clock", "step": 4, "world_mutation": {"queue": 7}},
        ],
    }
    first, second = Game(NEW_PERMIT), Game(other)
    assert first.codec.observation(first.start()) == second.codec.observation(second.start())


def test_nothing_is_legal_after_the_end(library: Game) -> None:
    state = library.start(library.library.index("relationship_crisis"))
    over = library.play(state, ("communicate", "r2"))
    assert library.codec.legal_actions(over) == []
    assert library.codec.observation(over)["facts"]["had_conversation"] is True
    with pytest.raises(scenarios.ScenarioError, match="the episode has ended"):
        library.codec.encode(over, {"action_type": "wait"})


def test_nothing_is_legal_at_the_horizon() -> None:
    game = Game({**NEW_PERMIT, "horizon": 2, "constraints": {}})
    state = game.play(game.start(), ("wait", None))
    assert game.codec.legal_actions(state)
    assert not game.codec.legal_actions(game.play(state, ("wait", None)))


@pytest.mark.slow
def test_other_limits_and_tasks_without_words() -> None:
    game = Game(NEW_PERMIT, limits=Limits(routes=10, keys=20))
    assert len(game.codec.legal_actions(game.start())) == 16
    library = scenarios.decompile("lifestack", game.params.bank)
    codec = scenarios.Codec(game.env, game.params, library)
    state = game.start()
    assert codec.observation(state)["scenario_id"] == "scenario_1"
    assert codec.legal_actions(state)[0][1] == {"action_type": "communicate", "target": "route_1"}
    assert next(iter(codec.observation(state)["facts"].values())) == "unknown"


def test_another_environment_is_refused() -> None:
    game = Game(NEW_PERMIT)
    with pytest.raises(scenarios.ScenarioError, match="cannot play this library, which holds lifeops"):
        scenarios.Codec(game.env, game.params, scenarios.load("lifeops/easy_1"))
