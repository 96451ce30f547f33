"""An episode at a glance: a lane for each channel with all its messages and calls, and the way of the agents.

It tells the truth about the whole workspace, also what no agent has seen, and says so.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxenv.envs.teamsclone.types import KINDS
from jaxenv.rendering.canvas import MUTED, SMALL, TINY, WASH, Canvas
from jaxenv.rendering.teamsclone import course, marks
from jaxenv.rendering.teamsclone.chat import ANSWERED, PENDING
from jaxenv.rendering.teamsclone.history import History, Post
from jaxenv.rendering.teamsclone.names import Names
from jaxenv.rendering.teamsclone.signs import FATES, agent_color

LABELS, MARGIN = 92.0, 8.0  # points, beside the lanes
TITLE, LEGEND, GAP = 18.0, 30.0, 5.0  # points, heights
MOST_LANE = 62.0  # points
BETWEEN = 2.4  # points between the ways of two agents
Scale = Callable[[float], float]


class Lane(NamedTuple):
    """Where a channel is drawn."""

    top: float
    height: float

    @property
    def posts(self) -> float:
        """The height at which its messages stand."""
        return self.top + 0.36 * self.height

    @property
    def path(self) -> float:
        """The height at which agents are."""
        return self.top + 0.78 * self.height


def draw(history: History, names: Names, agent: int, canvas: Canvas) -> None:
    """Lanes, teammates, returns, and what the marks mean."""
    canvas.text(0, 5, "The whole workspace", bold=True)
    canvas.text(canvas.width, 5, "also what no agent has seen", size=SMALL, color=MUTED, align="right")
    under = course.least_height(names) + LEGEND
    pitch = min((canvas.height - TITLE - under) / len(names.channels), MOST_LANE)
    lanes = [Lane(TITLE + n * pitch, pitch - GAP) for n in range(len(names.channels))]
    width, last = canvas.width - LABELS - MARGIN, max(int(history.clocks[-1]), 1)

    def x_of(step: float) -> float:
        return LABELS + MARGIN + (width - MARGIN) * (step + 1) / last

    _draw_lanes(history, names, lanes, canvas, x_of)
    _draw_ways(history, lanes, agent, canvas, x_of)
    for post in history.posts:
        _draw_post(post, history, names, agent, lanes[post.channel], canvas, x_of)
    top = TITLE + pitch * len(lanes)
    paper = canvas.part(0, top, canvas.width, canvas.height - LEGEND - top)
    course.draw(history, names, agent, paper, LABELS, x_of)
    marks.legend(canvas, canvas.height - LEGEND + 10)


def _draw_lanes(history: History, names: Names, lanes: Sequence[Lane], canvas: Canvas, x_of: Scale) -> None:
    """The channels with their calls as bars."""
    for number, lane in enumerate(lanes):
        canvas.box(LABELS, lane.top, canvas.width - LABELS, lane.height, fill=WASH, radius=3)
        middle = lane.top + lane.height / 2
        canvas.text(0, middle - 5, f"#{names.channels[number]}", bold=True, width=LABELS - 8)
        canvas.text(0, middle + 5, names.teams[names.team_of[number]], size=TINY, color=MUTED, width=LABELS - 8)
    for channel, start, end in history.calls:
        lane, stop = lanes[channel], x_of(min(end, int(history.clocks[-1]) - 1))
        canvas.box(x_of(start), lane.top + 1, stop - x_of(start), lane.height - 2, fill=marks.CALL, radius=3)


def _draw_ways(history: History, lanes: Sequence[Lane], agent: int, canvas: Canvas, x_of: Scale) -> None:
    """The way of each agent from channel to channel, that of the one who looks above the others."""
    agents = history.paths.shape[1]
    for number in sorted(range(agents), key=lambda number: number == agent):
        heights = [lane.path + BETWEEN * (number - (agents - 1) / 2) for lane in lanes]
        x: list[float] = []
        y: list[float] = []
        for clock, channel in zip(history.clocks.tolist(), history.paths[:, number].tolist(), strict=True):
            x += [x_of(clock - 1)] * 2
            y += [y[-1] if y else heights[channel], heights[channel]]
        is_me = number == agent
        canvas.line(x, y, color=agent_color(number, is_me), line=1.9 if is_me else 1.1)


def _draw_post(post: Post, history: History, names: Names, agent: int, lane: Lane, canvas: Canvas, x_of: Scale) -> None:
    """A message of a teammate or an agent; a mention with a line to when it was answered or missed."""
    x, y = x_of(post.step), lane.posts
    if post.named >= 0:
        last = int(history.clocks[-1])
        fate = history.fate((post.channel, post.serial), last)
        how, end = (fate.how, fate.step) if fate else (PENDING, last - 1)
        canvas.line((x, x_of(end)), (y, y), color=FATES[how], line=1.2, dashed=how != ANSWERED)
        marks.mention(canvas, x, y, how)
    elif post.author >= names.room:
        author = post.author - names.room
        marks.own(canvas, x, y, agent_color(author, author == agent))
    else:
        marks.message(canvas, x, y, KINDS[post.kind])
