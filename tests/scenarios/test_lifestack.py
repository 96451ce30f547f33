"""LifeStack documents: what they compile to, and the way back."""

from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings

import jaxenv
import scenarios
from jaxenv.envs.lifestack import Limits
from jaxenv.envs.lifestack.metrics import METRICS, UNIT
from jaxenv.envs.lifestack.types import UNKNOWN
from reference.lifestack import UNKNOWN as NOT_KNOWN
from reference.lifestack import Crisis
from scenarios.lifestack import Task, compile, decompile
from scenarios.lifestack.facts import Facts
from strategies.lifestack import documents
from strategies.lifestack_records import arrays, event, route

EASY = {
    "flight_crisis_task_main",
    "code_merge_task_fallback",
    "train_delay_task",
    "car_breakdown_task",
    "rideshare_surge_task",
    "transit_strike_task",
    "career_crisis",
    "finance_crisis",
    "relationship_crisis",
    "health_crisis",
    "mental_crisis",
    "time_crisis",
    "flight_crisis_task",
}
STRESS, LIQUIDITY = "mental_wellbeing.stress_level", "finances.liquidity"


def set_of(*codes: int) -> int:
    return sum(1 << code for code in codes)


def assert_equal(a: Any, b: Any) -> None:
    jax.tree.map(np.testing.assert_array_equal, a, b)
    assert jax.tree.map(lambda x: x.dtype, a) == jax.tree.map(lambda x: x.dtype, b)


# The library ------------------------------------------------------------------------------------------


def test_library_is_the_shipped_bank() -> None:
    library = scenarios.load("lifestack")
    _, params = jaxenv.make("LifeStack-v0")
    # where this fails: make library
    assert_equal(library.bank, params.bank)
    assert library.bank.fingerprint() == params.bank.fingerprint()


def test_library_has_the_tasks_of_the_rules() -> None:
    library = scenarios.load("lifestack")
    assert {document.id for document in library.documents if document.domain_metadata["tier"] == "easy"} == EASY
    for document in library.documents:
        assert library.ids[library.index(document.id)] == document.id
        assert len(document.domain_metadata["story"]) > 60
        assert document.goal
        assert all(route.name and route.description for route in document.viable_routes)
        assert all(record.description for record in (*document.milestones, *document.event_schedule))


def test_the_easy_tasks_have_three_failures_that_cannot_happen_and_no_other_warnings() -> None:
    found = [scenarios.load(f"lifestack/{id}").warnings for id in sorted(EASY)]
    odd = [warning for warnings in found for warning in warnings]
    for warning, id, key in zip(
        odd,
        ["car_breakdown_task", "flight_crisis_task_main", "train_delay_task"],
        [f"{LIQUIDITY} le 1", "nothing sets 'missed_deadline'", f"{LIQUIDITY} lt 10"],
        strict=True,
    ):
        assert id in warning
        assert "the failure cannot happen" in warning
        assert key in warning


def test_numbers_of_an_easy_task() -> None:
    (document,) = scenarios.load("lifestack/career_crisis").documents
    found = compile(document)
    assert (found.horizon, found.deadline, found.time, found.money) == (21, 12, 2100, 50_000)
    assert found.routes.required[:3].tolist() == [1, 3, 8]
    assert found.routes.reward[:3].tolist() == [2, 3, 1.5]
    assert found.routes.closes[:3].tolist() == [0b010, 0b101, 0b010]
    assert found.routes.money[:3].tolist() == [0, 20_000, 0]
    np.testing.assert_array_equal(found.milestone_reward[:3], np.float32([1, 1.5, 0.8]))
    assert found.events.step[0] == 3
    assert found.events.probability[0] == np.float32(0.7)
    # 45 + 30 and 70 − 20 + 30 · −0.8 · 0.6
    assert found.metrics[METRICS.index("career.workload")] == 75 * UNIT
    assert found.metrics[METRICS.index("time.free_hours_per_week")] == round(35.6 * UNIT)


def test_the_example_of_the_schema_runs() -> None:
    from scenarios.lifestack import Route

    my_task = Task(
        id="my_task",
        domain="my_domain",
        goal="Do the thing",
        constraints={"budget_max": 500, "deadline_step": 8},
        hidden_state={"secret_key": True},
        mutable_world={},
        visible_world={"public_info": "visible"},
        success_conditions=[{"key": "done", "value": True}],
        failure_conditions=[],
        event_schedule=[],
        viable_routes=[
            Route(
                id="r1",
                name="Route One",
                description="...",
                required_action_types=["execute"],
                preconditions={},
                consequences={"done": True},
                closes_routes=[],
                milestones_unlocked=[],
                final_reward=1.0,
            )
        ],
        milestones=[],
        horizon=20,
        difficulty=2,
        domain_metadata={"story": "A short story about the crisis."},
    )
    library = scenarios.parse("lifestack", my_task)
    assert library.ids == ("my_task",)
    assert library.warnings == ()
    assert library.documents[0]["constraints"]["budget_max"] == 500
    env, params = jaxenv.make("LifeStack-v0")
    params = params.replace(bank=library.bank)
    _, state = env.reset(jax.random.key(0), params, 0)
    index = scenarios.Codec(env, params, library).encode(state, {"action_type": "execute", "target": "r1"})
    _, state, reward, terminated, *_ = jax.jit(env.step_env)(jax.random.key(0), state, index, params)
    assert terminated
    assert reward == pytest.approx(1 + 8 - 0.08)


