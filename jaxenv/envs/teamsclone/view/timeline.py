"""An episode at a glance: a lane for each channel with its messages and calls, the agents' paths, and their returns.

It shows the true state of the whole workspace, even what no agent has seen, and says so.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jaxenv.envs.teamsclone.types import KINDS, PRESENCE
from jaxenv.envs.teamsclone.view.history import ANSWERED, MISSED, PENDING, History, Post
from jaxenv.envs.teamsclone.view.panels import AGENT, OUTCOMES, PRESENT, agent_color
from jaxenv.envs.teamsclone.view.snapshot import Chat, Names
from jaxenv.rendering.canvas import SMALL, TINY, Canvas, legend
from jaxenv.rendering.text import number
from jaxenv.rendering.theme import BLUE, FAINT, GREEN, MUTED, PAPER, PURPLE, WASH, tint

LABELS, MARGIN = 92.0, 8.0  # points, beside the lanes
TITLE, LEGEND, GAP = 18.0, 30.0, 5.0  # points, heights
MAX_LANE = 62.0  # points
POSTS, PATH = 0.36, 0.78  # shares of a lane's height, from its top, at which its messages and the agents in it are
BETWEEN = 2.4  # points between the paths of two agents
AXIS, HEADING, PERSON, ABOVE_RETURNS = 14.0, 15.0, 10.0, 10.0  # points, heights under the lanes
MIN_RETURNS, MAX_RETURNS = 66.0, 140.0  # points, height of the chart of returns
MAX_TICKS, TICK = 10, 8.0  # numbers of steps, and points between two of returns

DOT, RING = 2.4, 4.6  # points, radii
CALL = tint(GREEN, 0.3)
GREY, SKY = "#a3adb5", "#56b4e9"
KIND_COLORS = {"chatter": GREY, "question": BLUE, "greeting": SKY, "announcement": PURPLE, "invitation": GREEN}
"""The colors of teammates' messages; a mention is a ring."""

Scale = Callable[[float], float]  # step -> points


class Lane(NamedTuple):
    """Where a channel is drawn."""

    top: float
    height: float


def draw(history: History, chat: Chat, canvas: Canvas) -> None:
    """Lanes, teammates, returns and a legend; `chat`, the last state, is in `history` too."""
    names, agent = chat.names, chat.agent
    canvas.text(0, 5, "The whole workspace", bold=True)
    canvas.text(canvas.width, 5, "also what no agent has seen", size=SMALL, color=MUTED, align="right")
    under = AXIS + HEADING + PERSON * len(names.users) + ABOVE_RETURNS + MIN_RETURNS + LEGEND
    pitch = min((canvas.height - TITLE - under) / len(names.channels), MAX_LANE)
    lanes = [Lane(TITLE + n * pitch, pitch - GAP) for n in range(len(names.channels))]
    width, last = canvas.width - LABELS - MARGIN, max(int(history.clocks[-1]), 1)

    def x_of(step: float) -> float:
        return LABELS + MARGIN + (width - MARGIN) * (step + 1) / last

    _draw_lanes(history, names, lanes, canvas, x_of)
    _draw_paths(history, lanes, agent, canvas, x_of)
    for post in history.posts:
        _draw_post(post, history, names, agent, lanes[post.channel], canvas, x_of)
    top = TITLE + pitch * len(lanes)
    _draw_under(history, names, agent, canvas.part(0, top, canvas.width, canvas.height - LEGEND - top), x_of)
    _draw_legend(canvas, canvas.height - LEGEND + 10)


def _draw_lanes(history: History, names: Names, lanes: Sequence[Lane], canvas: Canvas, x_of: Scale) -> None:
    """The channels with their calls as bars."""
    for channel, lane in enumerate(lanes):
        canvas.box(LABELS, lane.top, canvas.width - LABELS, lane.height, fill=WASH, radius=3)
        middle = lane.top + lane.height / 2
        canvas.text(0, middle - 5, f"#{names.channels[channel]}", bold=True, width=LABELS - 8)
        canvas.text(0, middle + 5, names.teams[names.team_of[channel]], size=TINY, color=MUTED, width=LABELS - 8)
    for channel, start, end in history.calls:
        lane, stop = lanes[channel], x_of(min(end, int(history.clocks[-1]) - 1))
        canvas.box(x_of(start), lane.top + 1, stop - x_of(start), lane.height - 2, fill=CALL, radius=3)


def _draw_paths(history: History, lanes: Sequence[Lane], agent: int, canvas: Canvas, x_of: Scale) -> None:
    """The path of each agent from channel to channel, that of the viewer on top."""
    agents = history.paths.shape[1]
    x = np.repeat([x_of(clock - 1) for clock in history.clocks.tolist()], 2).tolist()
    for n in _viewer_last(history, agent):
        heights = [lane.top + PATH * lane.height + BETWEEN * (n - (agents - 1) / 2) for lane in lanes]
        y = np.repeat([heights[channel] for channel in history.paths[:, n].tolist()], 2).tolist()
        canvas.line(x, [y[0], *y[:-1]], color=agent_color(n, n == agent), line=1.9 if n == agent else 1.1)


