"""What a LifeStack document compiles to, field by field."""

from typing import Any

import numpy as np
import pytest

from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.lifestack.metrics import FIRST, INVERTED, METRICS, UNIT, spread
from jaxenv.envs.lifestack.types import ABSENT, EVERY_STEP, NEVER, UNKNOWN, UNWRITTEN
from scenarios.lifestack.facts import Facts
from strategies.lifestack_records import arrays, event, route, task

STRESS, LIQUIDITY = "mental_wellbeing.stress_level", "finances.liquidity"


def milestone(id: str = "m", key: str = "done", value: Any = True, **fields: Any) -> dict:
    return {"id": id, "condition_key": key, "condition_value": value, **fields}


def condition(key: str, value: Any, op: str = "eq") -> dict:
    return {"key": key, "value": value, "op": op}


def set_of(*codes: int) -> int:
    return sum(1 << code for code in codes)


# Keys and codes -----------------------------------------------------------------------------------------


def test_keys_have_slots_as_they_are_met() -> None:
    found = Facts.of(
        task(
            hidden_state={"h": 1},
            mutable_world={"m": 1, "v2": 2},
            visible_world={"v1": 1, "v2": 2},
            viable_routes=[
                route("a", preconditions={"p": 1, STRESS: {"op": "lt", "value": 50}}, consequences={"c": 1}),
                route("b", preconditions={"p2": 1}, consequences={"c": 2}),
            ],
            milestones=[milestone(key="mile")],
            success_conditions=[{"any": [condition("s1", 1), condition("s2", 1)]}, condition("s3", 1)],
            failure_conditions=[condition("f", 1)],
            event_schedule=[
                event("x", hidden_state_mutation={"xh": 1}, world_mutation={"xw": 1}),
                event("y", world_mutation={"yw": 1, "xw": 2}),
            ],
        )
    )
    names = ["h", "m", "v2", "v1", "p", "c", "p2", "mile", "s1", "s2", "s3", "f", "xw", "xh", "yw"]
    assert list(found.keys) == names


def test_codes_are_values_as_they_are_met() -> None:
    fields = {
        "mutable_world": {"k": 1},
        "viable_routes": [
            route("a", consequences={"k": "1"}),
            route("b", consequences={"k": 1.0}),
            route("c", consequences={"k": None}),
        ],
        "event_schedule": [event("x", world_mutation={"k": True}), event("y", world_mutation={"k": ["a", 1]})],
    }
    assert Facts.of(task(**fields)).values["k"] == (1, "1", True, ["a", 1])
    found = arrays(**fields)
    assert found.num_keys == 1
    assert found.facts[:2].tolist() == [1, ABSENT]
    assert found.routes.writes[:4, 0].tolist() == [2, 1, ABSENT, UNWRITTEN]
    assert found.events.writes[:3, 0].tolist() == [3, 4, UNWRITTEN]


@pytest.mark.parametrize(
    ("op", "value", "codes"),
    [
        ("eq", True, [3]),
        ("eq", 1, [1]),
        ("eq", 1.0, [1]),
        ("eq", "true", []),
        ("eq", None, [0]),
        ("ne", 1, [0, 2, 3, 4, 5]),
        ("ne", None, [1, 2, 3, 4, 5]),
        ("ne", "other", [0, 1, 2, 3, 4, 5]),
        ("gt", 1, [2]),
        ("ge", 1, [1, 2]),
        ("lt", 2.5, [1]),
        ("le", 2.5, [1, 2]),
        ("lt", 100, [1, 2]),
        ("eq", {"a": 1}, [5]),
        ("eq", {"a": True}, []),
    ],
)
def test_conditions_are_sets_of_codes(op: str, value: Any, codes: list[int]) -> None:
    """Of the values 1, 2.5, true, "x" and {a: 1.0}, codes 1 to 5."""
    writers = [route(f"r{n}", consequences={"k": taken}) for n, taken in enumerate([2.5, True, "x", {"a": 1.0}])]
    asking = route("asks", preconditions={"k": {"op": op, "value": value}})
    found = arrays(mutable_world={"k": 1}, viable_routes=[*writers, asking])
    assert found.routes.preconditions[4, 0] == set_of(*codes)
    assert found.routes.order[4, 0] == 1


