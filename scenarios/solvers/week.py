"""The clairvoyant of Week: a plan by somebody who knows the whole week, improved until no change of it helps.

It shows a return that is possible, a lower bound of the best one. A greedy player goes after what pays most for its
time, the way, the wait and the work that follows from it; the worth of every job, meeting and channel has factors of
its own, those of each half of a day among them, so that a change of Thursday leaves Monday as it is. Chance changes
some factors, and a change stays where the week pays at least as much.
"""

from typing import Any, NamedTuple

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank, terms
from jaxenv.core.fields import declared, widened
from jaxenv.envs.week import Limits, Params, State, Week, actions, dynamics, observe
from jaxenv.envs.week.actions import ATTEND, GO, OPEN, PROMISE, REPLY, REST, WORK
from jaxenv.envs.week.types import ANYWHERE, DAYS, END, JOB, QUESTION, REQUEST, SLOTS, SOUND, WINDOW, Agenda
from jaxenv.lowering.lookup import read

ENOUGH = 60.0  # points that every week should have a way to
ROUNDS, CANDIDATES = 60, 16  # changes that follow each other, and those that are tried at once
RATES = (0.02, 0.3)  # shares of the factors that a change touches
RARER = 0.15  # times as often those of half days, which are many
SPREAD = 1.5  # of a change of a factor's logarithm
DECLINED = -1.0  # a request of a meeting whose factor's logarithm is below is declined
READING = {REQUEST: 0.25, QUESTION: 0.5, JOB: 0.3}  # shares of the points that a post is about


class Factors(NamedTuple):
    """Logarithms of the factors of what things are worth."""

    jobs: jax.Array  # [J] float32
    events: jax.Array  # [E] float32
    halves: jax.Array  # [2 * DAYS, J + E] float32, added in each half of a day
    channels: jax.Array  # [2 * DAYS, C] float32


def winnable(bank: ScenarioBank, limits: Limits) -> list[str]:
    """For each week `yes` where a plan reaches 60 points, otherwise `unknown`."""
    env = Week(limits=limits)
    return ["yes" if points >= ENOUGH else "unknown" for points in plan(env, env.params_for(bank)).tolist()]


def plan(env: Week, params: Params, rounds: int = ROUNDS, candidates: int = CANDIDATES, seed: int = 0) -> jax.Array:
    """[n] float32 points of the best plans that were found for all n weeks of the bank.

    Args:
        env: of any notebook, which the clairvoyant does not need.
        params: hold the bank.
        rounds: changes that follow each other, at least one.
        candidates: changes that are tried in each.
        seed: of the changes.
    """
    weeks, limits = jnp.arange(params.bank.size), env.limits
    jobs, events, halves = limits.jobs, limits.events, 2 * DAYS
    sizes = ((jobs,), (events,), (halves, jobs + events), (halves, limits.channels))
    factors = Factors(*(jnp.zeros((len(weeks), *size), jnp.float32) for size in sizes))

    @jax.jit
    def improve(factors: Factors, key: jax.Array) -> tuple[Factors, jax.Array]:
        """One round; the first candidate is no change."""
        tried = jax.vmap(lambda one, key: changed(one, key, candidates))(factors, jax.random.split(key, len(weeks)))
        points = jax.vmap(jax.vmap(lambda week, one: play(env, params, week, one), (None, 0)))(weeks, tried)
        best = jnp.argmax(points.at[:, 1:].add(1e-4), axis=1)  # of equals a change
        return jax.tree.map(lambda leaf: leaf[weeks, best], (tried, points))

    first, *others = jax.random.split(jax.random.key(seed), rounds)
    factors, points = improve(factors, first)
    for key in others:
        factors, points = improve(factors, key)
    return points


def changed(factors: Factors, key: jax.Array, count: int) -> Factors:
    """`count` changes of the factors, of which the first is none."""
    flat, factors_of = jax.flatten_util.ravel_pytree(factors)
    where, amount = jax.random.split(key)
    equally = jax.tree.map(jnp.ones_like, factors)
    often, _ = jax.flatten_util.ravel_pytree(equally._replace(halves=RARER * equally.halves))
    rates = jnp.asarray(np.append(0, np.geomspace(*RATES, count - 1)), jnp.float32)[:, None]
    touched = jax.random.uniform(where, (count, flat.size), jnp.float32) < rates * often[None]
    changes = SPREAD * jax.random.normal(amount, touched.shape, jnp.float32)
    return jax.vmap(factors_of)(flat[None] + jnp.where(touched, changes, 0.0))


def play(env: Week, params: Params, week: jax.Array, factors: Factors) -> jax.Array:
    """[] float32 points of one week played greedily."""

    def turn(state: State, _: None) -> tuple[State, Any]:
        agenda, wide = params.agenda(state.scenario), widened(state)
        action = act(env, wide, agenda, factors)
        after, turn = dynamics.transition(env.catalogue, env.notebook, wide, agenda, action)
        return declared(after, env.sizes), terms.reward_parts(params.weights, turn)

    first = env.init(jax.random.key(0), params, week)
    _, parts = jax.lax.scan(turn, first, length=END)
    return terms.total(jax.tree.map(jnp.sum, parts))


