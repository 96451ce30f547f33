"""Edits of crises: what each of them does, and what still holds after many; that they can be won is not promised."""

import jax
import numpy as np
import pytest

import scenarios
from jaxenv.core import ScenarioBank, bitsets
from jaxenv.envs.lifestack.actions import NUM_VERBS
from jaxenv.envs.lifestack.links import link
from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, METRICS, UNIT, better, spread
from jaxenv.envs.lifestack.mutation import EDITS
from jaxenv.envs.lifestack.types import NEVER, UNWRITTEN
from strategies.edits import LAWS, Edited, changes, rows

TOUCHES = {
    "move deadline": {"deadline", "horizon"},
    "give time": {"time"},
    "give money": {"money"},
    "give energy": {"energy"},
    "price route": {"routes.money"},
    "change verb": {"routes.required"},
    "exchange rewards": {"routes.reward"},
    "move event": {"events.step"},
    "doubt event": {"events.probability"},
    "change news": {"events.effects"},
    "disrupt": {"metrics"},
    "relieve": {"metrics"},
}
EDITED = Edited("LifeStack-v0", EDITS, TOUCHES)


def last_step(found):
    return np.minimum(found.deadline, found.horizon).astype(int)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws_of_edits(law):
    law(EDITED)


# What still holds --------------------------------------------------------------------------------------------


def test_the_links_are_those_of_the_tables():
    found = jax.device_get(jax.jit(jax.vmap(link))(EDITED.many).links)
    jax.tree.map(np.testing.assert_array_equal, found, EDITED.many.links)


def test_nothing_is_decided_before_the_first_step():
    found = EDITED.many
    well, first = better(found.metrics), better(FIRST)
    assert (well >= 8 * UNIT).all()
    assert (well <= first).all()
    assert (found.energy <= 100 * 100).all()
    assert (found.energy >= 20 * 100).all()
    assert (found.success.facts[..., 0] >> found.facts & 1 == 0).all()
    steps = np.where(found.events.step == NEVER, 0, found.events.step)
    assert (steps < last_step(found)[:, None]).all()
    np.testing.assert_array_equal((steps == 0), (EDITED.before.events.step == 0) | (found.events.step == NEVER))
    assert last_step(found).min() >= 3
    for row in range(len(found.horizon)):
        of_failure = bitsets.flags(found.failure.bounds[row, 0], found.bounds.metric.shape[1])
        value = found.metrics[row, found.bounds.metric[row]]
        holds = (found.bounds.low[row] <= value) & (value <= found.bounds.high[row])
        assert not (holds & of_failure).any()


def test_the_stakes_stay():
    before, after = EDITED.before, EDITED.many
    np.testing.assert_array_equal(np.sort(before.routes.reward), np.sort(after.routes.reward))
    np.testing.assert_array_equal(before.milestone_reward, after.milestone_reward)
    exists = np.arange(8) < after.num_routes[:, None]
    assert (after.routes.reward[exists] > 0).all()
    np.testing.assert_array_equal(before.deadline == NEVER, after.deadline == NEVER)


def test_nothing_is_warned_of_but_facts_that_only_lure():
    warnings = scenarios.decompile("lifestack", ScenarioBank(rows(EDITED.many, slice(40)))).warnings
    assert [text for text in warnings if "never holds" not in text] == []


# Each edit ---------------------------------------------------------------------------------------------------


def test_the_deadline_moves_and_the_horizon_with_it():
    before, after = EDITED.made("move deadline")
    by = after.horizon.astype(int) - before.horizon
    assert set(by.tolist()) == {-2, -1, 1, 2}
    has = before.deadline != NEVER
    np.testing.assert_array_equal(after.deadline[has].astype(int) - before.deadline[has], by[has])
    assert (after.deadline[~has] == NEVER).all()
    assert (~has).any()


@pytest.mark.parametrize(("field", "unit", "most"), [("time", 50, 4), ("money", 1000, 6), ("energy", 100, 10)])
def test_there_is_more_or_less(field, unit, most):
    before, after = EDITED.made(f"give {field}")
    steps, rest = np.divmod(getattr(after, field) - getattr(before, field), unit)
    assert not rest.any()
    assert (np.abs(steps) <= most).all()
    assert (steps > 0).any()
    assert (steps < 0).any()
    assert getattr(after, field).min() >= {"time": 100, "money": 0, "energy": 2000}[field]


def test_a_price_moves_by_some_2000():
    old, new = EDITED.of_the_changed("price route", "routes.money")
    assert set((new - old).tolist()) == {-6000, -4000, -2000, 2000, 4000, 6000}
    assert new.min() == 0


def test_a_verb_takes_the_place_of_another():
    old, new = EDITED.of_the_changed("change verb", "routes.required")
    old, new = (bitsets.flags(found.astype(np.uint16), NUM_VERBS) for found in (old, new))
    assert ((old & ~new).sum(1) == 1).all()
    assert ((new & ~old).sum(1) == 1).all()


def test_two_routes_have_each_others_rewards():
    before, after = (found.routes.reward for found in EDITED.made("exchange rewards"))
    assert ((before != after).sum(1) == 2).all()
    np.testing.assert_array_equal(np.sort(before), np.sort(after))


def test_an_event_comes_a_step_earlier_or_later():
    old, new = EDITED.of_the_changed("move event", "events.step")
    assert set((new - old).tolist()) == {-1, 1}
    assert new.min() >= 1


def test_what_is_sure_stays_sure():
    old, new = EDITED.of_the_changed("doubt event", "events.probability")
    assert (old < 1).all()
    np.testing.assert_array_equal(np.unique(new), (np.arange(1, 10) / 10).astype(np.float32))
    assert (EDITED.many.events.probability[EDITED.before.events.probability == 1] == 1).all()


def test_bad_news_is_harm_to_one_metric():
    before, after = EDITED.made("change news")
    differs = (before.events.effects != after.events.effects).any(2)
    assert (before.events.writes[differs] == UNWRITTEN).all()
    assert (before.events.closes[differs] == 0).all()
    ways = {tuple(spread({path: sign * points})) for path in METRICS for points in range(1, 11) for sign in (1, -1)}
    for effects in after.events.effects[differs]:
        assert tuple(effects) in ways
        assert better(FIRST + effects)[np.abs(effects).argmax()] < better(FIRST)[np.abs(effects).argmax()]


@pytest.mark.parametrize(("name", "sign"), [("disrupt", -1), ("relieve", 1)])
def test_the_disruption_is_more_or_less_by_five_points(name, sign):
    before, after = EDITED.made(name)
    ways = {tuple(spread({path: points})) for path in METRICS for points in (5, -5)}
    for old, new in zip(before.metrics, after.metrics, strict=True):
        assert tuple(new - old) in ways
        moved = (better(new) - better(old)) * sign
        assert moved.max() >= 5 * UNIT
        assert moved.min() >= 0
    assert after.metrics.max() < HIGHEST
    assert changes(before, after)["metrics"].all()