@pytest.mark.parametrize(
    ("op", "value", "low", "high"),
    [
        ("gt", 50, 5_000_001, 10_000_000),
        ("ge", 50, 5_000_000, 10_000_000),
        ("lt", 50, 0, 4_999_999),
        ("le", 50, 0, 5_000_000),
        ("gt", 0.000014, 2, 10_000_000),
        ("ge", 0.000014, 2, 10_000_000),
        ("lt", 0.000014, 0, 1),
        ("le", 0.000014, 0, 1),
        ("ge", 0.29, 29_000, 10_000_000),  # 0.29 · 100 000 is less than 29 000 in floats
        ("lt", 1.1, 0, 109_999),
        ("ge", 100.0005, 10_000_001, 10_000_000),
        ("lt", 1e9, 0, 10_000_000),
        ("gt", -1e9, 0, 10_000_000),
        ("le", -0.5, 0, -1),
    ],
)
def test_conditions_on_metrics_are_closed_bounds(op: str, value: float, low: int, high: int) -> None:
    found = arrays(
        success_conditions=[condition("done", True)],
        milestones=[milestone(key=LIQUIDITY, value=value, condition_op=op)],
        viable_routes=[route(milestones_unlocked=["m"], consequences={"done": True})],
    )
    assert found.num_bounds == 1
    assert found.bounds.metric[0] == METRICS.index(LIQUIDITY)
    assert (found.bounds.low[0], found.bounds.high[0]) == (low, high)
    assert found.milestones.bounds[0] == 0b1
    assert not found.milestones.codes.any()


def test_equal_bounds_are_one_in_all_four_places() -> None:
    low = {"op": "lt", "value": 20}
    found = arrays(
        viable_routes=[
            route("a", preconditions={"k": 1, STRESS: low, "l": 1}),
            route("b", preconditions={LIQUIDITY: low}, milestones_unlocked=["m"]),
        ],
        mutable_world={"k": 1},
        milestones=[milestone(key=STRESS, value=20.0, condition_op="lt")],
        success_conditions=[{"any": [condition(STRESS, 20, "lt"), condition("k", 2)]}],
        failure_conditions=[condition(LIQUIDITY, 20, "lt"), condition("l", 1)],
    )
    assert found.num_bounds == 2
    assert found.bounds.metric[:2].tolist() == [METRICS.index(STRESS), METRICS.index(LIQUIDITY)]
    assert found.routes.order[0, :2].tolist() == [1, 3]
    assert found.routes.bound_order[:2, :2].tolist() == [[2, 0], [0, 1]]
    assert (found.milestones.bounds[0], found.success.bounds[0], found.failure.bounds[0]) == (0b01, 0b01, 0b10)


# Tables, field by field -----------------------------------------------------------------------------------


def test_what_is_known_and_shown() -> None:
    found = arrays(
        hidden_state={"hidden": 1, "hidden_too": 2},
        mutable_world={"still": 1, "moved": 1, "both": 1},
        visible_world={"shown": 1, "both": 1},
        event_schedule=[
            event(world_mutation={"moved": 2, "shown": 2}, hidden_state_mutation={"hidden_too": 1, "late": 1})
        ],
        success_conditions=[condition("never_said", 1)],
    )
    keys = ["hidden", "hidden_too", "still", "moved", "both", "shown", "never_said", "late"]
    assert found.num_keys == len(keys)
    assert dict(zip(keys, found.known.tolist(), strict=False)) == {
        "hidden": UNKNOWN,
        "hidden_too": UNKNOWN,
        "still": 1,
        "moved": UNKNOWN,
        "both": 1,
        "shown": 1,
        "never_said": ABSENT,
        "late": UNKNOWN,
    }
    assert [key for slot, key in enumerate(keys) if found.shown >> slot & 1] == ["both", "shown"]
    assert found.facts[: len(keys)].tolist() == [1, 1, 1, 1, 1, 1, ABSENT, ABSENT]


def test_success_is_a_column_for_each_member_and_failure_one_for_all() -> None:
    found = arrays(
        mutable_world={"a": 0, "b": 0, "c": 0},
        viable_routes=[route("r", consequences={"a": 1, "b": 1, "c": 1}), route("s", consequences={"a": 2})],
        success_conditions=[{"any": [condition("a", 1), condition("a", 2), condition("b", 1)]}, condition("c", 1)],
        failure_conditions=[condition("a", 2), {"any": [condition("b", 1), condition("a", 1)]}],
        event_schedule=[event(world_mutation={"b": 0})],
    )
    assert found.num_success == 2
    assert found.success.facts[:3, :2].T.tolist() == [[set_of(2, 3), set_of(2), 0], [0, 0, set_of(2)]]
    assert not found.success.facts[:, 2:].any()
    assert found.failure.facts[:3].tolist() == [[set_of(2, 3)], [set_of(2)], [0]]