def _draw_post(post: Post, history: History, names: Names, agent: int, lane: Lane, canvas: Canvas, x_of: Scale) -> None:
    """A message of a teammate or an agent; a mention has a line to when it was answered or missed."""
    x, y = x_of(post.step), lane.top + POSTS * lane.height
    if post.named >= 0:
        last = int(history.clocks[-1])
        outcome = history.outcome(post.place, last)
        how, end = (outcome.how, outcome.step) if outcome else (PENDING, last - 1)
        canvas.line((x, x_of(end)), (y, y), color=OUTCOMES[how], line=1.2, dashed=how != ANSWERED)
        _draw_mention(canvas, x, y, how)
    elif post.author >= names.room:
        author = post.author - names.room
        _draw_own(canvas, x, y, agent_color(author, author == agent))
    else:
        canvas.disc(x, y, DOT, fill=KIND_COLORS.get(KINDS[post.kind], GREY))


def _draw_under(history: History, names: Names, agent: int, canvas: Canvas, x_of: Scale) -> None:
    """The axis of steps, a band for each teammate, and the chart of returns."""
    last = int(history.clocks[-1])
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000) if last / n <= MAX_TICKS)
    for step in range(0, last + 1, every):
        canvas.text(x_of(step - 1), 3, str(step), size=TINY, color=MUTED, align="center")
    canvas.text(0, AXIS + 6, "Teammates", size=SMALL, bold=True)
    y = AXIS + HEADING
    for user, name in enumerate(names.users):
        canvas.text(8, y + PERSON / 2, name, size=TINY, color=MUTED, width=LABELS - 14)
        _draw_band(history.clocks.tolist(), history.presence[:, user].tolist(), canvas, y, x_of)
        y += PERSON
    _draw_returns(history, agent, canvas, y + ABOVE_RETURNS, x_of)


def _draw_band(clocks: Sequence[int], presence: Sequence[int], canvas: Canvas, y: float, x_of: Scale) -> None:
    """The presence of a teammate over time."""
    for status, run in itertools.groupby(zip(clocks, presence, strict=True), key=lambda pair: pair[1]):
        steps = [clock for clock, _ in run]
        start, end = x_of(steps[0] - 1), x_of(min(steps[-1], clocks[-1] - 1))
        color = tint(PRESENT[PRESENCE[status]], 0.75)
        canvas.box(start, y + 2.5, max(end - start, 0.5), PERSON - 5, fill=color)


def _draw_returns(history: History, agent: int, canvas: Canvas, top: float, x_of: Scale) -> None:
    """The return of each agent so far, that of the viewer on top."""
    low, high = min(0.0, float(history.returns.min())), max(1.0, float(history.returns.max()))
    height = min(canvas.height - top - 10, MAX_RETURNS)

    def y_of(value: float) -> float:
        return top + 5 + height * (high - value) / (high - low)

    canvas.text(0, top + 6, "Return", size=SMALL, bold=True)
    for value in [0.0, *(value for value in (low, high) if abs(y_of(value) - y_of(0.0)) > TICK)]:
        canvas.line((LABELS, canvas.width), (y_of(value), y_of(value)), line=0.5, color=FAINT)
        canvas.text(LABELS - 6, y_of(value), number(value, ".1f"), size=TINY, color=MUTED, align="right")
    x = [x_of(clock - 1) for clock in history.clocks.tolist()]
    for n in _viewer_last(history, agent):
        y = [y_of(value) for value in history.returns[:, n].tolist()]
        canvas.line(x, y, color=agent_color(n, n == agent), line=1.6 if n == agent else 1.0)


def _viewer_last(history: History, agent: int) -> list[int]:
    """The agents in the order of drawing, the viewer on top."""
    return sorted(range(history.paths.shape[1]), key=lambda n: n == agent)


def _draw_own(canvas: Canvas, x: float, y: float, color: str) -> None:
    """A message of an agent."""
    canvas.disc(x, y, DOT + 1.2, fill=PAPER)
    canvas.disc(x, y, DOT + 0.7, fill=color)


def _draw_mention(canvas: Canvas, x: float, y: float, how: str) -> None:
    """A mention: an open ring, filled if answered, crossed out if missed."""
    color = OUTCOMES[how]
    canvas.disc(x, y, RING, fill=PAPER)
    canvas.disc(x, y, RING - 0.7, edge=color)
    if how == ANSWERED:
        canvas.disc(x, y, DOT, fill=color)
    if how == MISSED:
        for sign in (-1, 1):
            canvas.line((x - 1.7, x + 1.7), (y - 1.7 * sign, y + 1.7 * sign), color=color, line=1.0)


def _draw_legend(canvas: Canvas, y: float) -> None:
    """The legend of the marks, on two lines from the height y on."""
    posts = [
        *((kind, lambda c, x, y, color=color: c.disc(x, y, DOT, fill=color)) for kind, color in KIND_COLORS.items()),
        ("by an agent", functools.partial(_draw_own, color=AGENT)),
        ("where agents are", lambda c, x, y: c.line((x - 5, x + 5), (y, y), color=AGENT, line=1.9)),
    ]
    others = [
        *((f"mention {how}", functools.partial(_draw_mention, how=how)) for how in (PENDING, ANSWERED, MISSED)),
        ("call", lambda c, x, y: c.box(x - 5, y - 4, 10, 8, fill=CALL, radius=2)),
        *((name, lambda c, x, y, n=name: c.box(x - 5, y - 2, 10, 4, fill=tint(PRESENT[n], 0.75))) for name in PRESENCE),
    ]
    for row, marks in enumerate((posts, others)):
        legend(canvas, marks, x=6, y=y + 13 * row, indent=11, gap=21)
