"""Checks of a week beyond its single fields: why it cannot be compiled, and what is rarely meant."""

from collections import Counter
from collections.abc import Iterator

from jaxenv.envs.week.types import DAYS, END, OFFERED, SLOTS, Limits
from jaxenv.envs.week.view.words import end, moment
from scenarios.document_format import over_capacity, repeated, unknown
from scenarios.text.errors import Path, Problem, named
from scenarios.week.document import SLOT, Fact, Scout, Step, Week

ABOUT = ("news", "job", "question", "request")  # fields of a post, in the order of their kinds


def problems(week: Week, limits: Limits) -> list[Problem]:
    """Why a week cannot be compiled; empty if it can."""
    return list(_over_capacity(week, limits)) or [
        *_repeated_ids(week),
        *_unknown_names(week),
        *_answers(week),
        *_times(week),
        *_posts(week),
    ]


def warnings(week: Week) -> list[Problem]:
    """Remarks on allowed but rarely intended contents: other than 100 points, and what nobody can do or know."""
    offered = offered_points(week)
    text = f"the week offers {offered / 100:g} points, expected 100, so that a return is a percentage."
    return [Problem((), text)] * (offered != OFFERED) + [*_unheard(week), *_too_late(week), *_too_long(week)]


def _unheard(week: Week) -> Iterator[Problem]:
    """Meetings, errands and facts that no post or scout tells of."""
    heard = {field: {post[field] for post in week.posts} for field in ABOUT}
    told = heard["news"] | {scout.tells for project in week.projects for scout in project.scouts}
    for n, meeting in enumerate(week.meetings):
        if not meeting.promised and meeting.id not in heard["request"]:
            yield Problem(("meetings", n), "it is not promised, and no post has it as request: nobody can attend it.")
    for n, errand in enumerate(week.errands):
        if not errand.known and errand.id not in heard["job"]:
            yield Problem(("errands", n), "it is not known, and no post has it as job: nobody can do it.")
    for path, fact in _facts(week):
        if len(fact.answers) > 1 and fact.id not in told:
            yield Problem(path, "no post has it as news, and no scout tells it: its answer can only be guessed.")


