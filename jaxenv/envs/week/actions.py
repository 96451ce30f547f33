"""The catalogue of actions, and which of them are legal now (docs/rules/week.md, section 2)."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionCatalogue, ActionMask
from jaxenv.envs.week import types
from jaxenv.envs.week.types import ANYWHERE, DONE, NONE, QUESTION, REQUEST, UNTOUCHED, VALUES, WINDOW, Agenda, State
from jaxenv.lowering import bitsets
from jaxenv.lowering.lookup import read


class Verb(NamedTuple):
    """A kind of action, with an entry for each of the things it is about."""

    name: str
    about: str  # an axis of the limits, V for the values of a fact, or empty for one entry


VERBS = (
    Verb("go", "L"),
    Verb("work", "J"),
    Verb("open", "C"),
    Verb("reply", "V"),
    Verb("attend", ""),
    Verb("rest", ""),
)
GO, WORK, OPEN, REPLY, ATTEND, REST = range(len(VERBS))
PROMISE = 0  # the value that says yes to a request, 1 says no


@dataclasses.dataclass(frozen=True)
class Catalogue(ActionCatalogue):
    """The meaning of the indices, 53 with the default limits; `table` has the columns verb and number."""

    limits: types.Limits

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 2] int32: the verb, and the number of its place, job, channel or value."""
        sizes = {**self.limits.sizes, "V": VALUES, "": 1}
        return np.array([(n, m) for n, verb in enumerate(VERBS) for m in range(sizes[verb.about])], np.int32)


class Window(struct.PyTreeNode):
    """The messages of the open channel, newest first; none where no channel is open."""

    exists: jax.Array  # [K] bool
    posts: types.Posts  # [K]
    waits: jax.Array  # [K] bool, for a reply
    count: jax.Array  # [] int32, posts of the channel so far
    head: jax.Array  # [] int32, the place of the oldest one that waits; -1 for none


class Standing(NamedTuple):
    """How jobs stand, of the shape of their fields."""

    possible: jax.Array  # bool, known, neither over nor barred nor past due
    needs: jax.Array  # bool, a group has to be done before it


def standing(state: State, jobs: types.Jobs, known: jax.Array, progress: jax.Array) -> Standing:
    """How some jobs stand, or one: `known` and `progress` are theirs."""
    begun, done = (bitsets.of_flags(flags, np.int32) for flags in (state.stage != UNTOUCHED, state.stage == DONE))
    is_barred = (progress == 0) & _has(begun, jobs.group)
    possible = known & (progress != jobs.length) & ~is_barred & (state.clock < jobs.due)
    return Standing(possible, (jobs.needs >= 0) & ~_has(done, jobs.needs))


def _has(groups: jax.Array, group: jax.Array) -> jax.Array:
    """Whether groups are in a set ([] int32), False for NONE."""
    return (group >= 0) & ((jnp.right_shift(groups, jnp.maximum(group, 0)) & 1) == 1)


def workable(state: State, jobs: types.Jobs, stand: Standing) -> jax.Array:
    """Whether jobs can be worked on now, here."""
    slot = state.clock % types.SLOTS
    is_open = (jobs.opens <= slot) & (slot < jobs.closes) & (jobs.first <= state.clock)
    is_here = is_there(state) & ((jobs.place == ANYWHERE) | (jobs.place == state.place))
    return stand.possible & ~stand.needs & is_open & is_here


def window(state: State, week: Agenda) -> Window:
    """The last messages of the open channel."""
    channel = state.channel
    count, handled = read((state.posted, state.handled), channel)
    places = count - 1 - np.arange(WINDOW, dtype=np.int32)
    exists = (places >= 0) & (channel >= 0)
    posts = week.posts(channel, places)
    is_asked = (posts.kind == QUESTION) | (posts.kind == REQUEST)
    waits = exists & is_asked & (places >= handled) & (state.clock < posts.until)
    oldest = jnp.max(jnp.where(waits, np.arange(WINDOW, dtype=np.int32), NONE))
    return Window(exists=exists, posts=posts, waits=waits, count=count, head=oldest)


def is_there(state: State) -> jax.Array:
    """[] bool: not on the way."""
    return state.travel_left == 0


def attendable(state: State, events: types.Events) -> jax.Array:
    """[E] bool: the events that ATTEND can choose among."""
    is_on = state.promised & (events.start <= state.clock) & (state.clock < events.end)
    return is_on & ((events.place == ANYWHERE) | (is_there(state) & (events.place == state.place)))


def legal_mask(state: State, week: Agenda, window: Window, stand: Standing) -> ActionMask:
    """[A] bool: the entries that the engine accepts in a live state, where the jobs stand as they do."""
    goes = is_there(state) & (read(week.travel, state.place) > 0)
    opens = state.posted > 0
    replies = repliable(window, np.arange(VALUES, dtype=np.int32))
    attends = jnp.any(attendable(state, week.events))
    works = workable(state, week.jobs, stand)
    return concatenate_masks(goes, works, opens, replies, attends[None], jnp.ones(1, bool))


def is_legal(state: State, week: Agenda, window: Window, verb: jax.Array, number: jax.Array) -> jax.Array:
    """[] bool: the entry of the mask for one action; reads one job in the place of all."""
    job, (known, progress) = week.job(number), read((state.known, state.progress), number)
    of_verb = [  # in the order of VERBS
        is_there(state) & (read(week.travel, state.place, number) > 0),
        workable(state, job, standing(state, job, known, progress)),
        read(state.posted, number) > 0,
        repliable(window, number),
        jnp.any(attendable(state, week.events)),
        True,
    ]
    return read(jnp.stack(of_verb), verb)  # a gather, so that XLA does not fuse all of it into every loop that uses it


def repliable(window: Window, value: jax.Array | np.ndarray) -> jax.Array:
    """Whether values can be replied to what waits: any to a question, yes and no to a request."""
    is_request = read(window.posts.kind, window.head) == REQUEST
    return (window.head >= 0) & (~is_request | (value <= PROMISE + 1))
