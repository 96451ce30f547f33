"""What the states of one episode tell together: every message, how each mention ended, calls, and who was where.

This is the truth about the workspace, of which an agent sees a part.
"""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from jaxenv.envs.teamsclone import State, messages
from jaxenv.envs.teamsclone.types import WINDOW
from jaxenv.rendering.teamsclone.chat import ANSWERED, MISSED

Place = tuple[int, int]  # channel and serial number, from 0, of a message


@dataclasses.dataclass(frozen=True)
class Post:
    """A message."""

    channel: int
    serial: int
    step: int  # -1 for one that was there at first
    author: int
    kind: int
    named: int  # -1 for nobody
    seen_by: int  # bit i: agent i


@dataclasses.dataclass(frozen=True)
class Fate:
    """How and in which step a mention ended; by the agents that answered it in that step, else nobody."""

    how: str  # ANSWERED or MISSED
    step: int
    by: int  # -1 for nobody


@dataclasses.dataclass(frozen=True)
class History:
    """Several states in order.

    Attributes:
        clocks: [states] int.
        posts: every message that is known of, in the order of steps.
        fates: of the mentions that ended between two states.
        calls: (channel, step in which it starts, last clock at which it runs).
        paths: [states, N] int, the channel of each agent.
        presence: [states, U] int.
        returns: [states, N] float.
    """

    clocks: np.ndarray
    posts: tuple[Post, ...]
    fates: Mapping[Place, Fate]
    calls: tuple[tuple[int, int, int], ...]
    paths: np.ndarray
    presence: np.ndarray
    returns: np.ndarray

    def fate(self, place: Place, clock: int) -> Fate | None:
        """How a mention has ended by a state, where that is known."""
        found = self.fates.get(place)
        return found if found is not None and found.step < clock else None


def history_of(states: Sequence[State]) -> History:
    """The history of states of one episode, on the host; of steps between them that are left out little is known."""
    posts = {(post.channel, post.serial): post for state in states for post in posts_of(state)}
    fates: dict[Place, Fate] = {}
    for was, now in itertools.pairwise(states):
        if now.clock == was.clock + 1:
            fates |= dict(_ended(was, now))
    calls = {
        (channel, start, end) for was, now in itertools.pairwise(states) for channel, start, end in _calls(was, now)
    }
    return History(
        clocks=np.array([int(state.clock) for state in states]),
        posts=tuple(sorted(posts.values(), key=lambda post: (post.step, post.channel, post.serial))),
        fates=fates,
        calls=tuple(sorted(calls)),
        paths=np.stack([state.channel for state in states]),
        presence=np.stack([state.presence for state in states]),
        returns=np.stack([state.counts.total_reward for state in states]),
    )


def posts_of(state: State) -> Iterator[Post]:
    """The messages that stand in the channels of a state, oldest first in each."""
    rings = state.messages
    for channel, count in enumerate(rings.count.tolist()):
        for serial in range(max(count - WINDOW, 0), count):
            word = rings.words[serial % WINDOW, channel]
            yield Post(
                channel=channel,
                serial=serial,
                step=int(rings.posted[serial % WINDOW, channel]),
                author=int(messages.author(word)),
                kind=int(messages.kind(word)),
                named=int(messages.named(word)),
                seen_by=int(word) >> messages.SEEN,
            )


def is_pending(state: State, place: Place) -> bool:
    """Whether a mention stands in its channel and waits for an answer."""
    channel, serial = place
    if not state.messages.count[channel] - WINDOW <= serial < state.messages.count[channel]:
        return False
    return bool(messages.is_pending(state.messages.words[serial % WINDOW, channel]))


def _ended(was: State, now: State) -> Iterator[tuple[Place, Fate]]:
    """The mentions that pend before a step and not after it: an agent's message answers the oldest it has seen."""
    waiting = [post for post in posts_of(was) if is_pending(was, (post.channel, post.serial))]
    room, answered = len(was.presence), {}
    new = [post for post in posts_of(now) if post.serial >= was.messages.count[post.channel] and post.author >= room]
    for agent, channel in sorted((post.author - room, post.channel) for post in new):
        seen = [post for post in waiting if post.channel == channel and post.seen_by >> agent & 1]
        if seen:
            answered.setdefault((channel, seen[0].serial), agent)
    for place in ((post.channel, post.serial) for post in waiting):
        if place in answered:
            yield place, Fate(ANSWERED, int(was.clock), answered[place])
        elif not is_pending(now, place):
            yield place, Fate(MISSED, int(was.clock), -1)


def _calls(was: State, now: State) -> Iterator[tuple[int, int, int]]:
    """Calls that started between two states."""
    for channel in np.flatnonzero(now.call_end != was.call_end).tolist():
        yield channel, int(was.clock), int(now.call_end[channel])
