"""Drawn weeks (docs/rules/week.md, section 6): of one shape, as promised, harder with difficulty."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import ScenarioBank
from jaxenv.envs.week import Week
from jaxenv.envs.week.types import END, JOB, MAX_TRAVEL, NEVER, NEWS, OFFERED, QUESTION, REQUEST, SLOTS

DIFFICULTIES = (0.0, 0.5, 1.0, 2.0)
COUNT = 128
every_difficulty = pytest.mark.parametrize("difficulty", DIFFICULTIES)


@functools.cache
def generator():
    """(keys, difficulty) -> weeks, compiled once for each number of them."""
    return jax.jit(jax.vmap(Week().generate, in_axes=(0, None)))


@functools.cache
def weeks(difficulty):
    """COUNT of them, as NumPy arrays."""
    return jax.device_get(generator()(jax.random.split(jax.random.key(0), COUNT), jnp.float32(difficulty)))


@every_difficulty
def test_they_lie_within_the_bounds_of_the_records(difficulty):
    env, found = Week(), weeks(difficulty)
    leaves, empty = jax.tree.leaves(found), jax.tree.leaves(env.empty_scenario)
    assert [(leaf.shape[1:], leaf.dtype) for leaf in leaves] == [(leaf.shape, leaf.dtype) for leaf in empty]
    env.params_for(ScenarioBank(found))


@pytest.mark.parametrize("batch", [1, 3])
def test_the_same_key_draws_the_same_week_at_every_batch_size(batch):
    found = jax.device_get(generator()(jax.random.split(jax.random.key(0), COUNT)[:batch], jnp.float32(0.5)))
    jax.tree.map(lambda leaf, whole: np.testing.assert_array_equal(leaf, whole[:batch]), found, weeks(0.5))


def test_other_keys_draw_other_weeks():
    found = weeks(0.0)
    rows = np.concatenate([leaf.reshape(COUNT, -1) for leaf in (found.jobs.points, found.events.start)], axis=1)
    assert len(np.unique(rows, axis=0)) == COUNT


# --------------------------------------------------------------------------------- what is promised


@every_difficulty
def test_a_week_offers_a_hundred_points(difficulty):
    found = weeks(difficulty)
    jobs = found.jobs
    assert (found.events.points.sum(1) == 2800).all()
    assert (np.where(found.posts.kind == QUESTION, found.posts.points, 0).sum((1, 2)) == 2000).all()
    assert (np.where(jobs.group >= 0, 0, np.where(jobs.tells >= 0, 0, jobs.points)).sum(1) == 1200).all()
    scouts = np.where(jobs.tells >= 0, jobs.points, 0).sum(1)
    best = [np.where((jobs.group == group) & (jobs.length > 0), jobs.points, 0).max(1) for group in range(8)]
    assert (scouts + sum(best) == 4000).all()
    assert OFFERED == 2800 + 2000 + 1200 + 4000


@every_difficulty
def test_ways_are_symmetric_and_longer_where_it_is_difficult(difficulty):
    travel = weeks(difficulty).travel
    assert (travel == travel.transpose(0, 2, 1)).all()
    assert (travel.diagonal(axis1=1, axis2=2) == 0).all()
    assert travel[:, ~np.eye(6, dtype=bool)].min() >= 1
    assert travel.max() <= MAX_TRAVEL
    assert travel.mean() >= weeks(0.0).travel.mean()


@every_difficulty
def test_meetings_lie_within_a_day_and_promised_ones_overlap_nothing(difficulty):
    events = weeks(difficulty).events
    start, end = events.start.astype(int), (events.start + events.length).astype(int)
    there = events.length > 0
    assert (start // SLOTS == np.where(there, end - 1, start) // SLOTS).all()
    for week in range(COUNT):
        taken = np.zeros(END, int)
        for event in np.flatnonzero(events.promised[week]):
            taken[start[week, event] : end[week, event]] += 1
        assert taken.max() == 1
    promised = 6 + round(2 * difficulty)
    assert (events.promised.sum(1) == promised).all()
    assert (there.sum(1) == 2 * promised).all()


@every_difficulty
def test_one_approach_and_one_delivery_of_a_project_are_right_at_a_time(difficulty):
    found = weeks(difficulty)
    for time in (0, 60, 120):
        truth = np.where(time < found.facts.flip, found.facts.first, found.facts.then)
        for group in range(8):
            member = (found.jobs.group == group) & (found.jobs.length > 0)
            right = member & ((found.jobs.value < 0) | (found.jobs.value == truth[:, group : group + 1]))
            assert (right.sum(1) == 1).all()


@every_difficulty
def test_hours_leave_room_for_the_work(difficulty):
    jobs = weeks(difficulty).jobs
    there = jobs.length > 0
    assert (jobs.closes - jobs.opens >= jobs.length + 4)[there].all()
    assert ((jobs.opens >= 2) & (jobs.closes < SLOTS))[there].all()
    assert (jobs.first < jobs.due)[there].all()
    assert (jobs.due % SLOTS == np.where(jobs.tells >= 0, 16, 0))[there].all()


@every_difficulty
def test_posts_are_in_order_and_one_a_slot(difficulty):
    posts = weeks(difficulty).posts
    time = posts.time.astype(int)
    exists = time < NEVER
    assert (np.diff(time, axis=2)[exists[..., 1:]] > 0).all()
    assert time.min() >= 1
    assert (posts.until > posts.time)[(posts.kind == QUESTION) & exists].all()


@every_difficulty
def test_everything_that_is_asked_for_is_told_before(difficulty):
    found = weeks(difficulty)
    posts, jobs, events = found.posts, found.jobs, found.events
    for week in range(COUNT):
        time, kind, ref = (getattr(posts, name)[week].ravel() for name in ("time", "kind", "ref"))
        first_news = {fact: time[(kind == NEWS) & (ref == fact)].min() for fact in set(ref[kind == NEWS])}
        assert all(first_news[fact] < t for t, fact in zip(time[kind == QUESTION], ref[kind == QUESTION], strict=True))
        hidden = np.flatnonzero((jobs.length[week] > 0) & ~jobs.known[week])
        assert sorted(ref[kind == JOB]) == hidden.tolist()
        asked = np.flatnonzero((events.length[week] > 0) & ~events.promised[week])
        assert sorted(ref[kind == REQUEST]) == asked.tolist()
        flips = np.flatnonzero(found.facts.flip[week][:8] < NEVER)
        assert all((time[(kind == NEWS) & (ref == fact)] >= found.facts.flip[week, fact]).any() for fact in flips)


@every_difficulty
def test_eight_questions_are_about_few_facts_where_it_is_easy(difficulty):
    posts = weeks(difficulty).posts
    asked = [ref[kind == QUESTION] for kind, ref in zip(posts.kind, posts.ref, strict=True)]
    assert {len(refs) for refs in asked} == {8}
    assert {len(set(refs.tolist())) for refs in asked} == {min(2 + round(6 * difficulty), 8)}


def test_there_is_more_of_everything_where_it_is_difficult():
    counts = [[(weeks(d).jobs.length > 0).sum(), (weeks(d).posts.time < NEVER).sum()] for d in DIFFICULTIES]
    assert (np.diff(np.array(counts), axis=0) > 0).all()