def test_routes() -> None:
    found = arrays(
        viable_routes=[
            route(
                "a",
                required_action_types=["wait", "spend", "plan"],
                consequences={"done": True},
                closes_routes=["b", "a"],
                milestones_unlocked=["m2"],
                final_reward=1.5,
                cost={"time": 1, "money": 10.005, "energy": 0.1},
                effects={STRESS: -4},
            ),
            route("b"),
        ],
        milestones=[milestone("m1", reward=0.5), milestone("m2", reward=0.25)],
    )
    routes = found.routes
    assert found.num_routes == 2
    assert routes.required[:3].tolist() == [2**1 + 2**7 + 2**11, 2 ** VERBS.index("execute"), 0]
    assert routes.closes[:3].tolist() == [0b011, 0, 0]
    assert routes.unlocks[:2].tolist() == [0b010, 0]
    assert routes.reward[:2].tolist() == [1.5, 0]
    assert routes.time[:2].tolist() == [34, 0]  # a third of 100, rounded up
    assert routes.energy[:2].tolist() == [4, 0]  # a third of 10
    assert routes.money[:2].tolist() == [1000, 0]  # 1000.5 to the even
    np.testing.assert_array_equal(routes.effects[0], spread({STRESS: -4}))
    assert not routes.effects[1].any()
    assert found.num_milestones == 2
    assert found.milestone_reward[:3].tolist() == [0.5, 0.25, 0]
    assert found.locked == 0b010
    assert found.milestones.key[:3].tolist() == [0, 0, 0]
    assert found.milestones.codes[:3].tolist() == [set_of(1), set_of(1), 0]


def test_shares_are_exact() -> None:
    found = arrays(viable_routes=[route(required_action_types=["wait"], cost={"time": 1.1})])
    assert found.routes.time[0] == 110  # in floats, 1.1 · 100 is more than 110


def test_events() -> None:
    found = arrays(
        mutable_world={"w": 1},
        viable_routes=[route("a"), route("b")],
        event_schedule=[
            event("x", 4, world_mutation={"w": 2}, hidden_state_mutation={"h": 1}, closes_routes=["b"]),
            event("y", EVERY_STEP, probability=0.25, effects={LIQUIDITY: -5}, silent=True),
        ],
    )
    events = found.events
    assert events.step[:3].tolist() == [4, EVERY_STEP, NEVER]
    assert events.probability[:3].tolist() == [1, 0.25, 0]
    assert events.writes[:2, :2].tolist() == [[2, 1], [UNWRITTEN, UNWRITTEN]]
    assert events.closes[:2].tolist() == [0b010, 0]
    assert found.silent == 0b010
    np.testing.assert_array_equal(events.effects[1], spread({LIQUIDITY: -5}))
    assert not events.effects[0].any()


def test_the_disruption_is_added_and_clipped() -> None:
    found = arrays(disruption={STRESS: 20, LIQUIDITY: 60.5, "relationships.family": -10.12345})
    expected = FIRST + spread({STRESS: 20}) + spread({LIQUIDITY: 60.5}) + spread({"relationships.family": -10.12345})
    assert found.metrics[METRICS.index(LIQUIDITY)] == 100 * UNIT
    assert found.metrics[METRICS.index("relationships.family")] == 5_987_655
    np.testing.assert_array_equal(found.metrics, np.clip(expected, 0, 100 * UNIT))
    assert INVERTED[METRICS.index(STRESS)]


@pytest.mark.parametrize(
    ("fields", "amounts"),
    [
        ({}, (1000, 100_000, 10_000)),
        ({"constraints": {"budget_max": 800}}, (1000, 80_000, 10_000)),
        ({"resources": {"money": 300.5}}, (1000, 30_050, 10_000)),
        ({"resources": {"money": 300}, "constraints": {"budget_max": 800}}, (1000, 30_000, 10_000)),
        ({"resources": {"money": 900}, "constraints": {"budget_max": 800}}, (1000, 80_000, 10_000)),
        ({"resources": {"money": 0}, "constraints": {"budget_max": 0}}, (1000, 0, 10_000)),
        ({"resources": {"time": 2.25}}, (225, 100_000, 10_000)),
        ({"resources": {"time": 0, "energy": 0}}, (0, 100_000, 0)),
        ({"resources": {"energy": 45.5}}, (1000, 100_000, 4550)),
    ],
)
def test_resources(fields: dict, amounts: tuple[int, int, int]) -> None:
    found = arrays(**fields)
    assert (found.time, found.money, found.energy) == amounts


def test_horizon_and_deadline() -> None:
    found = arrays(horizon=30, constraints={"deadline_step": 7})
    assert (found.horizon, found.deadline) == (30, 7)
    assert arrays().deadline == NEVER


def test_defaults_are_filled() -> None:
    found = task(
        viable_routes=[{"id": "r"}],
        event_schedule=[{"id": "e", "step": 1}],
        milestones=[{"id": "m", "condition_key": "k", "condition_value": 1}],
    )
    (route,), (event,), (milestone,) = found.viable_routes, found.event_schedule, found.milestones
    assert (route.required_action_types, route.verbs, route.final_reward) == ((), ("execute",), 0)
    assert (route.preconditions, route.consequences, route.closes_routes, route.effects) == ({}, {}, (), {})
    assert (event.probability, event.silent, event.world_mutation) == (1, False, {})
    assert (milestone.reward, milestone.condition_op) == (0, "eq")
    assert (found.constraints.budget_max, found.constraints.deadline_step) == (None, None)
    assert (found.environment, found.hidden_state, found.success_conditions) == ("lifestack", {}, ())
