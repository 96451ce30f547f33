"""How people, presence and mentions are marked: colours, discs with an initial, dots and pills."""

from jaxenv.envs.teamsclone.types import AWAY, BUSY, OFFLINE, PRESENCE
from jaxenv.rendering.canvas import ALARM, BLUE, GREEN, MUTED, ORANGE, PAPER, PURPLE, Canvas, tint
from jaxenv.rendering.teamsclone.chat import ANSWERED, MISSED, OVER, PENDING

FATES = {PENDING: ORANGE, ANSWERED: GREEN, MISSED: MUTED, OVER: MUTED}
PEOPLE = (BLUE, PURPLE, "#2a9d8f", "#c8663d", "#5b6bb5", "#8a7a2f", "#7a5c86")
AGENT = "#34495e"
HOLLOW = {PRESENCE[OFFLINE]}
PRESENT = dict.fromkeys(PRESENCE, GREEN) | {PRESENCE[BUSY]: ALARM, PRESENCE[AWAY]: ORANGE, PRESENCE[OFFLINE]: MUTED}


def color_of(number: int, is_agent: bool) -> str:
    """The colour of a person."""
    return AGENT if is_agent else PEOPLE[number % len(PEOPLE)]


def agent_color(agent: int, is_me: bool) -> str:
    """The colour of an agent among others: dark for the one who looks."""
    return AGENT if is_me else tint(PEOPLE[agent % len(PEOPLE)], 0.75)


def avatar(canvas: Canvas, x: float, y: float, radius: float, name: str, color: str) -> None:
    """A disc with the initial of a name, and the number where the name ends in one."""
    last = name.split()[-1] if name.split() else ""
    initial = name[:1].upper() + (last if last.isdigit() else "")
    canvas.disc(x, y, radius, fill=color)
    canvas.text(
        x, y, initial, size=radius * (0.95 if len(initial) == 1 else 0.8), color=PAPER, bold=True, align="center"
    )


def dot(canvas: Canvas, x: float, y: float, presence: str) -> None:
    """A dot for someone's presence, hollow for who is offline, with a rim that sets it off."""
    canvas.disc(x, y, 3.6, fill=PAPER)
    color = PRESENT[presence]
    if presence in HOLLOW:
        canvas.disc(x, y, 2.3, edge=color)
    else:
        canvas.disc(x, y, 2.7, fill=color)


def pill(
    canvas: Canvas, x: float, y: float, width: float, height: float, *, fill: str, edge: str | None = None
) -> None:
    """A box with round ends around the height y."""
    canvas.box(x, y - height / 2, width, height, fill=fill, edge=edge, line=0.6, radius=height / 2)
