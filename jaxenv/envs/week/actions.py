"""The catalogue of actions, and which of them are legal now (docs/rules/week.md, section 2)."""

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionMask
from jaxenv.envs.week.types import (
    ANYWHERE,
    NONE,
    QUESTION,
    REQUEST,
    SLOTS,
    VALUES,
    WINDOW,
    Agenda,
    Limits,
    Posts,
    State,
)
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
class Catalogue:
    """The meaning of the indices; `table` has the columns verb and number."""

    limits: Limits

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 2] int32: the verb, and the number of its place, job, channel or value."""
        sizes = {**self.limits.sizes, "V": VALUES, "": 1}
        return np.array([(n, m) for n, verb in enumerate(VERBS) for m in range(sizes[verb.about])], np.int32)

    @property
    def size(self) -> int:
        """A: 53 with the default limits."""
        return len(self.table)

    def first(self, verb: int) -> int:
        """The index of the first entry of a verb."""
        return int(np.flatnonzero(self.table[:, 0] == verb)[0])


class Window(struct.PyTreeNode):
    """The messages of the open channel, newest first; none where no channel is open."""

    exists: jax.Array  # [K] bool
    posts: Posts  # [K]
    waits: jax.Array  # [K] bool, for a reply
    count: jax.Array  # [] int32, posts of the channel so far
    head: jax.Array  # [] int32, the place of the oldest one that waits; -1 for none


class Situation(struct.PyTreeNode):
    """What follows from a state: the parts that legality, the turn and the observation share."""

    slot: jax.Array  # [] int32, of the day
    is_there: jax.Array  # [] bool, not on the way
    needs: jax.Array  # [J] bool, a group has to be done before it
    possible: jax.Array  # [J] bool, known, neither over nor barred nor past due
    is_on: jax.Array  # [E] bool, promised and within its slots
    window: Window


def situation(state: State, week: Agenda) -> Situation:
    """The parts that follow from a state."""
    jobs, events, time = week.jobs, week.events, state.time
    is_of_group, has_needs = jobs.group >= 0, jobs.needs >= 0
    is_begun, is_over = state.progress > 0, state.progress == jobs.length
    bit = jnp.left_shift(np.int32(1), jnp.maximum(jobs.group, 0))
    sound = bitsets.of_flags(state.sound, np.int32)
    begun = bitsets.union(bit, where=is_begun & is_of_group)
    done = bitsets.union(bit, where=is_over & is_begun & is_of_group) & sound
    others = is_of_group & ((begun & bit) != 0)
    needs = has_needs & (((done >> jnp.maximum(jobs.needs, 0)) & 1) == 0)
    return Situation(
        slot=time % SLOTS,
        is_there=state.travel_left == 0,
        needs=needs,
        possible=state.known & ~is_over & (is_begun | ~others) & (time < jobs.due),
        is_on=state.promised & (events.start <= time) & (time < events.end),
        window=window(state, week),
    )


def window(state: State, week: Agenda) -> Window:
    """The last messages of the open channel."""
    channel = state.channel
    count, handled = read((state.posted, state.handled), channel)
    places = count - 1 - np.arange(WINDOW, dtype=np.int32)
    exists = (places >= 0) & (channel >= 0)
    posts = week.feed.at(channel, places)
    is_asked = (posts.kind == QUESTION) | (posts.kind == REQUEST)
    waits = exists & is_asked & (places >= handled) & (state.time < posts.until)
    oldest = jnp.max(jnp.where(waits, np.arange(WINDOW, dtype=np.int32), NONE))
    return Window(exists=exists, posts=posts, waits=waits, count=count, head=oldest)


def attendable(state: State, week: Agenda, now: Situation) -> jax.Array:
    """[E] bool: the events that ATTEND can choose among."""
    place = week.events.place
    return now.is_on & ((place == ANYWHERE) | (now.is_there & (place == state.place)))


def legal_mask(state: State, week: Agenda, now: Situation) -> ActionMask:
    """[A] bool: the entries that the engine accepts in a live state."""
    jobs, L = week.jobs, week.travel.shape[0]
    goes = now.is_there & (np.arange(L, dtype=np.int32) != state.place)
    is_open = (jobs.opens <= now.slot) & (now.slot < jobs.closes) & (jobs.first <= state.time)
    is_here = now.is_there & ((jobs.place == ANYWHERE) | (jobs.place == state.place))
    works = now.possible & ~now.needs & is_open & is_here
    head = now.window.head
    is_request = read(now.window.posts.kind, head) == REQUEST
    replies = (head >= 0) & (~is_request | (np.arange(VALUES, dtype=np.int32) <= PROMISE + 1))
    attends = jnp.any(attendable(state, week, now))
    opens = jnp.ones(state.read.shape[0], bool)
    return concatenate_masks(goes, works, opens, replies, attends[None], jnp.ones(1, bool))