def _too_late(week: Week) -> Iterator[Problem]:
    """Questions and requests that come when no reply helps any more."""
    over = {meeting.id: meeting.at + meeting.minutes // SLOT for meeting in week.meetings}
    for n, post in enumerate(week.posts):
        until = min(week.until(post), over.get(post.request or "", END))
        if 0 < until <= post.at:
            when = f"it is written at {moment(post.at)}, and a reply helps until {end(until)}."
            yield Problem(("posts", n, "at"), f"nobody can reply in time: {when}")


def _too_long(week: Week) -> Iterator[Problem]:
    """Jobs that take longer than their hours from `begins` to `due`."""
    for path, job in week.placed_jobs():
        days = [SLOTS * day for day in range(DAYS)]
        room = sum(max(min(job.due, d + job.hours[1]) - max(job.begins, d + job.hours[0]), 0) for d in days)
        if SLOT * room < job.minutes:
            text = f"it takes {job.minutes} minutes, and of its hours from begins to due there are {SLOT * room}."
            yield Problem((*path, "minutes"), text)


def offered_points(week: Week) -> int:
    """Hundredths that a week can pay: one way of each step, and all of the rest."""
    paid = [record.points for record in (*week.meetings, *week.errands, *week.posts)]
    paid += [scout.points for project in week.projects for scout in project.scouts]
    paid += [max(way.points for way in step.ways) for step in week.steps]
    return sum(round(100 * points) for points in paid)


def _facts(week: Week) -> Iterator[tuple[Path, Fact]]:
    """The path of each step and fact."""
    yield from (*week.placed("projects", "steps"), *week.placed("facts"))


def _repeated_ids(week: Week) -> Iterator[Problem]:
    """Places, channels, meetings, projects, jobs, and facts with steps, are found by their ids."""
    for field in ("places", "channels", "meetings", "projects"):
        yield from repeated((path, record.id) for path, record in week.placed(field))
    yield from repeated((path, job.id) for path, job in week.placed_jobs())
    yield from repeated((path, fact.id) for path, fact in _facts(week))


def _unknown_names(week: Week) -> Iterator[Problem]:
    """Names of places, channels, facts, steps, errands and meetings that do not exist."""
    places = [((*path, "place"), job.place) for path, job in week.placed_jobs()]
    places += [(("meetings", n, "place"), meeting.place) for n, meeting in enumerate(week.meetings)]
    places += [(("places", n, "ways", id), id) for n, place in enumerate(week.places) for id in place.ways]
    facts = [fact.id for fact in week.all_facts if fact.answers]
    tells = [((*path, "tells"), job.tells) for path, job in week.placed_jobs() if isinstance(job, Scout)]
    after = [((*path, "after"), fact.after) for path, fact in _facts(week) if isinstance(fact, Step)]
    about = {field: [(("posts", n, field), post[field]) for n, post in enumerate(week.posts)] for field in ABOUT}
    channels = [(("posts", n, "channel"), post.channel) for n, post in enumerate(week.posts)]
    named_things = [
        ("place", places, [place.id for place in week.places]),
        ("channel", channels, [channel.id for channel in week.channels]),
        ("fact", [*tells, *about["news"], *about["question"]], facts),
        ("step", after, [step.id for step in week.steps]),
        ("errand", about["job"], [errand.id for errand in week.errands]),
        ("meeting", about["request"], [meeting.id for meeting in week.meetings]),
    ]
    for what, names, known in named_things:
        yield from unknown(what, ((path, name) for path, name in names if name is not None), known)


def _answers(week: Week) -> Iterator[Problem]:
    """Answers that their question does not have, and changes that say no time or no answer."""
    for path, fact in _facts(week):
        found = [((*path, field), fact[field]) for field in ("first", "then")]
        ways = enumerate(fact.ways if isinstance(fact, Step) else ())
        found += [((*path, "ways", n, "answer"), way.answer) for n, way in ways]
        yield from unknown("answer", ((path, name) for path, name in found if name is not None), fact.answers)
        if (fact.changes is None) != (fact.then is None):
            yield Problem(path, "expected both changes, a time, and then, an answer, or neither.")


def _times(week: Week) -> Iterator[Problem]:
    """Meetings that do not lie within a day, and jobs for which there is no time."""
    for n, meeting in enumerate(week.meetings):
        if meeting.at % SLOTS + meeting.minutes // SLOT > SLOTS:
            text = f"it begins at {moment(meeting.at)} and takes {meeting.minutes} minutes, and a day ends at 18:00."
            yield Problem(("meetings", n, "at"), text)
    for path, job in week.placed_jobs():
        if job.begins >= job.due:
            yield Problem((*path, "due"), f"expected a time after begins, {moment(job.begins)}.")


def _posts(week: Week) -> Iterator[Problem]:
    """Posts about two things, two in one slot of a channel, and what only a question or a request can have."""
    taken = Counter((post.channel, post.at) for post in week.posts)
    for n, post in enumerate(week.posts):
        path: Path = ("posts", n)
        if sum(post[field] is not None for field in ABOUT) > 1:
            yield Problem(path, f"a post is about one thing, expected one of {', '.join(ABOUT)}.")
        if post.at < 1:
            yield Problem((*path, "at"), f"expected a time from {moment(1)} on, before {moment(END)}.")
        if taken[post.channel, post.at] > 1:
            channel, time = named(post.channel), moment(post.at)
            text = f"another post of {channel} is written at {time}; expected one a quarter hour."
            yield Problem((*path, "at"), text)
        if post.points and post.question is None:
            yield Problem((*path, "points"), "only a question pays points.")
        if post.until is not None and post.question is None and post.request is None:
            yield Problem((*path, "until"), "only a question or a request waits.")


def _over_capacity(week: Week, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    busiest = max(Counter(post.channel for post in week.posts).values(), default=0)
    yield from over_capacity(("places",), "places", len(week.places), limits)
    yield from over_capacity(("channels",), "channels", len(week.channels), limits)
    yield from over_capacity(("meetings",), "events", len(week.meetings), limits)
    yield from over_capacity(("projects",), "groups", len(week.steps), limits)
    yield from over_capacity(("projects",), "jobs", len(week.jobs), limits)
    yield from over_capacity(("facts",), "facts", len(week.all_facts), limits)
    yield from over_capacity(("posts",), "posts", busiest, limits)
