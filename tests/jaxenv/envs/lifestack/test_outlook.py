"""What networks are told of a route's way to success, in tasks of the library whose numbers a reader can add up."""

import functools

import jax
import jax.numpy as jnp
import pytest

import jaxenv
import scenarios
from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.outlook import METRIC_SCALE, summarize_routes
from jaxenv.envs.lifestack.types import MAX_AMOUNT


@functools.cache
def at_first():
    """Jitted: (index of the library) -> the summary of each route at reset."""
    env, params = jaxenv.make("LifeStack-v0")
    library = scenarios.load("lifestack")
    params = params.replace(bank=library.bank)
    return library, jax.jit(lambda index: summarize_routes(env.reset(jax.random.key(0), params, index)[0]))


@pytest.fixture
def told():
    def of(task, field):
        library, summaries = at_first()
        names = [route.id for route in library.documents[library.index(task)].viable_routes]
        column = getattr(summaries(library.index(task)), field)
        return {name: pytest.approx(float(column[slot]), abs=1e-6) for slot, name in enumerate(names)}

    return of


def test_the_price_of_a_way_is_that_of_all_its_routes(told):
    money = told("wedding_flood", "money_ahead")  # in thousands
    assert (money["ballroom"], money["marquee"]) == (2.3 + 0.9, 1.4 + 1.2)
    assert money["ceremony"] == 0
    too_dear = told("wedding_flood", "too_dear")  # with 3,000
    assert (too_dear["ballroom"], too_dear["marquee"]) == (1, 0)


def test_the_length_of_a_way_is_in_verbs(told):
    verbs = told("wedding_flood", "verbs_ahead")
    assert (verbs["ballroom"], verbs["marquee"], verbs["ceremony"]) == (2 + 2 + 3, 3 + 2 + 3, 3)
    assert verbs["fireworks"] == 0  # it leads nowhere
    assert all(late == 0 for late in told("wedding_flood", "too_late").values())


def test_a_route_that_brings_failure_is_told(told):
    ruins = told("tax_audit", "ruins")
    assert {name for name, flag in ruins.items() if flag == 1} == {"estimate"}


def test_a_route_after_which_a_metric_cannot_come_within_its_bound_has_a_negative_margin(told):
    """Family is at 50 and must come to 65; the play adds 8 and the weekend 10."""
    margin = told("custody_hearing", "margin")
    assert margin["mediation"] == (50 + 5 + 8 + 10 - 65) / 20
    assert margin["lawsuit"] == -1  # 50 - 25 + 8 + 10 - 65 = -22, clipped
    assert margin["school_play"] == (50 + 8 + 5 + 10 - 65) / 20
    assert all(each == 1 for each in told("wedding_flood", "margin").values())


def test_what_a_route_does_to_the_metrics_that_matter_is_told(told):
    assert told("custody_hearing", "raises_success")["lawsuit"] == -25 / 20
    assert told("payroll_gap", "raises_precondition")["bank_loan"] == 22 / 20
    assert told("payroll_gap", "raises_success")["pay_wages"] == -18 / 20
    assert told("payroll_gap", "averts_failure")["credit_card"] == (6 - 25) / 20


def test_amounts_at_the_edge_of_what_a_document_may_hold_do_not_overflow():
    env, params = jaxenv.make("LifeStack-v0")
    observation, _ = env.reset(jax.random.key(0), params)
    routes, bounds = observation.routes, observation.bounds
    everywhere = jnp.ones_like(bounds.exists)
    observation = observation.replace(
        routes=routes.replace(
            shift=jnp.full_like(routes.shift, MAX_AMOUNT),
            money=jnp.full_like(routes.money, MAX_AMOUNT),
            open=jnp.ones_like(routes.open),
            serves=jnp.ones_like(routes.serves),
        ),
        bounds=bounds.replace(
            exists=everywhere,
            low=jnp.full_like(bounds.low, MAX_AMOUNT),
            high=jnp.full_like(bounds.high, MAX_AMOUNT),
            uses=jnp.full_like(bounds.uses, 2 ** len(everywhere) - 1),
        ),
    )
    summary = jax.jit(summarize_routes)(observation)
    assert (summary.margin == -1).all()  # a gain of 100 from each route does not reach the bound
    assert (summary.raises_success == len(everywhere) * HIGHEST / METRIC_SCALE).all()
    assert (summary.money_ahead >= 0).all()
