"""The Week document: the types of its fields, and a week of meetings, projects, errands, questions and posts."""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from jaxenv.envs.week.actions import VERBS
from jaxenv.envs.week.types import END, MAX_LENGTH, MAX_TRAVEL, OFFERED, SLOTS, VALUES
from jaxenv.envs.week.view.words import DAYS as DAY_NAMES
from jaxenv.envs.week.view.words import clock, end, moment
from scenarios.text.records import ListOf, Name, NotEmpty, Record, expect, name_among, number_from, one_of

SLOT = 15  # minutes
DEFAULT_WAY = 15  # minutes between two places that no place tells
START = r"(0?[89]|1[0-7]):(00|15|30|45)"  # an hour at which something can begin
HOUR = rf"{START}|18:00"
TIME = rf"({'|'.join(DAY_NAMES)}) "


def slot_of_day(hour: Any) -> Any:
    """Quarter hours after 8:00 of a time of day; anything else unchanged, so that its check can refuse it.

    >>> slot_of_day("9:30"), slot_of_day("18:00"), slot_of_day("9:31")
    (6, 40, '9:31')
    """
    if not isinstance(hour, str) or not re.fullmatch(HOUR, hour):
        return hour
    hours, minutes = map(int, hour.split(":"))
    return (60 * hours + minutes) // SLOT - 8 * 60 // SLOT


def slot_of_week(time: Any, hours: str = HOUR) -> Any:
    """Quarter hours of the days from 8:00 to 18:00 before a time of the week; anything else unchanged.

    >>> slot_of_week("Tue 9:30"), slot_of_week("Fri 18:00"), slot_of_week("Sat 9:00")
    (46, 200, 'Sat 9:00')
    """
    if not isinstance(time, str) or not re.fullmatch(f"{TIME}({hours})", time):
        return time
    day, hour = time.split(" ")
    return SLOTS * DAY_NAMES.index(day) + slot_of_day(hour)


def _quarters(minutes: int) -> int:
    if minutes % SLOT:
        raise ValueError
    return minutes


def _in_order(hours: tuple[int, int]) -> tuple[int, int]:
    if hours[0] >= hours[1]:
        raise ValueError
    return hours


def _minutes(low: int, high: int) -> tuple[Any, ...]:
    """The annotations of a number of minutes, within bounds in slots."""
    what = f"minutes: a multiple of {SLOT} from {SLOT * low} to {SLOT * high}"
    return Field(ge=SLOT * low, le=SLOT * high), AfterValidator(_quarters), expect(what)