# And back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", sorted(EASY))
def test_library_survives_the_round_trip(id: str, tmp_path) -> None:
    (document,) = scenarios.load(f"lifestack/{id}").documents
    found = compile(document)
    assert_equal(found, compile(decompile(found)))
    (file := tmp_path / "task.yaml").write_text(scenarios.dump(document))
    assert scenarios.load(file).documents == (document,)


def test_decompile_names_everything() -> None:
    library = scenarios.decompile("lifestack", scenarios.load("lifestack/flight_crisis_task_main").bank)
    (document,) = library.documents
    assert library.ids == ("scenario_1",)
    assert document.hidden_state == {}
    keys = list(document.mutable_world)
    assert list(document.mutable_world.values()) == [1, True, True, True, None]  # the first has two values
    assert document.visible_world == {keys[1]: True}
    first, second = document.viable_routes
    assert (first.id, first.required_action_types) == ("route_1", ("communicate", "execute"))
    assert (first.closes_routes, first.milestones_unlocked) == (("route_2",), ("milestone_1",))
    assert second.preconditions == {keys[1]: True}
    assert document.event_schedule[0].world_mutation == {keys[0]: 2}


def test_decompile_finds_the_changes_again() -> None:
    effects = {STRESS: -4.25, LIQUIDITY: 3, "time.free_hours_per_week": 0.1234}
    found = decompile(arrays(viable_routes=[route(effects=effects)], disruption={"career.workload": 30}))
    assert found.viable_routes[0].effects == effects
    assert found.disruption == {"career.workload": 30}


@pytest.mark.parametrize(
    "asked",
    [
        [("ge", 2), ("le", 2)],
        [("gt", 3), ("lt", 2), ("ge", 3)],
        [("ne", "x"), ("ne", None), ("ge", 2)],
        [("le", 3), ("eq", None), ("ne", "other"), ("eq", "other")],
    ],
)
def test_decompile_orders_values_as_comparisons_need_it(asked: list[tuple]) -> None:
    """The values 3, 1, "x", 4 and 2 in this order: codes do not follow their size."""
    writers = [route(f"w{n}", consequences={"k": value}) for n, value in enumerate([1, "x", 4])]
    askers = [route(f"a{n}", preconditions={"k": {"op": op, "value": value}}) for n, (op, value) in enumerate(asked)]
    mutation = event(world_mutation={"k": 2})
    found = arrays(mutable_world={"k": 3}, viable_routes=[*writers, *askers], event_schedule=[mutation])
    assert_equal(compile(decompile(found)), found)


def test_arrays_that_no_document_has_are_refused() -> None:
    writers = [route(f"w{n}", consequences={"k": n}) for n in range(4)]
    found = arrays(viable_routes=[*writers, route("asks", preconditions={"k": 1})])
    preconditions = found.routes.preconditions.copy()
    preconditions[4, 0] = set_of(0, 1, 2)
    odd = found.replace(routes=found.routes.replace(preconditions=preconditions))
    with pytest.raises(scenarios.ScenarioError, match=r"no single comparison of \w+ .*\[0, 1, 2\]"):
        decompile(odd)


@pytest.mark.slow
def test_decompile_keeps_other_limits() -> None:
    limits = Limits(keys=20, codes=16, routes=9, milestones=3, events=12, success=5, bounds=6)
    library = scenarios.load("lifestack/flight_crisis_task_main", limits)
    again = scenarios.decompile("lifestack", library.bank)
    assert again.limits == limits
    assert_equal(again.bank, library.bank)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(documents())
def test_any_task_begins_as_the_rules_say_and_survives_arrays_and_yaml(tmp_path_factory, document: dict) -> None:
    (found,) = scenarios.parse("lifestack", document).documents
    crisis, start = Crisis(document, [1.0] * len(document["event_schedule"])), compile(found)
    facts = Facts.of(found)
    assert list(facts.keys) == crisis.keys
    codes = [facts.code(key, crisis.facts[key]) for key in crisis.keys]
    known = [UNKNOWN if value is NOT_KNOWN else facts.code(key, value) for key, value in crisis.known.items()]
    assert start.facts[: len(codes)].tolist() == codes
    assert start.known[: len(codes)].tolist() == known
    assert (start.time, start.money, start.energy) == (crisis.time, crisis.money, crisis.energy)
    assert start.metrics.tolist() == list(crisis.metrics.values())

    assert_equal(compile(decompile(start)), start)
    file = tmp_path_factory.mktemp("tasks") / "task.yaml"
    file.write_text(scenarios.dump(found), "utf-8")
    assert scenarios.load(file).documents == (found,)
