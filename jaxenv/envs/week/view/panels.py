"""A week drawn: a calendar with what was done, the open channel under it, and a board of the work that is left."""

from collections.abc import Sequence

from jaxenv.envs.week.types import DAYS, END, SLOTS
from jaxenv.envs.week.view.snapshot import Job, Meeting, Message, ShownWeek
from jaxenv.envs.week.view.text import ENDED, MARKS, as_of, state_of
from jaxenv.envs.week.view.words import DAYS as DAY_NAMES
from jaxenv.envs.week.view.words import clock, end, span
from jaxenv.rendering.canvas import SMALL, TINY, Canvas, legend, swatch
from jaxenv.rendering.text import joined
from jaxenv.rendering.theme import ALARM, BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, PURPLE, WASH, tint

PAGE, SHARE = (800.0, 500.0), 0.56  # points, and the calendar's share of the width
HOURS, LEGEND, CHAT, HEAD = 26.0, 22.0, 84.0, 12.0  # points: width of the hours; heights of the parts
LANE = 6.0  # points, the width of what was done
DONE = {  # in a slot -> how the legend calls it, and its color
    "work": ("working", PURPLE),
    "attend": ("attending", GREEN),
    "way": ("on the way", MUTED),
    "read": ("reading", ORANGE),
    "reply": ("replying", BLUE),
    "rest": ("resting", FAINT),
}
ROW, HEADING = 9.4, 11.5  # points, heights on the board


