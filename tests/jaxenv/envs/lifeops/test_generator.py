"""Drawn days: valid, varied, reproducible, and harder with difficulty."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.envs.lifeops import LifeOps, Limits
from jaxenv.envs.lifeops.types import ABSENT, DAY_END

COUNT = 2000
ENV = jaxenv.make("LifeOps-v0")[0]


@pytest.fixture(scope="module")
def draw():
    """(difficulty) -> COUNT days as NumPy arrays, compiled once."""
    generate = jax.jit(jax.vmap(ENV.generate, in_axes=(0, None)))
    keys = jax.random.split(jax.random.key(0), COUNT)
    return lambda difficulty: jax.device_get(generate(keys, jnp.float32(difficulty)))


def columns(table):
    return (np.asarray(column, np.int32) for column in (table.start, table.end, table.place))


@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0, 2.0])
def test_a_calendar_can_be_lived(draw, difficulty):
    days = draw(difficulty)
    start, end, place = columns(days.calendar)
    present = start != ABSENT
    assert (np.diff(start, axis=1) >= 0).all()
    both = present[:, 1:]
    gap = start[:, 1:] - end[:, :-1]
    way = np.take_along_axis(
        np.asarray(days.travel, np.int32)[np.arange(COUNT)[:, None], place[:, :-1]], place[:, 1:, None], axis=-1
    )[..., 0]
    assert (gap >= way)[both].all()
    assert (days.overlaps == 0).all()
    assert (days.tight_legs == 0).all()
    assert (end <= DAY_END).all()


def test_beyond_training_there_are_more_requests(draw):
    """And nothing else of a day changes."""
    hard, beyond = draw(1.0), draw(2.0)
    assert set(beyond.num_requests) == {7, 8}
    assert (beyond.max_steps == beyond.num_requests + 5).all()
    for part in ("tasks", "persona", "travel", "weekday", "calendar"):
        jax.tree.map(np.testing.assert_array_equal, getattr(beyond, part), getattr(hard, part))


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
def test_counts_times_and_travel_are_as_the_rules_say(draw, difficulty):
    days = draw(difficulty)
    events, requests = (days.calendar.start != ABSENT).sum(1), days.num_requests
    tasks = (days.tasks.priority > 0).sum(1)
    assert (events.min(), events.max()) == (0, 10) or difficulty == 0.0
    assert (requests.min(), requests.max()) == (1, 6)
    assert (tasks.min(), tasks.max()) == (0, 4)
    assert (days.max_steps == requests + 5).all()
    starts = np.concatenate([days.calendar.start[days.calendar.start != ABSENT], days.requests.start.ravel()])
    assert (starts % 5 == 0).all()
    assert (np.diff(days.tasks.priority.astype(int), axis=1) <= 0).all()
    travel = np.asarray(days.travel, np.int32)
    around = travel[:, :, :, None] + travel[:, None, :, :]
    exists = travel.any(-1)
    metric = (travel[:, :, None, :] <= around) | ~exists[:, None, :, None]
    assert metric.all()
    assert (np.diagonal(travel, axis1=1, axis2=2) == 0).all()
    assert (np.swapaxes(travel, 1, 2) == travel).all()


def share_of_conflicts(days):
    """The share of requests that overlap the starting calendar."""
    start, end, _ = columns(days.calendar)
    r_start, r_end, _ = columns(days.requests)
    meets = (start[:, None] < r_end[..., None]) & (r_start[..., None] < end[:, None])
    exists = np.arange(r_start.shape[1]) < days.num_requests[:, None]
    return meets.any(-1)[exists].mean()


def test_difficulty_moves_the_shares(draw):
    easy, hard = draw(0.0), draw(1.0)
    assert share_of_conflicts(hard) > 1.3 * share_of_conflicts(easy)
    assert hard.num_requests.mean() > easy.num_requests.mean() + 1
    assert hard.tasks.minutes.sum(1).mean() > 1.5 * easy.tasks.minutes.sum(1).mean()
    exists = easy.requests.importance > 0
    assert easy.flexible[exists].mean() > hard.flexible[hard.requests.importance > 0].mean() + 0.2


def test_the_same_key_draws_the_same_day_alone(draw):
    single = jax.jit(ENV.generate)(jax.random.split(jax.random.key(0), COUNT)[7], jnp.float32(0.5))
    many = draw(0.5)
    jax.tree.map(lambda one, all_days: np.testing.assert_allclose(one, all_days[7], rtol=1e-6), single, many)


@pytest.mark.parametrize("limits", [Limits(events=5), Limits(places=1)])
def test_limits_that_hold_no_day_are_refused(limits):
    with pytest.raises(ValueError, match=r"a drawn day needs Limits\(events=6, .* places=2\), or more; found Limits\("):
        LifeOps(limits=limits).generate(jax.random.key(0), 0.5)


@pytest.mark.slow
def test_small_limits_are_filled_and_not_passed():
    small = jaxenv.make("LifeOps-v0", limits=Limits(events=16, requests=3, tasks=2, places=5))[0]
    days = jax.vmap(small.generate, in_axes=(0, None))(jax.random.split(jax.random.key(1), 500), 1.0)
    events = np.asarray(days.calendar.start != ABSENT).sum(1)
    assert (events + np.asarray(days.max_steps) <= 16).all()
    assert int(days.num_requests.max()) == 3
    small.params_for(jaxenv.ScenarioBank(days))
