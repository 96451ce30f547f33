"""People and statistics: the right side of the page of a chat."""

from collections.abc import Sequence

from jaxenv.envs.teamsclone.view.snapshot import Chat, Person
from jaxenv.envs.teamsclone.view.text import statistics
from jaxenv.envs.teamsclone.view.theme import AGENT, avatar, color_of, dot
from jaxenv.rendering.canvas import SMALL, Canvas
from jaxenv.rendering.theme import GREEN, INK, MUTED, ORANGE

ROW, FACT = 23.0, 13.5  # points, heights of a person and of a number
CLOCK, GAP = 42.0, 20.0  # points
SIZE = 8.5  # points


def draw(chat: Chat, canvas: Canvas) -> None:
    """The clock, the people and the statistics of the agent, as far as they fit."""
    _draw_clock(chat, canvas)
    facts = statistics(chat)
    room = canvas.height - CLOCK - 12 - GAP
    fits = len(chat.people) * ROW + len(facts) * FACT <= room
    y = _draw_people(chat.people, canvas, CLOCK, ROW if fits else max(room / len(chat.people) / 2, 15))
    _draw_facts(chat, facts, canvas, y + GAP)


def _draw_clock(chat: Chat, canvas: Canvas) -> None:
    """How far the episode has come."""
    canvas.text(0, 11, "Step", size=SIZE, bold=True)
    canvas.text(canvas.width, 11, f"{chat.clock} of {chat.time_limit}", size=SMALL, color=MUTED, align="right")
    canvas.bar(0, 21, canvas.width, 4, min(chat.clock / max(chat.time_limit, 1), 1.0), AGENT, radius=2)


def _draw_people(people: Sequence[Person], canvas: Canvas, y: float, row: float) -> float:
    """Everybody with a dot for their presence; returns the height under them."""
    canvas.text(0, y, "People", size=SIZE, bold=True)
    y += 12
    radius = min(8.5, row / 2 - 1.5)
    for person in people:
        middle = y + row / 2
        avatar(canvas, 9, middle, radius, person.name, color_of(person.number, person.is_agent))
        dot(canvas, 9 + 0.75 * radius, middle + 0.7 * radius, person.presence)
        used = canvas.text(canvas.width, middle, person.presence, size=SMALL, color=MUTED, align="right")
        name = f"{person.name} (you)" if person.is_viewer else person.name
        canvas.text(24, middle, name, size=SIZE, bold=person.is_viewer, width=canvas.width - 30 - used)
        y += row
    return y


def _draw_facts(chat: Chat, facts: Sequence[tuple[str, str]], canvas: Canvas, y: float) -> None:
    """The statistics so far, the return first."""
    canvas.text(0, y, f"So far, {chat.viewer}" if chat.num_agents > 1 else "So far", size=SIZE, bold=True)
    (_, total), *rest = facts
    canvas.text(canvas.width, y, f"return {total}", size=SIZE, bold=True, align="right")
    y += 14
    for name, value in rest:
        if y > canvas.height - FACT / 2:
            return
        canvas.text(0, y, name, size=SMALL, color=MUTED)
        color = {"answered": GREEN, "missed": ORANGE}.get(name, INK) if value != "0" else INK
        canvas.text(canvas.width, y, value, size=SMALL, align="right", color=color, bold=color != INK)
        y += FACT