def draw_calendar(trail: Sequence[tuple[int, str]], week: ShownWeek, canvas: Canvas) -> None:
    """The five days with what was done in each slot of the trail so far, and under them the open channel."""
    paper = canvas.part(HOURS, HEAD, canvas.width - HOURS, canvas.height - HEAD - LEGEND - CHAT - 8)
    slot, day = paper.height / SLOTS, paper.width / DAYS
    for hour in range(0, SLOTS + 1, 8):
        paper.text(-4, hour * slot, clock(hour), size=TINY, color=MUTED, align="right")
    for number, name in enumerate(DAY_NAMES):
        left, past = number * day, min(max(week.time - number * SLOTS, 0), SLOTS)
        is_today = number == min(week.time // SLOTS, DAYS - 1)
        color = INK if is_today else MUTED
        paper.text(left + day / 2, -7, name, size=SMALL, bold=is_today, color=color, align="center")
        paper.box(left + 1, 0, day - 2, past * slot, fill=WASH)
        paper.box(left + 1, 0, day - 2, paper.height, edge=FAINT, line=0.6)
        for hour in range(4, SLOTS, 4):
            paper.line((left + 1, left + day - 1), (hour * slot, hour * slot), line=0.4)
    for time, what in trail:
        if time < week.time:
            paper.box(time // SLOTS * day + 1, time % SLOTS * slot, LANE, slot, fill=DONE[what][1])
    for meeting in week.meetings:
        left = meeting.start // SLOTS * day + LANE + 3
        _draw_meeting(paper, meeting, left, meeting.start % SLOTS * slot, day - LANE - 5, slot)
    if week.time < END:
        y, left = week.time % SLOTS * slot, week.time // SLOTS * day
        paper.line((left, left + day), (y, y), color=ALARM, line=1.4)
        where = f"{span(week.travel_left)} → {week.place}" if week.travel_left else f"now at {week.place}"
        paper.text(left + LANE + 3, y + 6, where, size=TINY, color=ALARM, bold=True, width=day - LANE - 4)
    _draw_legend(canvas.part(HOURS, canvas.height - CHAT - LEGEND - 3, paper.width, LEGEND))
    _draw_channel(week, canvas.part(0, canvas.height - CHAT + 4, canvas.width, CHAT - 4))


def _draw_meeting(paper: Canvas, meeting: Meeting, left: float, top: float, width: float, slot: float) -> None:
    """A box at its time: dashed where it is asked for, filled as far as it was attended, red where it was missed."""
    length = meeting.end - meeting.start
    is_asked = meeting.status == "asked"
    color, height = {"asked": ORANGE, "missed": ALARM}.get(meeting.status, BLUE), length * slot - 1
    paper.box(left, top, width, height, fill=PAPER if is_asked else tint(color, 0.14), radius=2)
    if meeting.attended:
        paper.box(left, top, width, height * meeting.attended / length, fill=tint(GREEN, 0.3), radius=2)
    paper.box(left, top, width, height, edge=color, line=0.9, dashed=is_asked, radius=2)
    small = height < 19
    paper.text(left + 3, top + (height / 2 if small else 6), meeting.name, size=TINY, width=width - 12)
    if not small:
        words = joined(f"{meeting.points:.1f}", meeting.place or "online")
        paper.text(left + 3, top + 14, words, size=TINY, color=MUTED, width=width - 12)


def _draw_legend(canvas: Canvas) -> None:
    """What boxes and the lane beside them mean."""
    marks = [
        ("promised", swatch(fill=tint(BLUE, 0.14), edge=BLUE)),
        ("attended", swatch(fill=tint(GREEN, 0.3), edge=BLUE)),
        ("missed", swatch(fill=tint(ALARM, 0.14), edge=ALARM)),
        ("asked for", swatch(edge=ORANGE, dashed=True)),
    ]
    legend(canvas, [*marks, *((name, swatch(fill=color)) for name, color in DONE.values())], gap=7)


def _draw_channel(week: ShownWeek, canvas: Canvas) -> None:
    """Unread counts of all channels, and the messages of the open one."""
    x = 0.0
    for name, count in week.unread.items():
        is_open = name == week.channel
        words = f"{name} {count}" if count else name
        color = INK if is_open else ORANGE if count else MUTED
        used = canvas.text(x + 4, 6, words, size=SMALL, bold=bool(count) or is_open, color=color)
        canvas.box(x, 0, used + 8, 12, edge=color if is_open or count else FAINT, line=0.8, radius=3)
        x += used + 14
    if not week.channel:
        canvas.text(0, 24, "no channel is open", size=SMALL, color=MUTED)
    for row, message in enumerate(reversed(week.messages)):
        _draw_message(canvas, 18.0 + 21 * row, message, is_head=message is week.head)


def _draw_message(canvas: Canvas, y: float, message: Message, is_head: bool) -> None:
    """Who writes and what, and under it what it tells or until when it waits."""
    if is_head:
        canvas.box(0, y, canvas.width, 20, fill=tint(ORANGE, 0.12), radius=2)
    color = INK if message.kind != "chat" else MUTED
    used = canvas.text(4, y + 6, message.author, size=SMALL, bold=True, color=color, width=60)
    canvas.text(9 + used, y + 6, message.text, size=SMALL, color=color, width=canvas.width - used - 12)
    waits = f"waits until {end(message.waits)}; reply {', '.join(message.answers)}" if message.waits else ""
    told = f"the answer is {message.told}" if message.told else ""
    canvas.text(9, y + 14.5, waits or told or message.kind, size=TINY, color=MUTED, width=canvas.width - 12)


def draw_board(week: ShownWeek, canvas: Canvas) -> None:
    """Points by source, the projects with their jobs, errands, and the notebook."""
    y = _draw_points(week, canvas)
    projects = dict.fromkeys(job.project for job in week.jobs)
    for project in sorted(projects, key=lambda name: not name):
        jobs = [job for job in week.jobs if job.project == project and job.status != "barred"]
        y = _draw_jobs(canvas, y, project or "Errands", jobs, week.time)
    canvas.text(0, y + 5, "Notebook", bold=True)
    y += HEADING
    for note in week.notes[: max(int((canvas.height - y) // ROW), 1)]:
        used = canvas.text(canvas.width, y + 4, as_of(note, week.time), size=TINY, color=MUTED, align="right")
        canvas.text(6, y + 4, f"{note.question} {note.answer}", size=SMALL, width=canvas.width - used - 10)
        y += ROW
    if not week.notes:
        canvas.text(6, y + 4, "nothing", size=SMALL, color=MUTED)


def _draw_points(week: ShownWeek, canvas: Canvas) -> float:
    """A bar for each source side by side; returns the height under them."""
    width = canvas.width / len(week.points)
    for number, (source, (paid, offered)) in enumerate(week.points.items()):
        left = number * width
        canvas.text(left, 4, f"{source} {paid:.1f} of {offered:.0f}", size=TINY, color=MUTED, width=width - 6)
        canvas.bar(left, 9, width - 8, 3.5, min(max(paid / max(offered, 1), 0.0), 1.0), GREEN)
    return 18.0


def _draw_jobs(canvas: Canvas, y: float, heading: str, jobs: Sequence[Job], time: int) -> float:
    """A heading and a row for each job; returns the height under them."""
    used = canvas.text(0, y + 5, heading[:1].upper() + heading[1:], bold=True) + 6
    asks = " ".join(dict.fromkeys(job.asks for job in jobs if job.asks))
    canvas.text(used, y + 5.5, asks, size=TINY, color=MUTED, width=canvas.width - used)
    y += HEADING
    for job in jobs:
        _draw_job(canvas, y, job, time)
        y += ROW
    return y + 2


def _draw_job(canvas: Canvas, y: float, job: Job, time: int) -> None:
    """Mark, name and condition at the left, facts at the right, and the work done as a line under it."""
    is_over = job.status in ENDED
    color = {"done": GREEN, "failed": ALARM}.get(job.status, MUTED if is_over or job.status == "later" else INK)
    facts = joined(job.place or "anywhere", span(job.length), f"{job.points:.1f}") if not is_over else ""
    words = joined(facts, state_of(job, time).split(" · ")[0])
    used = canvas.text(canvas.width, y + 4, words, size=TINY, color=color if is_over else MUTED, align="right")
    canvas.text(1, y + 4, MARKS[job.status].strip(), size=SMALL, color=color, bold=True)
    name = f"{job.name}, if {job.needs}" if job.needs else job.name
    canvas.text(9, y + 4, name, size=SMALL, color=color, width=canvas.width - used - 14)
    if job.progress and not is_over:
        canvas.bar(9, y + 8, 60, 1.4, job.progress / job.length, PURPLE)
