"""Weeks for tests: any that a document could tell, and plain forms of records for the second engine."""

import jax.numpy as jnp
import numpy as np

from jaxenv.envs.week import Limits
from jaxenv.envs.week.types import (
    CHAT,
    DAYS,
    END,
    JOB,
    NEVER,
    NEWS,
    NONE,
    QUESTION,
    REQUEST,
    SLOTS,
    VALUES,
    Events,
    Facts,
    Jobs,
    Posts,
    Scenario,
)


def arbitrary(seed):
    """A week of random numbers within the bounds of the rules, dense in everything that can happen."""
    dice, limits = np.random.default_rng(seed), Limits()
    travel = np.triu(dice.integers(0, 6, (limits.places, limits.places)), 1)
    return Scenario(
        travel=(travel + travel.T).astype(np.int8),
        jobs=_jobs(dice, limits),
        events=_events(dice, limits),
        facts=Facts(
            dice.integers(0, VALUES, limits.facts, np.int8),
            dice.integers(0, VALUES, limits.facts, np.int8),
            np.where(dice.random(limits.facts) < 0.7, dice.integers(0, END, limits.facts), NEVER).astype(np.int16),
        ),
        posts=_posts(dice, limits),
    )


def _jobs(dice, limits):
    count = limits.jobs
    opens = dice.integers(0, 20, count)
    first = dice.integers(0, 120, count)
    columns = {
        "length": dice.integers(1, 4, count),
        "place": dice.integers(-1, limits.places, count),
        "opens": opens,
        "closes": opens + dice.integers(5, 21, count),
        "first": first,
        "due": np.minimum(first + dice.integers(10, 120, count), END),
        "points": dice.integers(0, 900, count),
        "group": dice.integers(-1, limits.groups, count),
        "needs": np.where(dice.random(count) < 0.5, NONE, dice.integers(0, limits.groups, count)),
        "value": dice.integers(-1, VALUES, count),
        "tells": np.where(dice.random(count) < 0.5, NONE, dice.integers(0, limits.facts, count)),
        "known": dice.random(count) < 0.7,
    }
    return Jobs(**_there(columns, dice.random(count) < 0.9, {"first", "due", "points"}))


def _events(dice, limits):
    count = limits.events
    slot = dice.integers(0, SLOTS - 6, count)
    columns = {
        "start": SLOTS * dice.integers(0, DAYS, count) + slot,
        "length": dice.integers(1, 7, count),
        "place": dice.integers(-1, limits.places, count),
        "points": dice.integers(0, 5, count) * 60,  # many are equal
        "promised": dice.random(count) < 0.5,
    }
    return Events(**_there(columns, dice.random(count) < 0.9, {"start", "points"}))


def _posts(dice, limits):
    shape = (limits.channels, limits.posts)
    kind = dice.integers(CHAT, REQUEST + 1, shape)
    rows = [dice.choice(np.arange(1, END), limits.posts, replace=False) for _ in range(limits.channels)]
    time = np.sort(rows, axis=1)
    ref = dice.integers(0, np.select([kind == JOB, kind == REQUEST], [limits.jobs, limits.events], limits.facts))
    asks = kind >= QUESTION
    columns = {
        "time": time,
        "kind": kind,
        "ref": np.where(kind == CHAT, 0, ref),
        "until": np.where(asks, np.minimum(time + dice.integers(1, 30, shape), END), 0),
        "points": np.where(kind == QUESTION, dice.integers(0, 600, shape), 0),
    }
    exists = np.arange(limits.posts) < dice.integers(0, limits.posts + 1, (limits.channels, 1))
    columns = _there(columns, exists, {"time", "until", "points"})
    return Posts(**columns | {"time": np.where(exists, columns["time"], NEVER).astype(np.int16)})


def _there(columns, exists, wide):
    """Zeros where nothing exists, in the dtypes of the records; those of `wide` have 16 bits."""
    dtypes = {name: np.int16 if name in wide else bool if columns[name].dtype == bool else np.int8 for name in columns}
    return {name: np.where(exists, column, 0).astype(dtypes[name]) for name, column in columns.items()}


def plain(record):
    """A record as nested dictionaries of lists."""
    if hasattr(record, "__dict__") and not hasattr(record, "dtype"):
        return {name: plain(value) for name, value in vars(record).items()}
    return np.asarray(record).tolist()


def another_future(key, state, params):
    """What comes later: posts, facts that are still to change, and what the ends of jobs tell."""
    del key
    weeks, now = params.bank.scenarios, state.clock
    posts = weeks.posts
    is_later = posts.time > now
    then = jnp.where(weeks.facts.flip > now, (weeks.facts.then + 1) % VALUES, weeks.facts.then)
    facts = weeks.facts.replace(then=then)
    jobs = weeks.jobs.replace(
        tells=jnp.where(weeks.jobs.tells >= 0, (weeks.jobs.tells + 1) % facts.first.shape[-1], -1)
    )
    posts = posts.replace(
        kind=jnp.where(is_later, 0, posts.kind).astype(jnp.int8), points=jnp.where(is_later, 0, posts.points)
    )
    weeks = weeks.replace(posts=posts, jobs=jobs, facts=facts)
    return state, params.replace(bank=params.bank.replace(scenarios=weeks))


def another_truth(key, state, params):
    """What nobody has been told: also the facts of which there was no news yet, and no line in the notebook."""
    state, params = another_future(key, state, params)
    weeks = params.bank.scenarios
    posts, facts = weeks.posts, weeks.facts
    is_news = (posts.kind == NEWS) & (posts.time <= state.clock)
    about = posts.ref[..., None] == np.arange(facts.first.shape[-1], dtype=np.int8)[None, None, None]
    is_told = jnp.any(is_news[..., None] & about, axis=(1, 2)) | (state.noted >= 0)[None]
    other = {
        name: jnp.where(is_told, getattr(facts, name), (getattr(facts, name) + 1) % VALUES)
        for name in ("first", "then")
    }
    weeks = weeks.replace(facts=facts.replace(**other))
    return state, params.replace(bank=params.bank.replace(scenarios=weeks))
