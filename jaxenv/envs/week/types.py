"""The records of Week.

Axes: L places, C channels, E events, J jobs, G groups of jobs, F facts, P posts of a channel, K messages that a channel
shows, A actions. Capacities are in `Limits`, everything else is traced. A time is a quarter hour of the week, 0 to 199;
points are hundredths. The rules are docs/rules/week.md.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.contents import Capacities
from jaxenv.core.fields import array, last, record, widened
from jaxenv.core.params import BankParams
from jaxenv.core.printing import Compact
from jaxenv.core.types import ActionMask
from jaxenv.lowering.lookup import read_within

DAYS, SLOTS = 5, 40  # slots are quarter hours, 8:00 to 18:00
END = DAYS * SLOTS  # the time at which the week is over
NEVER = 255  # a time that does not come
HOME = 0
ANYWHERE = -1  # the place of online events, and of jobs that can be done at every place
VALUES = 4  # of a fact
WINDOW = 3  # messages that a channel shows
MAX_TRAVEL = 5  # slots
MAX_LENGTH = 12  # slots of a job or an event
OFFERED = 10_000  # hundredths of a point that a week offers at most
NONE = -1

KINDS = ("chat", "news", "job", "question", "request")
CHAT, NEWS, JOB, QUESTION, REQUEST = range(len(KINDS))

STAGES = ("untouched", "unsound", "sound", "done")  # of a group, by the job of it that was begun
UNTOUCHED, UNSOUND, SOUND, DONE = range(len(STAGES))


@dataclasses.dataclass(frozen=True)
class Limits(Capacities):
    """Capacities of a week."""

    places: int = 6
    channels: int = 6
    events: int = 20
    jobs: int = 35
    groups: int = 8
    facts: int = 16  # fact g, below the number of groups, is the one that group g hangs on
    posts: int = 32  # of a channel

    axes: ClassVar[str] = "L C E J G F P"
    greatest: ClassVar[Mapping[str, int]] = {"groups": 31}  # the bits of a set

    def __post_init__(self) -> None:
        """Refuses a capacity out of range, and groups without a fact."""
        super().__post_init__()
        if self.groups > self.facts:
            raise ValueError(f"Limits(groups={self.groups}, facts={self.facts}): each group hangs on a fact of its own")

    @property
    def sizes(self) -> dict[str, int]:
        """Axis -> capacity, and the messages that a channel shows."""
        return super().sizes | {"K": WINDOW}


class Jobs(struct.PyTreeNode):
    """Work that pays once it is done: parts of projects, and errands."""

    length: jax.Array = array("J", np.int8, 0, MAX_LENGTH, doc="slots of work, 0 where there is no job")
    place: jax.Array = array("J", np.int8, ANYWHERE, last("L"), doc="where it is done, or ANYWHERE but on the way")
    opens: jax.Array = array("J", np.int8, 0, SLOTS, doc="slot of the day from which it can be done")
    closes: jax.Array = array("J", np.int8, 0, SLOTS, doc="slot of the day from which it cannot any more")
    first: jax.Array = array("J", np.int16, 0, END, doc="time from which it can be done")
    due: jax.Array = array("J", np.int16, 0, END, doc="time from which it cannot any more")
    points: jax.Array = array("J", np.int16, 0, OFFERED, doc="hundredths, paid when it is done")
    group: jax.Array = array("J", np.int8, NONE, last("G"), doc="whose first job to be begun bars the others, or NONE")
    needs: jax.Array = array("J", np.int8, NONE, last("G"), doc="group of which a job must be done first, or NONE")
    value: jax.Array = array("J", np.int8, NONE, VALUES - 1, doc="which the group's fact must have when it is begun")
    tells: jax.Array = array("J", np.int8, NONE, last("F"), doc="fact whose value its end tells, or NONE")
    known: jax.Array = array("J", bool, doc="from the start; otherwise a post makes it known")

    @property
    def is_project(self) -> jax.Array:
        """[J] bool: part of a project, not an errand."""
        return (self.group >= 0) | (self.tells >= 0)


class Events(struct.PyTreeNode):
    """Meetings, each within one day."""

    start: jax.Array = array("E", np.int16, 0, END, doc="time")
    length: jax.Array = array("E", np.int8, 0, MAX_LENGTH, doc="slots, 0 where there is no event")
    place: jax.Array = array("E", np.int8, ANYWHERE, last("L"), doc="ANYWHERE where it is online")
    points: jax.Array = array("E", np.int16, 0, OFFERED, doc="hundredths, paid by the share that was attended")
    promised: jax.Array = array("E", bool, doc="from the start; otherwise a request asks for it")

    @property
    def end(self) -> jax.Array:
        """[E] the time at which each is over."""
        return self.start + self.length


class Facts(struct.PyTreeNode):
    """What is true: a function of the clock."""

    first: jax.Array = array("F", np.int8, 0, VALUES - 1, doc="value at first")
    then: jax.Array = array("F", np.int8, 0, VALUES - 1, doc="value from `flip` on")
    flip: jax.Array = array("F", np.int16, 0, NEVER, fill=NEVER, doc="time, NEVER for most")

    def at(self, time: jax.Array) -> jax.Array:
        """[F] the values at a time ([]), or at one for each fact ([F])."""
        return jnp.where(time < self.flip, self.first, self.then)


class Posts(struct.PyTreeNode):
    """What is posted in the channels, one a slot at most in each, sorted by time."""

    time: jax.Array = array("C P", np.int16, 1, NEVER, fill=NEVER, doc="NEVER where there is no post")
    kind: jax.Array = array("C P", np.int8, 0, len(KINDS) - 1, doc="index of KINDS")
    ref: jax.Array = array("C P", np.int8, 0, 126, doc="the fact, job or event that it is about")
    until: jax.Array = array("C P", np.int16, 0, END, doc="time from which a question or request waits no more")
    points: jax.Array = array("C P", np.int16, 0, OFFERED, doc="hundredths, of a question")


class Scenario(Compact):
    """One week as data."""

    travel: jax.Array = array("L L", np.int8, 0, MAX_TRAVEL, doc="slots from row to column, 0 where there is no way")
    jobs: Jobs = record(Jobs)
    events: Events = record(Events)
    facts: Facts = record(Facts)
    posts: Posts = record(Posts)


class Agenda(NamedTuple):
    """A scenario as the engine reads it: integers as int32; jobs and posts one by one where they lie in the bank."""

    travel: jax.Array
    jobs: Jobs
    events: Events
    facts: Facts
    scenarios: Scenario  # [S] all those of the bank
    index: jax.Array  # [] int32

    def job(self, number: jax.Array) -> Jobs:
        """One job, each field []."""
        return widened(read_within(self.scenarios.jobs, self.index, number))

    def posts(self, channel: Any, place: Any) -> Posts:
        """The posts at places of channels, of the shape that both broadcast to."""
        return widened(read_within(self.scenarios.posts, self.index, channel, place))


class State(Compact):
    """What changes during a week; the rest is looked up in `params.bank`."""

    scenario: jax.Array = array("", np.int32, 0, doc="index of the bank")
    clock: jax.Array = array("", np.int16, 0, END, doc="the present slot, the steps taken")
    place: jax.Array = array("", np.int8, 0, last("L"), doc="where one is, or is going")
    travel_left: jax.Array = array("", np.int8, 0, MAX_TRAVEL, doc="slots until one is there")
    channel: jax.Array = array("", np.int8, NONE, last("C"), fill=NONE, doc="the open one, or NONE")
    posted: jax.Array = array("C", np.int8, 0, "P", doc="posts so far")
    read: jax.Array = array("C", np.int8, 0, "P", doc="posts that were there when the channel was last open")
    handled: jax.Array = array("C", np.int8, 0, "P", doc="posts up to the last one that was replied to")
    answered: jax.Array = array("", np.int32, 0, doc="hundredths, of the questions that were answered with the truth")
    promised: jax.Array = array("E", bool, doc="in the calendar")
    attended: jax.Array = array("E", np.int8, 0, MAX_LENGTH, doc="slots")
    known: jax.Array = array("J", bool, doc="the job can be seen and done")
    progress: jax.Array = array("J", np.int8, 0, MAX_LENGTH, doc="slots of work")
    stage: jax.Array = array("G", np.int8, 0, DONE, doc="index of STAGES")
    noted: jax.Array = array("F", np.int16, NONE, fill=NONE, doc="order of its line in the notebook, or NONE")
    as_of: jax.Array = array("F", np.int16, 0, END, doc="time at which the fact had the value that was noted")


class ObservedEvents(struct.PyTreeNode):
    """The promised events that are not over, by number; zeros elsewhere."""

    exists: jax.Array = array("E", bool, doc="it is shown")
    start: jax.Array = array("E", np.int16, 0, END, doc="time")
    length: jax.Array = array("E", np.int8, 0, MAX_LENGTH, doc="slots")
    place: jax.Array = array("E", np.int8, ANYWHERE, last("L"), doc="ANYWHERE where it is online")
    points: jax.Array = array("E", np.int16, 0, OFFERED, doc="hundredths")
    attended: jax.Array = array("E", np.int8, 0, MAX_LENGTH, doc="slots so far")


class ObservedJobs(struct.PyTreeNode):
    """The known jobs that can still be done, by number; zeros elsewhere."""

    exists: jax.Array = array("J", bool, doc="it is shown")
    left: jax.Array = array("J", np.int8, 0, MAX_LENGTH, doc="slots of work")
    place: jax.Array = array("J", np.int8, ANYWHERE, last("L"), doc="or ANYWHERE")
    opens: jax.Array = array("J", np.int8, 0, SLOTS, doc="slot of the day")
    closes: jax.Array = array("J", np.int8, 0, SLOTS, doc="slot of the day")
    first: jax.Array = array("J", np.int16, 0, END, doc="time")
    due: jax.Array = array("J", np.int16, 0, END, doc="time")
    points: jax.Array = array("J", np.int16, 0, OFFERED, doc="hundredths")
    group: jax.Array = array("J", np.int8, NONE, last("G"), doc="or NONE")
    needs: jax.Array = array("J", np.int8, NONE, last("G"), doc="group that is not done yet, or NONE")
    value: jax.Array = array("J", np.int8, NONE, VALUES - 1, doc="which the group's fact must have, or NONE")
    begun: jax.Array = array("J", bool, doc="the others of its group are barred")


class ObservedMessages(struct.PyTreeNode):
    """The window of the open channel, newest first."""

    exists: jax.Array = array("K", bool, doc="the slot holds a message")
    kind: jax.Array = array("K", np.int8, 0, len(KINDS) - 1, doc="index of KINDS")
    fact: jax.Array = array("K", np.int8, NONE, last("F"), doc="of news and questions, otherwise NONE")
    value: jax.Array = array("K", np.int8, NONE, VALUES - 1, doc="of news, otherwise NONE")
    waits: jax.Array = array("K", bool, doc="for a reply")
    until: jax.Array = array("K", np.int16, 0, END, doc="time, 0 where it does not wait")


class Head(struct.PyTreeNode):
    """The message that REPLY replies to; zeros and NONE where there is none."""

    kind: jax.Array = array("", np.int8, 0, len(KINDS) - 1, doc="QUESTION, REQUEST, or 0 for none")
    fact: jax.Array = array("", np.int8, NONE, last("F"), doc="asked for, otherwise NONE")
    points: jax.Array = array("", np.int16, 0, OFFERED, doc="hundredths, of the question or the requested event")
    until: jax.Array = array("", np.int16, 0, END, doc="time")
    start: jax.Array = array("", np.int16, 0, END, doc="time of the requested event")
    length: jax.Array = array("", np.int8, 0, MAX_LENGTH, doc="slots of the requested event")
    place: jax.Array = array("", np.int8, ANYWHERE, last("L"), doc="of the requested event, or ANYWHERE")
    overlaps: jax.Array = array("", bool, doc="the requested event overlaps a promised one")


class Observation(Compact):
    """The week as its person knows it: no truth, nothing that is still to come."""

    clock: jax.Array = array("", np.int16, 0, END, doc="the present slot, the steps taken")
    place: jax.Array = array("", np.int8, 0, last("L"), doc="where one is, or is going")
    travel_left: jax.Array = array("", np.int8, 0, MAX_TRAVEL, doc="slots until one is there")
    distance: jax.Array = array("L", np.int8, 0, 2 * MAX_TRAVEL, doc="slots until one can be there")
    channel: jax.Array = array("", np.int8, NONE, last("C"), doc="the open one, or NONE")
    unread: jax.Array = array("C", np.int8, 0, "P", doc="posts since the channel was last open")
    events: ObservedEvents = record(ObservedEvents)
    jobs: ObservedJobs = record(ObservedJobs)
    messages: ObservedMessages = record(ObservedMessages)
    head: Head = record(Head)
    told: jax.Array = array("F", np.int8, NONE, VALUES - 1, doc="value in the notebook, NONE where there is none")
    age: jax.Array = array("F", np.int16, 0, END, doc="slots since the fact had that value")
    action_mask: ActionMask = array("A", bool, doc="the legal actions")


class Params(BankParams):
    """The numbers of the environment, all traced."""

    max_steps_in_episode: jax.Array  # [] int32; a week is over after END steps in any case

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"max_steps_in_episode": (1, 2**31 - 1)}

    def agenda(self, index: jax.Array) -> Agenda:
        """The scenario at an index of the bank."""
        week = self.bank[index]
        read = widened((week.travel, week.jobs, week.events, week.facts))
        return Agenda(*read, scenarios=self.bank.scenarios, index=index)
