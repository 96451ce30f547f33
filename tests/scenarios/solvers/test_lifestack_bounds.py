"""The bounds of the planner of LifeStack: never below what a state is worth, and no plan without them but the best."""

import contextlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.envs.lifestack.reward import WEIGHTS, RewardWeights
from lab.solvers.lifestack import plan
from scenarios.lifestack import compile
from scenarios.solvers.lifestack import chance_to_win
from scenarios.solvers.lifestack.bounds import Bound
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.game import WIN_ONLY, Model
from scenarios.solvers.lifestack.search import Search
from scenarios.solvers.lifestack.tables import Tables
from strategies.lifestack import documents
from strategies.lifestack_planner import ORDER, TINY, arrays, tight_tasks

ROUNDING = 1e-9
DOCUMENTS = dict(zip((library := scenarios.load("lifestack")).ids, library.documents, strict=True))
SMALL = {**TINY, **ORDER}
drawing = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])


def searched(model: Model, nodes: int) -> Search:
    """The model searched through, with a bound that cuts nothing."""
    search = Search(model, lambda state: 1000.0, Budget(60, nodes))
    search.solve()
    return search


def check_bounds(model: Model, nodes: int) -> None:
    """Every state is worth at most its bound."""
    search, bound = searched(model, nodes), Bound(model, Budget(60))
    assert search.nodes
    for state, node in search.nodes.items():
        assert bound(state) >= node.low - ROUNDING, state


@pytest.mark.parametrize("weights", [WEIGHTS, WIN_ONLY], ids=["return", "win"])
@pytest.mark.parametrize("name", SMALL)
def test_no_state_is_worth_more_than_its_bound(name: str, weights: RewardWeights) -> None:
    check_bounds(Model(Tables(arrays(SMALL[name])), weights), nodes=100_000)


@settings(drawing, max_examples=25)
@given(documents(), st.integers(1, 3))
def test_no_state_of_any_task_is_worth_more_than_its_bound(document: dict, horizon: int) -> None:
    with contextlib.suppress(Exhausted):
        check_bounds(Model(Tables(arrays({**document, "horizon": horizon}))), nodes=3000)


@pytest.mark.slow
@settings(drawing, max_examples=150)
@given(tight_tasks(), st.sampled_from([WEIGHTS, WIN_ONLY]))
def test_no_state_of_a_tight_task_is_worth_more_than_its_bound(document: dict, weights: RewardWeights) -> None:
    with contextlib.suppress(Exhausted):
        check_bounds(Model(Tables(arrays(document)), weights), nodes=3000)


@pytest.mark.parametrize("name", ORDER)
def test_a_plan_with_bounds_is_as_good_as_one_without(name: str) -> None:
    scenario = arrays(ORDER[name])
    found = plan(scenario, seconds=60)
    assert found.is_exact
    assert found.best == pytest.approx(searched(Model(Tables(scenario)), 100_000).solve())
    most = searched(Model(Tables(scenario), WIN_ONLY), 100_000).solve()
    assert chance_to_win(scenario, seconds=60) == pytest.approx((most, most))


def test_without_nodes_bounds_are_coarse_and_still_above() -> None:
    model = Model(Tables(compile(DOCUMENTS["exam_resit"])))
    coarse, fine = Bound(model, Budget(20, nodes=0)), Bound(model, Budget(20))
    for _, state in model.first_states():
        assert coarse(state) > fine(state)


def test_a_plan_without_time_is_one_that_was_found() -> None:
    found = plan(compile(DOCUMENTS["hospital_discharge"]), seconds=0.0)
    assert not found.is_exact
    assert found.best <= plan(compile(DOCUMENTS["hospital_discharge"]), seconds=20).best <= found.upper
