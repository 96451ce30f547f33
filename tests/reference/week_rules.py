"""The constants of docs/rules/week.md, the records of a scenario, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

DAYS, SLOTS = 5, 40
TURNS = DAYS * SLOTS
VALUES = 4  # of a fact
GROUPS = 8
SHOWN = 3  # the last posts of a channel
NOTEBOOK = 1  # lines
HUNDREDTHS = 100  # of a point

KINDS = CHAT, NEWS, JOB, QUESTION, REQUEST = range(5)

WEIGHTS = {
    "meetings": 1.0,
    "missed": -1 / 2,
    "errands": 1.0,
    "projects": 1.0,
    "answers": 1.0,
    "wrong": -1 / 6,
}
PARTS = tuple(WEIGHTS)


class Job(NamedTuple):
    """Work at a place within hours; of a group of alternatives, or alone."""

    length: int  # 0 for no job
    place: int  # -1 is anywhere
    opens: int
    closes: int
    first: int
    due: int
    points: int
    group: int  # -1 for none, so are the next three
    needs: int
    value: int
    tells: int
    known: bool

    @property
    def part(self) -> str:
        """The part of the reward that it pays into."""
        return "projects" if self.group >= 0 or self.tells >= 0 else "errands"


class Event(NamedTuple):
    """A meeting."""

    start: int
    length: int
    place: int  # -1 is online
    points: int
    promised: bool

    @property
    def end(self) -> int:
        """The first slot after it."""
        return self.start + self.length

    def overlaps(self, other: Event) -> bool:
        """Whether some slot belongs to both."""
        return self.start < other.end and other.start < self.end


class Fact(NamedTuple):
    """A fact that may change once."""

    first: int
    then: int
    flip: int

    def at(self, t: int) -> int:
        """The value at clock t."""
        return self.first if t < self.flip else self.then


class Post(NamedTuple):
    """A message of a channel."""

    time: int
    kind: int
    ref: int  # the fact of news and questions, the job, or the event of a request
    until: int
    points: int

    @property
    def asks(self) -> bool:
        """Whether it is a question or a request."""
        return self.kind in (QUESTION, REQUEST)

    def waits(self, t: int) -> bool:
        """Whether it asks, and still waits at clock t."""
        return self.asks and t < self.until


class Scenario(NamedTuple):
    """A week, as records."""

    travel: list[list[int]]
    jobs: list[Job]
    events: list[Event]
    facts: list[Fact]
    posts: list[list[Post]]  # by channel


R = TypeVar("R")


def read_scenario(tables: Mapping[str, Any]) -> Scenario:
    """The records of a scenario that is given as tables of columns."""
    posts = tables["posts"]
    channels = [{name: posts[name][channel] for name in Post._fields} for channel in range(len(posts["time"]))]
    return Scenario(
        travel=tables["travel"],
        jobs=[job._replace(known=bool(job.known)) for job in _rows(Job, tables["jobs"])],
        events=[event._replace(promised=bool(event.promised)) for event in _rows(Event, tables["events"])],
        facts=_rows(Fact, tables["facts"]),
        posts=[_rows(Post, columns) for columns in channels],
    )


def _rows(record: type[R], columns: Mapping[str, list[int]]) -> list[R]:
    return [record(*row) for row in zip(*(columns[name] for name in record.__annotations__), strict=True)]


def read_weights(weights: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of every part: the page's own where none is given."""
    table = {**WEIGHTS, **(weights or {})}
    if set(table) != set(PARTS):
        raise ValueError(f"no parts of the reward: {sorted(set(table) - set(PARTS))}")
    return table