def _on_a_clock(latest: int, pattern: str, read: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The annotations of a slot that may be written in text of a pattern."""
    extra: Any = {"type": ["integer", "string"], "pattern": f"^({pattern})$"}
    return Field(ge=0, le=latest, json_schema_extra=extra), BeforeValidator(read)


def _time(latest: int, hours: str, last: str) -> tuple[Any, ...]:
    """The annotations of a time of the week, within `hours`, a pattern."""
    read = functools.partial(slot_of_week, hours=hours)
    what = f'a time such as "Tue 9:30": a day from Mon to Fri, and a quarter hour from 8:00 to {last}'
    return *_on_a_clock(latest, f"{TIME}({hours})", read), expect(what)


Time = Annotated[int, *_time(END - 1, START, "17:45")]  # 18:00 would be 8:00 of the next day
Until = Annotated[int, *_time(END, HOUR, "18:00")]
Hour = Annotated[int, *_on_a_clock(SLOTS, HOUR, slot_of_day)]
Hours = Annotated[
    tuple[Hour, Hour],
    Field(strict=False),
    AfterValidator(_in_order),
    expect('[from, to]: two quarter hours from "8:00" to "18:00", from before to'),
]
Way = Annotated[int, *_minutes(1, MAX_TRAVEL)]
Minutes = Annotated[int, *_minutes(1, MAX_LENGTH)]
Points = Annotated[float, *number_from(0, OFFERED / 100, "points: a number")]
Values = Annotated[ListOf[Name], Field(min_length=1, max_length=VALUES), expect(f"a list of 1 to {VALUES} answers")]


class Timed(Record):
    """A record with times."""

    def plain(self) -> dict[str, Any]:
        """As `Record.plain`, without what is as usual; times and hours as on a clock."""
        fields, words = type(self).model_fields, {"hours": lambda hours: [clock(slot) for slot in hours]}
        words |= dict.fromkeys(("at", "begins", "changes"), moment) | dict.fromkeys(("due", "until"), end)
        plain = {name: value for name, value in super().plain().items() if self[name] != fields[name].default}
        return {name: words[name](self[name]) if name in words else value for name, value in plain.items()}


class Action(Record):
    """What to do in the next quarter hour."""

    action_type: Annotated[str, *name_among(verb.name for verb in VERBS)]
    target: str | None = None
    """The id of a place, a job or a channel; what to reply: an answer, or yes or no."""


class Place(Record):
    """Somewhere to be; the first one is home."""

    id: Name
    """What other fields call it; no two places share one."""
    name: str = ""
    """What people call it; without one, its id."""
    ways: dict[str, Way] = Field(
        default={},
        description="Minutes from here to other places by their ids. What is left out takes as long as the way back, "
        f"or {DEFAULT_WAY} where that is left out too.",
    )


class Channel(Record):
    """Where people write."""

    id: Name
    """What posts call it; no two channels share one."""
    name: str = ""
    """What people call it; without one, its id."""


class Fact(Timed):
    """A question that has an answer at every time."""

    id: Name
    """What other fields call it; no two facts or steps share one."""
    asks: str = ""
    """The question in words; changes nothing."""
    answers: Values
    """Its possible answers."""
    first: Name | None = None
    """The right answer at first; null for the first of the list."""
    changes: Time | None = None
    """When the right answer becomes another one; null for never."""
    then: Name | None = None
    """The right answer from then on."""


class Meeting(Timed):
    """A meeting, within one day."""

    id: Name
    """What posts call it; no two meetings share one."""
    name: str = ""
    """What people call it; without one, its id."""
    at: Time
    """When it begins."""
    minutes: Minutes
    """How long it takes."""
    place: Name | None = None
    """The id of the place; null where it is online."""
    points: Points
    """What it pays, by the share that was attended."""
    promised: bool = True
    """Whether it is in the calendar from the start; otherwise a post asks for it."""


class Job(Timed):
    """Work that pays once it is done."""

    id: Name
    """What other fields call it; no two jobs share one."""
    name: str = ""
    """What people call it; without one, its id."""
    minutes: Minutes
    """How long it takes, not necessarily at a stretch."""
    place: Name | None = None
    """The id of the place; null for anywhere but on the way."""
    hours: Hours = (0, SLOTS)
    """[from, to]: when it can be worked on, every day."""
    begins: Time = 0
    """From when on it can be worked on."""
    due: Until = END
    """Until when."""
    points: Points = 0
    """What it pays when it is done."""


class Errand(Job):
    """A job of no project."""

    known: bool = True
    """Whether it is known from the start; otherwise a post tells of it."""


class Scout(Job):
    """A job that finds something out."""

    tells: Name
    """The id of the fact or step whose answer its end tells."""


class Approach(Job):
    """One way to take a step; the one that is begun bars the others."""

    answer: Name | None = None
    """With which answer, at its beginning, it succeeds; null for every one."""


class Step(Fact):
    """A part of a project: the question that it hangs on, and the ways to take it."""

    answers: Annotated[ListOf[Name], Field(max_length=VALUES), expect(f"a list of at most {VALUES} answers")] = ()
    """Its possible answers; none where it hangs on nothing."""
    after: Name | None = None
    """The id of a step that has to be done before."""
    ways: NotEmpty[Approach]
    """The jobs that take it, of which one can be done."""


class Project(Record):
    """Steps that lead somewhere."""

    id: Name
    """What it is called; no two projects share one."""
    name: str = ""
    """What people call it; without one, its id."""
    scouts: ListOf[Scout] = ()
    """Jobs that find something out."""
    steps: NotEmpty[Step]
    """Its steps."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Its scouts, then the ways of each step."""
        return (*self.scouts, *(way for step in self.steps for way in step.ways))


class Post(Timed):
    """Something that is written in a channel; a chat message where it is about nothing."""

    channel: Name
    """The id of the channel; in each one post a quarter hour at most."""
    at: Time
    """When it is written."""
    by: str = ""
    """Who writes it, for people; changes nothing."""
    says: str = ""
    """What it says, for people; changes nothing."""
    news: Name | None = None
    """The id of a fact or step: the post tells its answer of that time."""
    job: Name | None = None
    """The id of an errand that the post makes known."""
    question: Name | None = None
    """The id of a fact or step that somebody wants to know."""
    request: Name | None = None
    """The id of a meeting that somebody asks for."""
    until: Until | None = None
    """Until when a question or request waits for a reply; null for the end of the week, or the begin of the meeting."""
    points: Points = 0
    """What the right answer to a question pays; a wrong one costs a sixth."""


class Week(Record):
    """A scenario: one working week before its first quarter hour."""

    model_config = ConfigDict(title="A week of Week")

    environment: Annotated[Literal["week"], one_of(["week"])] = "week"
    """Which environment plays it."""
    id: str = ""
    """What the week is called; without one, as its file."""
    title: str = ""
    """What it is about, in a few words; changes nothing."""
    story: str = ""
    """What goes on, for people; changes nothing."""
    difficulty: Annotated[float, *number_from(0, 2)] | None = None
    """How hard it is, 0 to 1 as generated weeks are; changes nothing."""
    places: NotEmpty[Place]
    """Where one can be; the week and every day begin at the first one."""
    channels: NotEmpty[Channel]
    """Where people write."""
    meetings: ListOf[Meeting] = ()
    """What is promised, and what people will ask for."""
    projects: ListOf[Project] = ()
    """Work in steps."""
    errands: ListOf[Errand] = ()
    """Other work."""
    facts: ListOf[Fact] = ()
    """What people ask about."""
    posts: ListOf[Post] = ()
    """What is written during the week, in any order."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all projects, which are numbered in this order; their facts come before `facts`."""
        return tuple(step for project in self.projects for step in project.steps)

    @property
    def all_facts(self) -> tuple[Step | Fact, ...]:
        """What has an answer, in the order of its number."""
        return (*self.steps, *self.facts)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs in the order of their numbers: of each project the scouts, then its ways; errands last."""
        return (*(job for project in self.projects for job in project.jobs), *self.errands)

    def posts_in(self, channel: Channel) -> list[Post]:
        """The posts of a channel, in the order of their numbers: by time."""
        return sorted((post for post in self.posts if post.channel == channel.id), key=lambda post: post.at)

    def until(self, post: Post) -> int:
        """The slot from which a question or a request waits no more; 0 for other posts."""
        if post.question is None and post.request is None:
            return 0
        begin = next((meeting.at for meeting in self.meetings if meeting.id == post.request), END)
        return begin if post.until is None else post.until

    def placed_jobs(self) -> Iterator[tuple[tuple[str | int, ...], Job]]:
        """The path of each job, and the job."""
        for path, project in self.placed("projects"):
            jobs = (*project.placed("scouts"), *project.placed("steps", "ways"))
            yield from (((*path, *inner), job) for inner, job in jobs)
        yield from self.placed("errands")

    def way(self, origin: Place, target: Place) -> int:
        """Minutes from one place to another."""
        back = target.ways.get(origin.id, DEFAULT_WAY)
        return 0 if origin is target else origin.ways.get(target.id, back)
