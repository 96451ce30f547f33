"""A week, and an action, as plain text."""

from jaxenv.envs.week.types import END
from jaxenv.envs.week.view import words
from jaxenv.envs.week.view.snapshot import Job, Meeting, Message, Note, ShownWeek, observed
from jaxenv.envs.week.view.words import clock, span
from jaxenv.rendering.text import bar, joined, sections, table

BAR = 6  # characters
MARKS = {"done": "✓", "failed": "✗", "barred": "·", "late": "·", "later": " ", "open": "▸"}
MEETINGS = {"asked": "?", "promised": " "}
ENDED = {"done": "done", "failed": "failed", "barred": "another way was taken", "late": "too late"}


def title(week: ShownWeek) -> str:
    """Which week it is."""
    return week.title


def moment(week: ShownWeek) -> str:
    """How far the week has come."""
    return words.moment(week.time) if week.time < END else "the week is over"


def body(week: ShownWeek) -> str:
    """What is observed: where one is, meetings, projects with errands, the notebook, the open channel and unread ones.

    The points so far, by their source, stand under it.
    """
    week = observed(week)
    projects = list(dict.fromkeys(job.project for job in week.jobs))
    parts = {"Meetings": table(map(_meeting_row, week.meetings)) or ["none"]}
    for project in sorted(projects, key=lambda name: not name):
        rows = [_job_row(job, week.time) for job in week.jobs if job.project == project]
        asks = dict.fromkeys(job.asks for job in week.jobs if job.project == project and job.asks)
        parts[joined(f"Project: {project}" if project else "Errands", *asks)] = table(rows)
    parts["Notebook"] = table([note.question, note.answer, as_of(note, week.time)] for note in week.notes) or ["empty"]
    if week.channel:
        messages = [_message_line(message, message is week.head) for message in reversed(week.messages)]
        parts[f"Channel: {week.channel}"] = messages or ["nothing yet"]
    unread = [f"{name} {count}" for name, count in week.unread.items() if count]
    paid = [f"{source} {points:.1f}" for source, (points, _) in week.points.items()]
    unread = f"Unread: {', '.join(unread) or 'nothing'}"
    return "\n".join([whereabouts(week), *sections(parts), unread, joined("Points", *paid)])


def whereabouts(week: ShownWeek) -> str:
    """Where one is, and how far the other places are."""
    here = f"on the way to {week.place}, {span(week.travel_left)} left" if week.travel_left else f"at {week.place}"
    ways = [f"{name} {span(slots)}" for name, slots in week.distances.items() if name != week.place]
    return f"{here}; from here: {', '.join(ways)}" if ways else here


def as_of(note: Note, time: int) -> str:
    """The time of which a line of the notebook speaks."""
    return f"as of {words.moment(time - note.age)}"


def when(meeting: Meeting) -> str:
    """From when to when."""
    return f"{words.moment(meeting.start)}–{words.end(meeting.end).split(' ')[1]}"


def state_of(job: Job, time: int) -> str:
    """What there is to say of a job."""
    if job.status in ENDED:
        return ENDED[job.status]
    begins = "after the step before" if job.status == "later" else ""
    if time < job.first:
        begins = f"from {words.moment(job.first)}"
    return joined(begins, f"due {words.end(job.due)}", f"{clock(job.hours[0])}–{clock(job.hours[1])}")


def _meeting_row(meeting: Meeting) -> list[str]:
    share = f"{meeting.attended} of {meeting.end - meeting.start} quarters" if meeting.attended else ""
    return [
        MEETINGS[meeting.status],
        when(meeting),
        meeting.name,
        meeting.place or "online",
        f"{meeting.points:.1f} points",
        share or ("asked for" if meeting.status == "asked" else ""),
    ]


def _job_row(job: Job, time: int) -> list[str]:
    needs = f"if {job.needs}" if job.needs else ""
    facts = [f"{job.points:.1f} points", span(job.length), job.place or "anywhere"]
    return [MARKS[job.status], bar(job.progress, job.length, BAR), job.name, needs, *facts, state_of(job, time)]


def _message_line(message: Message, is_head: bool) -> str:
    told = f" [{message.told}]" if message.told else ""
    waits = f" (waits until {words.end(message.waits)})" if message.waits else ""
    return f"{'>' if is_head else ' '} {message.author}: {message.text}{told}{waits}"
