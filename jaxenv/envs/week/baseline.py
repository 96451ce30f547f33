"""Rule-based: what a careful person does who plans nothing (docs/rules/week.md, section 7)."""

import functools

import jax
import jax.numpy as jnp

from jaxenv.core.fields import widened
from jaxenv.core.masking import lexicographic_argmin
from jaxenv.core.types import Key, Policy
from jaxenv.envs.week.actions import ATTEND, GO, OPEN, PROMISE, REPLY, REST, WORK, Catalogue
from jaxenv.envs.week.env import Week
from jaxenv.envs.week.types import NONE, QUESTION, REQUEST, SLOTS, WINDOW, Observation, Params
from jaxenv.lowering.lookup import read


def baselines(env: Week) -> dict[str, Policy]:
    """Rule-based for the catalogue of `env`."""
    return {"Rule-based": functools.partial(rule_based, env.catalogue)}


def rule_based(catalogue: Catalogue, key: Key, observation: Observation, params: Params) -> jax.Array:
    """The first that applies of: reply, attend, leave for a meeting, read what would scroll away, work, go to work,
    read the rest; else rest: [] int32.
    """
    del key, params
    o, first = widened(observation), catalogue.first
    reply, replies = replying(o)
    leave, leaves = leaving(o)
    work, works = working(catalogue, o)
    commute, commutes = commuting(o)
    channel, unread = jax.lax.argmax(o.unread, 0, jnp.int32), jnp.max(o.unread)
    choices = [
        (replies, first(REPLY) + reply),
        (o.action_mask[first(ATTEND)], first(ATTEND)),
        (leaves, first(GO) + leave),
        (unread >= WINDOW, first(OPEN) + channel),
        (works, first(WORK) + work),
        (commutes, first(GO) + commute),
        (unread > 0, first(OPEN) + channel),
    ]
    action = jnp.int32(first(REST))
    for applies, entry in reversed(choices):
        action = jnp.where(applies, entry, action)
    return action


def replying(o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 value, [] bool): what was told, to who asks; yes to who requests what overlaps no promise."""
    told = jnp.where(o.head.kind == QUESTION, read(o.told, o.head.fact), NONE)
    is_request = o.head.kind == REQUEST
    answer = jnp.where(o.head.overlaps, PROMISE + 1, PROMISE)
    return jnp.where(is_request, answer, told), is_request | (told >= 0)


def leaving(o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 place, [] bool): of the next meeting that one has to leave for now."""
    events = o.events
    way = read(o.distance, events.place)
    arrival = o.clock + way
    is_due = (arrival >= events.start) & (arrival < events.start + events.length)
    elsewhere = (events.place >= 0) & (events.place != o.place) & (o.travel_left == 0)
    goes = events.exists & is_due & elsewhere
    return events.place[lexicographic_argmin(goes, events.start)], jnp.any(goes)


def hopeful(o: Observation) -> tuple[jax.Array, jax.Array]:
    """([J] bool jobs that are not known to fail, [J] bool those known to succeed, or with no time to wait for news)."""
    jobs = o.jobs
    told = jnp.where(jobs.group >= 0, read(o.told, jobs.group), NONE)
    sure = (jobs.value < 0) | (told == jobs.value) | jobs.begun
    return jobs.exists & (sure | (told < 0)), sure | (jobs.due - o.clock < SLOTS // 2)


def working(catalogue: Catalogue, o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 job, [] bool): the possible one with the nearest due."""
    jobs, first = o.jobs, catalogue.first(WORK)
    may, sure = hopeful(o)
    legal = o.action_mask[first : first + jobs.exists.shape[0]]
    possible = legal & may & sure
    return lexicographic_argmin(possible, jobs.due), jnp.any(possible)


def commuting(o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 place, [] bool): of the job with the nearest due that is open on arrival."""
    jobs = o.jobs
    may, sure = hopeful(o)
    way = read(o.distance, jobs.place)
    arrival, slot = o.clock + way, o.clock % SLOTS + way
    is_open = (jobs.opens <= slot) & (slot < jobs.closes) & (jobs.first <= arrival) & (arrival + jobs.left <= jobs.due)
    elsewhere = (jobs.place >= 0) & (jobs.place != o.place) & (o.travel_left == 0)
    goes = may & sure & is_open & elsewhere & (jobs.needs < 0)
    return jobs.place[lexicographic_argmin(goes, jobs.due)], jnp.any(goes)
