"""The history of an episode: every message, how each mention ended, calls, and who was where.

This is the true state of the workspace, of which an agent sees a part.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxenv.envs.teamsclone import State, messages
from jaxenv.envs.teamsclone.types import WINDOW
from jaxenv.rendering.view import remembered

PENDING, ANSWERED, MISSED = "pending", "answered", "missed"  # a mention

Place = tuple[int, int]  # channel and serial number, from 0, of a message


class Post(NamedTuple):
    """A message."""

    channel: int
    serial: int
    step: int  # -1 for an initial message
    author: int
    kind: int
    text: int  # code
    named: int  # -1 for nobody
    is_pending: bool
    seen_by: int  # bit i: agent i
    reactions: int  # packed, see `Messages.reactions`

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.channel, self.serial


class MentionOutcome(NamedTuple):
    """How and in which step a mention ended, and which agent answered it."""

    how: str  # ANSWERED or MISSED
    step: int
    by: int  # -1 for nobody


class History(NamedTuple):
    """Several states in order.

    Attributes:
        clocks: [states] int.
        posts: every message that is in some state, in the order of steps.
        outcomes: of the mentions that ended between two states.
        calls: (channel, step in which it starts, last clock at which it runs).
        paths: [states, N] int, the channel of each agent.
        presence: [states, U] int.
        returns: [states, N] float.
    """

    clocks: np.ndarray
    posts: tuple[Post, ...]
    outcomes: Mapping[Place, MentionOutcome]
    calls: tuple[tuple[int, int, int], ...]
    paths: np.ndarray
    presence: np.ndarray
    returns: np.ndarray

    def outcome(self, place: Place, clock: int) -> MentionOutcome | None:
        """The outcome of a mention by a state, if the history shows it."""
        found = self.outcomes.get(place)
        return found if found is not None and found.step < clock else None


def history_of(states: Sequence[State]) -> History:
    """The history of states of one episode, on the host; steps between them that are left out remain largely unseen."""
    posts = {post.place: post for state in states for post in _posts(state)}
    outcomes: dict[Place, MentionOutcome] = {}
    calls: set[tuple[int, int, int]] = set()
    for was, now in itertools.pairwise(states):
        started = np.flatnonzero(now.call_end != was.call_end).tolist()
        calls |= {(channel, int(was.clock), int(now.call_end[channel])) for channel in started}
        if now.clock == was.clock + 1:
            outcomes |= dict(_ended_mentions(was, now))
    return History(
        clocks=np.array([int(state.clock) for state in states]),
        posts=tuple(sorted(posts.values(), key=lambda post: (post.step, post.channel, post.serial))),
        outcomes=outcomes,
        calls=tuple(sorted(calls)),
        paths=np.stack([state.channel for state in states]),
        presence=np.stack([state.presence for state in states]),
        returns=np.stack([state.counts.total_reward for state in states]),
    )


def _posts(state: State) -> Iterator[Post]:
    """The messages that a state keeps, oldest first in each channel."""
    return itertools.chain.from_iterable(posts_of(state))


@remembered
def posts_of(state: State) -> list[list[Post]]:
    """Channel -> the messages of it that a state keeps, oldest first; all are unpacked at once."""
    rings, words = state.messages, state.messages.words
    columns = {
        "step": rings.posted,
        "author": messages.author(words),
        "kind": messages.kind(words),
        "text": messages.text(words),
        "named": messages.named(words),
        "is_pending": messages.is_pending(words),
        "seen_by": words >> messages.SEEN,
        "reactions": rings.reactions,
    }
    rows = list(zip(*(np.asarray(column).reshape(words.size).tolist() for column in columns.values()), strict=True))
    found = []
    for channel, count in enumerate(rings.count.tolist()):
        serials = range(max(count - WINDOW, 0), count)
        places = (serial % WINDOW * len(rings.count) + channel for serial in serials)
        pairs = zip(serials, places, strict=True)
        found.append([Post(channel, serial, **dict(zip(columns, rows[place], strict=True))) for serial, place in pairs])
    return found


def _ended_mentions(was: State, now: State) -> Iterator[tuple[Place, MentionOutcome]]:
    """The mentions that a step ended: an agent's message answers the oldest one in its channel that it has seen."""
    waiting, after = [post for post in _posts(was) if post.is_pending], list(_posts(now))
    room, answered = len(was.presence), {}
    new = [post for post in after if post.serial >= was.messages.count[post.channel] and post.author >= room]
    for agent, channel in sorted((post.author - room, post.channel) for post in new):
        seen = [post for post in waiting if post.channel == channel and post.seen_by >> agent & 1]
        if seen:
            answered.setdefault(seen[0].place, agent)
    still_waiting = {post.place for post in after if post.is_pending}
    for post in waiting:
        if post.place in answered:
            yield post.place, MentionOutcome(ANSWERED, int(was.clock), answered[post.place])
        elif post.place not in still_waiting:
            yield post.place, MentionOutcome(MISSED, int(was.clock), -1)