def act(env: Week, state: State, week: Agenda, factors: Factors) -> jax.Array:
    """[] int32: reply to who waits; read where that is worth more than the best job or meeting; else go and do that."""
    window, first = actions.window(state, week), env.catalogue.first
    mask, is_there = observe.current_mask(state, week, jnp.zeros((), bool)), actions.is_there(state)
    distance = state.travel_left + read(week.travel, state.place)
    half = 2 * (state.clock // SLOTS) + (state.clock % SLOTS >= SLOTS // 2)
    channels = worth_of_channels(state, week, factors) * jnp.exp(read(factors.channels, half))

    jobs, events = worth_of_jobs(state, week, distance), worth_of_events(state, week, distance)
    of_all = jnp.append(factors.jobs, factors.events) + read(factors.halves, half)
    worth, places = jnp.append(jobs, events) * jnp.exp(of_all), jnp.append(week.jobs.place, week.events.place)
    best = jnp.argmax(worth)
    place, pays = read((places, worth), best)
    is_here = (place == ANYWHERE) | (is_there & (place == state.place))
    does = jnp.where(best < len(jobs), first(WORK) + best, first(ATTEND))
    does = jnp.where(is_here, does, jnp.where(is_there, first(GO) + place, first(REST)))
    does = jnp.where((pays > 0) & read(mask, does), does, first(REST))
    channel = jnp.argmax(channels)
    learns = read(channels, channel)
    does = jnp.where((learns > pays) | ((does == first(REST)) & (learns > 0)), first(OPEN) + channel, does)
    head = read(window.posts, window.head)
    accepts = jnp.where(read(factors.events, head.ref) > DECLINED, PROMISE, PROMISE + 1)
    answer = jnp.where(head.kind == QUESTION, read(week.facts.at(state.clock), head.ref), accepts)
    return jnp.where(window.head >= 0, first(REPLY) + answer, does).astype(jnp.int32)


def worth_of_jobs(state: State, week: Agenda, distance: jax.Array) -> jax.Array:
    """[J] float32 points a slot, with those of the jobs that need it; 0 where it cannot be done or would fail."""
    jobs, way = week.jobs, jnp.where(week.jobs.place < 0, 0, read(distance, week.jobs.place))
    arrives = state.clock + way
    begins = jnp.maximum(jnp.maximum(jobs.opens - arrives % SLOTS, jobs.first - arrives), 0) + arrives
    left = jobs.length - state.progress
    is_today = begins // SLOTS == state.clock // SLOTS
    is_open = (jobs.opens <= begins % SLOTS) & (begins % SLOTS < jobs.closes) & (begins + left <= jobs.due)
    is_right = (jobs.value < 0) | (read(week.facts.at(state.clock), jobs.group) == jobs.value)
    succeeds = jnp.where(state.progress > 0, (jobs.group < 0) | (read(state.stage, jobs.group) == SOUND), is_right)
    follows = (jobs.needs[None] == jobs.group[:, None]) & (jobs.group[:, None] >= 0)
    points = jobs.points + jnp.max(jnp.where(follows, jobs.points[None], 0), axis=1)
    slots = begins - state.clock + left + jnp.max(jnp.where(follows, jobs.length[None], 0), axis=1)
    stand = actions.standing(state, jobs, state.known, state.progress)
    can = stand.possible & ~stand.needs & succeeds & is_today & is_open
    return jnp.where(can, points / jnp.maximum(slots, 1), 0.0).astype(jnp.float32)


def worth_of_events(state: State, week: Agenda, distance: jax.Array) -> jax.Array:
    """[E] float32 points a slot of the promised meetings that one can reach in time; more where it is not missed."""
    events, way = week.events, jnp.where(week.events.place < 0, 0, read(distance, week.events.place))
    arrives = state.clock + way
    is_on = state.promised & (events.start <= arrives) & (arrives < events.end)
    is_missed = 2 * (state.attended + jnp.minimum(events.length, events.end - arrives)) < events.length
    rate = events.points / jnp.maximum(events.length, 1) * jnp.where(is_missed, 0.5, 1.5)
    return jnp.where(is_on, rate, 0.0).astype(jnp.float32)


def worth_of_channels(state: State, week: Agenda, factors: Factors) -> jax.Array:
    """[C] float32 shares of the points that the last posts of each channel are about, as far as they wait."""
    channels = np.arange(len(state.posted), dtype=np.int32)[:, None]
    places = state.posted[:, None] - 1 - np.arange(WINDOW, dtype=np.int32)[None]
    posts, exists = week.posts(channels, places), places >= 0
    waits = exists & (places >= state.handled[:, None]) & (state.clock < posts.until)
    is_wanted = waits & (read(factors.events, posts.ref) > DECLINED)
    is_new = exists & ~read(state.known, posts.ref)
    points = {REQUEST: (is_wanted, read(week.events.points, posts.ref)), QUESTION: (waits, posts.points)}
    points[JOB] = (is_new, read(week.jobs.points, posts.ref))
    shares = [
        READING[kind] * jnp.where(found & (posts.kind == kind), paid, 0).astype(jnp.float32)
        for kind, (found, paid) in points.items()
    ]
    return jnp.sum(sum(shares), axis=1)
