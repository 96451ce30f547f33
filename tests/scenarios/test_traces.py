"""Every line of every recorded trace, driven through the document form: `parse`, `Codec`, `step_env`."""

import functools
import gzip
import json
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.core import terms
from jaxenv.envs.lifeops import actions, dynamics, reward
from jaxenv.envs.lifeops.types import KINDS, Event

DATA = Path(__file__).parents[1] / "data"
ENV_IDS = {"classic": "LifeOps-v0", "shaped": "LifeOps-Shaped-v0"}
ACTION_FIELDS = ("action_type", "request_id", "new_start_min", "new_end_min", "duration_min")
NOT_PARTS = ("total", "travel_issues", "overlap_count", "travel_issue_count")
STEP, RETURN = 1e-5, 1e-4
KEY = jax.random.key(0)


def read(rules: str, what: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / f"lifeops_{rules}_{what}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def cases(rules: str, fn: str) -> list[dict[str, Any]]:
    return [case for case in read(rules, "cases") if case["fn"] == fn]


@functools.partial(jax.jit, static_argnums=0)
def step(env, state, action, params):
    """One turn and the travel issues after it."""
    _, state, reward_, terminated, info = env.step_env(KEY, state, action, params)
    scenario = params.bank[state.scenario]
    issues = dynamics.travel_issues(state.calendar, state.tight_legs, scenario, params.departure_min)
    return state, reward_, terminated, env.is_truncated(state, params), issues, info


class Player:
    """An environment and its codec over all scenarios that the traces of a rule set play."""

    def __init__(self, rules: str, documents: Any) -> None:
        self.library = scenarios.parse("lifeops", documents)
        self.env, params = jaxenv.make(ENV_IDS[rules])
        self.params = params.replace(bank=self.library.bank)
        self.codec = scenarios.Codec(self.env, self.params, self.library)
        self._feasible = jax.jit(self.env.feasible_mask)

    def reset(self, scenario_id: str) -> Any:
        return self.env.reset(KEY, self.params, self.library.index(scenario_id))[1]

    def feasible(self, state: Any) -> np.ndarray:
        return np.asarray(self._feasible(state, self.params))

    def step(self, state: Any, index: int) -> Any:
        return jax.tree.map(np.asarray, step(self.env, state, index, self.params))


@pytest.fixture(scope="module", params=ENV_IDS)
def rules(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def player(rules: str) -> Player:
    recorded = [line["scenario"] for line in read(rules, "random_scenarios") if "scenario" in line]
    assert len(recorded) == 40
    return Player(rules, [*scenarios.load("lifeops").documents, *recorded])


def five(action: dict[str, Any]) -> tuple:
    return tuple(action[field] for field in ACTION_FIELDS)


def assert_same(mine: Any, recorded: Any) -> None:
    """What the recording tells, in the same order; it leaves out titles and senders."""
    if isinstance(recorded, dict):
        assert set(mine) - set(recorded) <= {"title", "from_person"}
        for field, value in recorded.items():
            assert_same(mine[field], value)
    elif isinstance(recorded, list):
        assert len(mine) == len(recorded)
        for item, expected in zip(mine, recorded, strict=True):
            assert_same(item, expected)
    else:
        assert mine == recorded


def assert_reward(paid: Any, parts: Any, line: dict[str, Any]) -> None:
    """The reward, and the parts that are not zero."""
    breakdown = line["reward_breakdown"]
    expected = {name: value for name, value in breakdown.items() if name not in NOT_PARTS}
    named = {name: float(value) for name, value in vars(parts).items()}
    assert float(paid) == pytest.approx(line["reward"], abs=STEP, rel=STEP)
    assert {name: value for name, value in named.items() if value != 0} == pytest.approx(expected, abs=STEP)
    assert sum(named.values()) == pytest.approx(line["reward"], abs=STEP, rel=STEP)


# Episodes -------------------------------------------------------------------------------------------


def assert_choices(player: Player, state: Any, line: dict[str, Any]) -> int:
    """Legal and feasible sets; returns the index of the recorded action."""
    recorded = [tuple(action) for action in line["valid_actions"]]
    legal = player.codec.legal_actions(state)
    assert len(legal) == len({five(action) for _, action in legal})
    assert {five(action) for _, action in legal} == set(recorded)
    if line["feasible_idx"] is not None:
        feasible = player.feasible(state)
        expected = {recorded[index] for index in line["feasible_idx"]}
        assert {five(action) for index, action in legal if feasible[index]} == expected
        assert feasible.sum() == len(expected)
    assert five(line["action"]) == recorded[line["action_idx"]]
    index = player.codec.encode(state, line["action"])
    assert player.codec.decode(state, index) == line["action"]
    return index


def assert_start(player: Player, state: Any, line: dict[str, Any]) -> None:
    """The first observation; the recordings of the classic rules know no weekday and no preview."""
    seen = player.codec.observation(state)
    assert set(line["initial"]) <= set(seen)
    assert_same({field: seen[field] for field in line["initial"]}, line["initial"])
    if "scenario" in line:
        assert seen["travel_times"] == line["scenario"]["travel_times"]


def assert_after(player: Player, state: Any, issues: Any, line: dict[str, Any]) -> None:
    """Calendar with its ids, tasks, queue and counts."""
    seen = player.codec.observation(state)
    assert_same(seen["calendar"], line["calendar_after"])
    assert_same(seen["tasks"], line["tasks_after"])
    assert_same(seen["current_request"], line["current_request_after"])
    if line["preview_after"] is not None:
        assert_same(seen["upcoming_requests_preview"], line["preview_after"])
    assert seen["pending_request_count"] == line["pending_after"]
    assert seen["step_count"] == line["step_count_after"]
    assert seen["max_steps"] == line["max_steps"]
    assert int(state.overlaps) == len(line["overlaps"])
    assert int(issues) == len(line["travel_issues"])


@pytest.mark.parametrize("what", ["episodes", "random_scenarios"])
def test_episodes_replay(player: Player, rules: str, what: str) -> None:
    state, total, ended = None, 0.0, True
    for line in read(rules, what):
        if line["step"] == 0:
            assert ended, "the episode before stopped early"
            state, total = player.reset(line["scenario_id"]), 0.0
            assert_start(player, state, line)
        index = assert_choices(player, state, line)
        state, paid, terminated, truncated, issues, info = player.step(state, index)
        ended = bool(terminated) or bool(truncated)
        assert not (terminated and truncated)
        assert ended == line["done"]
        assert not info["invalid_action"]
        total += float(paid)
        assert total == pytest.approx(line["return_so_far"], abs=RETURN)
        assert_reward(paid, info["reward_parts"], line)
        assert_after(player, state, issues, line)
        assert bool(player.codec.legal_actions(state)) != ended
    assert ended


def test_first_steps_replay(player: Player, rules: str) -> None:
    taken: dict[str, set[int]] = {}
    for line in read(rules, "first_steps"):
        state = player.reset(line["scenario_id"])
        index = player.codec.encode(state, line["action"])
        taken.setdefault(line["scenario_id"], set()).add(index)
        _, paid, terminated, truncated, _, info = player.step(state, index)
        assert_reward(paid, info["reward_parts"], line)
        assert (terminated or truncated) == line["done"]
    for scenario_id, indices in taken.items():
        legal = player.codec.legal_actions(player.reset(scenario_id))
        assert indices == {index for index, _ in legal}


# Single calls -----------------------------------------------------------------------------------------


def day(**fields: Any) -> dict[str, Any]:
    """A document with something to do."""
    tasks = [{"task_id": "work", "remaining_minutes": 30}]
    return {"persona": "early_bird_engineer", "tasks": tasks, **fields}


def persona(home: str) -> dict[str, Any]:
    return {**scenarios.lifeops.PERSONAS["early_bird_engineer"], "home_location": home}


def test_every_kind_of_case_is_replayed(rules: str) -> None:
    kinds = {"overlaps+travel", "preference_units", "valid_actions", "compute_reward"}
    assert {case["fn"] for case in read(rules, "cases")} == kinds


def test_overlap_and_travel_cases(rules: str) -> None:
    recorded = cases(rules, "overlaps+travel")
    bank = scenarios.parse(
        "lifeops",
        [
            day(
                calendar=case["events"],
                travel_times=case["travel_times"],
                persona=persona(case["start_location"] or "Home"),
            )
            for case in recorded
        ],
    ).bank.scenarios
    issues = jax.jit(jax.vmap(lambda s: dynamics.travel_issues(s.calendar, s.tight_legs, s, 0)))(bank)
    for case, overlaps, legs, all_legs in zip(
        recorded, bank.overlaps, bank.tight_legs, np.asarray(issues), strict=True
    ):
        assert overlaps == len(case["overlaps"])
        assert (all_legs if case["start_location"] else legs) == len(case["travel_issues"])


def test_preference_cases(rules: str) -> None:
    recorded = cases(rules, "preference_units")
    bank = scenarios.parse("lifeops", [day(persona=case["persona_id"]) for case in recorded]).bank
    start, end = (jnp.array([case[field] for case in recorded]) for field in ("start", "end"))
    zero = jnp.zeros_like(start)
    people = bank.scenarios.persona
    units = jax.vmap(reward.preference_units)(Event(start, end, zero, zero, zero), people)
    expected = [case["units"] for case in recorded]
    np.testing.assert_allclose(units * people.preference_weight, expected, atol=STEP)


def test_valid_action_cases(rules: str) -> None:
    recorded = cases(rules, "valid_actions")
    player = Player(rules, [case_day(case["state"]) for case in recorded if case["keys"]])
    keys = [case["keys"] for case in recorded if case["keys"]]
    for scenario_id, expected in zip(player.library.ids, keys, strict=True):
        legal = player.codec.legal_actions(player.reset(scenario_id))
        assert {five(action) for _, action in legal} == {tuple(key) for key in expected}
    for case in recorded:
        if not case["keys"]:
            with pytest.raises(scenarios.ScenarioError, match="over before its first step"):
                scenarios.parse("lifeops", case_day(case["state"]))


def case_day(state: dict[str, Any]) -> dict[str, Any]:
    request, (task,) = state["current_request"], state["tasks"]
    queue = [{"location": "Office", **request}] if request else []
    return day(pending_requests=queue, tasks=[{"task_id": "work", **task}])


def test_reward_cases(rules: str) -> None:
    recorded = cases(rules, "compute_reward")
    env, _ = jaxenv.make(ENV_IDS[rules])
    scenario, turn, fallen = (stack(column) for column in zip(*map(case_turn, recorded), strict=True))

    def price(scenario: Any, turn: Any) -> Any:
        return terms.reward_parts(env.weights, reward.Step.of(turn, scenario))

    prices = jax.jit(jax.vmap(price))
    parts = prices(scenario, turn)
    progress = prices(scenario, turn.replace(progress=fallen)).task_progress_bonus
    parts = parts.replace(task_progress_bonus=progress)
    for n, case in enumerate(recorded):
        one = jax.tree.map(lambda column, n=n: column[n], parts)
        line = {"reward": case["reward"], "reward_breakdown": case["breakdown"]}
        assert_reward(sum(jax.tree.leaves(one)), one, line)


def stack(rows: Any) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def case_turn(case: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The scenario after a recorded step, the turn as the reward is told it, and the minutes that fell."""
    before, after = case["prev"], case["next"]
    verb = actions.ACTION_TYPES.index(case["action"]["action_type"])
    handled, added = after["last_handled_request"], after["last_added_event"]
    event = handled if verb in (actions.ACCEPT, actions.REJECT) else added
    scenario = arrays(after, after["calendar"], [handled, handled, *after["upcoming_requests_preview"]])
    proposed = verb == actions.PROPOSE
    tested = arrays(after, [*after["calendar"], *([added] if proposed else [])], [])
    left, urgent = work_left(after["tasks"])
    turn = dynamics.Turn(
        move=actions.Move(verb=np.int32(verb), event=event_arrays(event), duration=np.int32(0)),
        legal=np.bool_(True),
        flexible=np.bool_((handled or {}).get("flexible", True)),
        shadows=np.bool_(shadows(scenario, handled) if handled else False),
        overlaps=np.int32(scenario.overlaps),
        travel_issues=np.int32(all_issues(scenario)),
        clean_with_event=np.bool_(tested.overlaps == 0 and all_issues(tested) == 0),
        progress=np.int32(after["last_task_progress_minutes"]),
        minutes_left=np.int32(left),
        urgent_minutes_left=np.int32(urgent),
        out_of_time=np.bool_(after["_truncated"]),
    )
    return scenario, turn, np.int32(work_left(before["tasks"])[0] - left)


def arrays(after: dict[str, Any], calendar: list[Any], queue: list[Any]) -> Any:
    """The scenario of a recorded calendar and queue; ids are numbered, since they may stand in both."""
    document = day(
        calendar=[plain(event) | {"event_id": f"e{n}"} for n, event in enumerate(calendar)],
        pending_requests=[request | {"event_id": f"r{n}"} for n, request in enumerate(filter(None, queue))],
        persona=after["persona"],
        travel_times=after["travel_times"],
        day_of_week=after["day_of_week"],
    )
    return scenarios.lifeops.compile(scenarios.lifeops.Day.model_validate(document))


def plain(event: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in event.items() if field != "flexible"}


def event_arrays(event: dict[str, Any] | None) -> Event:
    said = event or {"start_min": 0, "end_min": 0, "kind": "focus", "importance": 1}
    kind = KINDS.index(said["kind"])
    numbers = (said["start_min"], said["end_min"], 0, kind, said["importance"])
    return Event(*map(np.int32, numbers))


def work_left(tasks: list[dict[str, Any]]) -> tuple[int, int]:
    """Minutes left over all tasks, and over those that press."""
    pressing = [t for t in tasks if t["due_in_days"] is not None and t["due_in_days"] <= 1]
    return tuple(sum(t["remaining_minutes"] for t in some) for some in (tasks, pressing))


@jax.jit
def all_issues(scenario: Any) -> jax.Array:
    return dynamics.travel_issues(scenario.calendar, scenario.tight_legs, scenario, 0)


@jax.jit
def shadows_later(scenario: Any, event: Event) -> jax.Array:
    morning = types.SimpleNamespace(handled=jnp.int8(0))
    return dynamics.shadows_later_request(morning, scenario, event)


def shadows(scenario: Any, handled: dict[str, Any]) -> bool:
    return bool(shadows_later(scenario, event_arrays(handled)))
