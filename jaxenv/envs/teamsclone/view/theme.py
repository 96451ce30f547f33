"""How people, presence and mentions look: colors, discs with an initial, dots and pills."""

from jaxenv.envs.teamsclone.types import AWAY, BUSY, OFFLINE, PRESENCE
from jaxenv.envs.teamsclone.view.history import ANSWERED, MISSED, PENDING
from jaxenv.envs.teamsclone.view.snapshot import OVER
from jaxenv.rendering.canvas import Canvas
from jaxenv.rendering.theme import ALARM, BLUE, GREEN, MUTED, ORANGE, PAPER, PURPLE, tint

OUTCOMES = {PENDING: ORANGE, ANSWERED: GREEN, MISSED: MUTED, OVER: MUTED}
PEOPLE = (BLUE, PURPLE, "#2a9d8f", "#c8663d", "#5b6bb5", "#8a7a2f", "#7a5c86")
AGENT = "#34495e"
PRESENT = dict.fromkeys(PRESENCE, GREEN) | {PRESENCE[BUSY]: ALARM, PRESENCE[AWAY]: ORANGE, PRESENCE[OFFLINE]: MUTED}


def color_of(number: int, is_agent: bool) -> str:
    """The color of a person."""
    return AGENT if is_agent else PEOPLE[number % len(PEOPLE)]


def agent_color(agent: int, is_viewer: bool) -> str:
    """The color of one of several agents: dark for the viewer."""
    return AGENT if is_viewer else tint(PEOPLE[agent % len(PEOPLE)], 0.75)


def avatar(canvas: Canvas, x: float, y: float, radius: float, name: str, color: str) -> None:
    """A disc with the initial of a name, and with the number if the name ends in one."""
    last = name.split()[-1] if name.split() else ""
    initial = name[:1].upper() + (last if last.isdigit() else "")
    size = radius * (0.95 if len(initial) == 1 else 0.8)
    canvas.disc(x, y, radius, fill=color)
    canvas.text(x, y, initial, size=size, color=PAPER, bold=True, align="center")


def dot(canvas: Canvas, x: float, y: float, presence: str) -> None:
    """A dot with a rim for the presence of a person, hollow for offline."""
    canvas.disc(x, y, 3.6, fill=PAPER)
    if presence == PRESENCE[OFFLINE]:
        canvas.disc(x, y, 2.3, edge=PRESENT[presence])
    else:
        canvas.disc(x, y, 2.7, fill=PRESENT[presence])


def pill(
    canvas: Canvas, x: float, y: float, width: float, height: float, *, fill: str, edge: str | None = None
) -> None:
    """A box with round ends, centred at height y."""
    canvas.box(x, y - height / 2, width, height, fill=fill, edge=edge, line=0.6, radius=height / 2)
