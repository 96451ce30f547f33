"""The marks of an episode's timeline: dots for messages, rings for mentions, bars for calls; and what they mean."""

from jaxenv.envs.teamsclone.types import KINDS, PRESENCE
from jaxenv.rendering.canvas import BLUE, GREEN, MUTED, PAPER, PURPLE, TINY, Canvas, text_width, tint
from jaxenv.rendering.teamsclone.chat import ANSWERED, MISSED, PENDING
from jaxenv.rendering.teamsclone.signs import AGENT, FATES, PRESENT

DOT, RING = 2.4, 4.6  # points, radii
CALL = tint(GREEN, 0.3)
GREY, SKY = "#a3adb5", "#56b4e9"
SPOKEN = {"chatter": GREY, "question": BLUE, "greeting": SKY, "announcement": PURPLE, "invitation": GREEN}
"""The colours of what teammates post; what they ask of an agent is a ring."""

COLORS = dict.fromkeys(KINDS, GREY) | SPOKEN
COLUMN = 11.0  # points between a mark and its name


def message(canvas: Canvas, x: float, y: float, kind: str) -> None:
    """A message of a teammate."""
    canvas.disc(x, y, DOT, fill=COLORS[kind])


def own(canvas: Canvas, x: float, y: float, color: str) -> None:
    """A message of an agent."""
    canvas.disc(x, y, DOT + 1.2, fill=PAPER)
    canvas.disc(x, y, DOT + 0.7, fill=color)


def mention(canvas: Canvas, x: float, y: float, how: str) -> None:
    """A mention: an open ring, filled where it was answered, crossed out where it was missed."""
    color = FATES[how]
    canvas.disc(x, y, RING, fill=PAPER)
    canvas.disc(x, y, RING - 0.7, edge=color)
    if how == ANSWERED:
        canvas.disc(x, y, DOT, fill=color)
    if how == MISSED:
        for sign in (-1, 1):
            canvas.line((x - 1.7, x + 1.7), (y - 1.7 * sign, y + 1.7 * sign), color=color, line=1.0)


def way(canvas: Canvas, x: float, y: float) -> None:
    """A piece of an agent's way."""
    canvas.line((x - 5, x + 5), (y, y), color=AGENT, line=1.9)


def call(canvas: Canvas, x: float, y: float) -> None:
    """A piece of a call."""
    canvas.box(x - 5, y - 4, 10, 8, fill=CALL, radius=2)


def legend(canvas: Canvas, y: float) -> None:
    """What the marks mean, on two lines around the height y."""
    first = [(lambda x, y, kind=kind: message(canvas, x, y, kind), kind) for kind in SPOKEN]
    first += [
        (lambda x, y: own(canvas, x, y, AGENT), "by an agent"),
        (lambda x, y: way(canvas, x, y), "where agents are"),
    ]
    hows = (PENDING, ANSWERED, MISSED)
    second = [(lambda x, y, how=how: mention(canvas, x, y, how), f"mention {how}") for how in hows]
    second += [(lambda x, y: call(canvas, x, y), "call")]
    second += [
        (lambda x, y, color=PRESENT[name]: canvas.box(x - 5, y - 2, 10, 4, fill=tint(color, 0.75)), name)
        for name in PRESENCE
    ]
    for row, entries in enumerate((first, second)):
        x = 6.0
        for draw, name in entries:
            draw(x, y + 13 * row)
            canvas.text(x + COLUMN, y + 13 * row, name, size=TINY, color=MUTED)
            x += COLUMN + text_width(name, TINY) + 20
