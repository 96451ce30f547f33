"""The planner of LifeStack ends in bounded time and memory, whatever the task: then its answer is `unknown`."""

import sys
import time
from typing import Any

import pytest

import scenarios
from jaxenv.envs.lifestack import Limits
from lab.solvers.lifestack import plan
from scenarios import solvers
from scenarios.lifestack import compile
from scenarios.solvers.lifestack import winnable
from scenarios.solvers.lifestack.budget import MAX_DRAWS, Budget, Call, Exhausted, require_few_draws, result_of
from scenarios.solvers.lifestack.game import Model
from scenarios.solvers.lifestack.search import Search
from scenarios.solvers.lifestack.tables import Tables

SECONDS = 0.0
LIMITS = Limits()
TASK: dict[str, Any] = {
    "horizon": 20_000,
    "mutable_world": {"done": False, "lucky": False},
    "viable_routes": [
        {"id": "first", "required_action_types": ["plan", "execute"], "consequences": {"half": True}},
        {"id": "last", "preconditions": {"half": True, "lucky": True}, "consequences": {"done": True}},
    ],
    "success_conditions": [{"key": "done", "value": True}],
}


def event(number: int = 0, step: int = -1, probability: float = 0.001, **fields: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "step": step, "probability": probability, "world_mutation": {"lucky": True}, **fields}


def task(*events: dict[str, Any], limits: Limits = LIMITS, **fields: Any) -> Any:
    (document,) = scenarios.parse("lifestack", {**TASK, "event_schedule": list(events), **fields}, limits).documents
    return compile(document, limits)


HARD = {
    "one rare event": (event(),),
    "eight events at every step": tuple(event(n, effects={"career.workload": 0.1 * n}) for n in range(8)),
    "an event that changes nothing": (event(world_mutation={}, effects={"career.workload": 1}),),
    "no event": (),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_a_long_horizon_is_a_question_of_time(name: str) -> None:
    crisis, limit, start = task(*HARD[name]), sys.getrecursionlimit(), time.thread_time()
    assert winnable(crisis, SECONDS) in ("yes", "unknown")
    assert time.thread_time() - start < 5.0
    assert sys.getrecursionlimit() == limit


def test_a_plan_of_what_never_ends_is_none() -> None:
    with pytest.raises(Exhausted):
        plan(task(event()), SECONDS)


def test_check_asks_it() -> None:
    library = scenarios.parse("lifestack", {**TASK, "horizon": 40, "event_schedule": [event(probability=1)]})
    assert solvers.winnable(library) == {"scenario_1": "yes"}


def test_many_random_events_at_once_are_unknown() -> None:
    events = [event(n, step=5, probability=0.5) for n in range(30)]
    assert winnable(task(*events, limits=Limits(events=30), horizon=30), SECONDS) == "unknown"
    with pytest.raises(Exhausted):
        require_few_draws(MAX_DRAWS + 1)


def test_events_that_are_sure_are_no_draws() -> None:
    events = [event(n, step=5, probability=1.0) for n in range(30)]
    assert winnable(task(*events, limits=Limits(events=30), horizon=30), SECONDS) == "yes"


def test_states_are_counted() -> None:
    budget = Budget(60)
    budget.states = 100
    budget.hold(100)
    with pytest.raises(Exhausted):
        budget.spend()
    with pytest.raises(Exhausted):
        Budget(0).hold(1000)
    with pytest.raises(Exhausted):
        Budget(60, nodes=0).spend()


def test_a_search_counts_the_states_of_its_nodes() -> None:
    model = Model(Tables(task(event(), horizon=30)))
    search = Search(model, lambda state: 1000.0, Budget(60))
    search.budget.states = 1000
    with pytest.raises(Exhausted):
        search.solve()
    assert len(search.nodes) < 1200


def test_recursion_is_as_deep_as_memory() -> None:
    def depth(left: int) -> Call[int]:
        return (1 + (yield depth(left - 1))) if left else 0

    assert result_of(depth(50_000)) == 50_000

    def failing(left: int) -> Call[int]:
        return (yield failing(left - 1)) if left else 1 // 0

    with pytest.raises(ZeroDivisionError):
        result_of(failing(2000))
