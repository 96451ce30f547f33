"""The messages of a channel, the newest at the bottom: who, when, what, whom they mention, and reactions."""

import dataclasses
from collections.abc import Sequence

from jaxenv.rendering.canvas import BLUE, INK, MUTED, PAPER, SMALL, TINY, WASH, Canvas, text_width, tint, wrapped
from jaxenv.rendering.teamsclone.chat import ANSWERED, PENDING, Chat, Message
from jaxenv.rendering.teamsclone.signs import FATES, avatar, color_of, pill
from jaxenv.rendering.teamsclone.text import reactions_of, when

SIZE = 8.8  # points, of what is said
LEFT, RIGHT = 38.0, 12.0  # points beside the words
HEAD, LINE, PILLS = 12.5, 11.8, 16.0  # points, heights: name, a line, reactions
LEAST_REST, MOST_REST = 9.0, 20.0  # points above and under the words of a message
MOST_LINES = 3
TOP = 14.0  # points, of what tells of earlier messages
CLEAR = 0.14  # how much of its colour is in the ground of a mention
GROUNDS = {PENDING: CLEAR, ANSWERED: CLEAR}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A message with its words on lines."""

    message: Message
    lines: tuple[str, ...]
    rest: float = LEAST_REST  # points

    @property
    def height(self) -> float:
        """Points."""
        return HEAD + LINE * len(self.lines) + PILLS * bool(self.message.reactions) + self.rest


def draw(chat: Chat, canvas: Canvas) -> None:
    """As many of the newest messages as there is room for, and how many there are beside them."""
    width = canvas.width - LEFT - RIGHT
    entries = [Entry(m, tuple(wrapped(m.content, width, SIZE, MOST_LINES))) for m in chat.messages]
    shown = _fitting(entries, canvas.height - TOP)
    hidden = chat.earlier + len(entries) - len(shown)
    y = canvas.height - sum(entry.height for entry in shown)
    if not entries:
        canvas.text(canvas.width / 2, canvas.height / 2, "Nothing has been said here.", color=MUTED, align="center")
    if hidden:
        words = f"{hidden} earlier message{'s' * (hidden != 1)}"
        half = text_width(words, TINY) / 2 + 8
        for x in ((0, canvas.width / 2 - half), (canvas.width / 2 + half, canvas.width)):
            canvas.line(x, (y - 6, y - 6))
        canvas.text(canvas.width / 2, y - 6, words, size=TINY, color=MUTED, align="center")
    for entry in shown:
        _draw_entry(entry, canvas, y)
        y += entry.height


def _fitting(entries: Sequence[Entry], room: float) -> Sequence[Entry]:
    """The newest entries that fit into some points, spread over what is left of them."""
    first = len(entries)
    while first and sum(entry.height for entry in entries[first - 1 :]) <= room:
        first -= 1
    shown = entries[first:]
    free = room - sum(entry.height for entry in shown)
    rest = min(LEAST_REST + free / max(len(shown), 1), MOST_REST)
    return [dataclasses.replace(entry, rest=rest) for entry in shown]


def _draw_entry(entry: Entry, canvas: Canvas, y: float) -> None:
    """A message, on ground in the colour of how it stands where it mentions somebody."""
    message = entry.message
    _draw_ground(entry, canvas, y)
    color = color_of(message.by, message.is_agent)
    top = y + entry.rest / 2
    avatar(canvas, 19, top + 10, 10, message.author, color)
    used = canvas.text(LEFT, top + 5, message.author, size=SIZE, bold=True, color=color, width=150)
    said = f"{message.kind} · {when(message)}"
    canvas.text(LEFT + used + 7, top + 5.4, said, size=SMALL, color=MUTED)
    for number, line in enumerate(entry.lines):
        _draw_line(canvas, LEFT, top + HEAD + LINE * (number + 0.5), line, message)
    if message.reactions:
        _draw_reactions(canvas, LEFT, top + HEAD + LINE * len(entry.lines) + PILLS / 2 + 1, reactions_of(message))


def _draw_ground(entry: Entry, canvas: Canvas, y: float) -> None:
    """What sets a mention off: its ground, a bar where it is for the agent, and how it stands in words."""
    message = entry.message
    if not message.fate:
        return
    color = FATES[message.fate]
    height = entry.height - 2
    fill = tint(color, GROUNDS[message.fate]) if message.fate in GROUNDS else WASH
    canvas.box(2, y + 1, canvas.width - 2, height, fill=fill, radius=4)
    if message.is_for_me:
        canvas.box(0, y + 1, 3, height, fill=color, radius=1.5)
    width = text_width(message.fate, SMALL, bold=True) + 12
    left, middle = canvas.width - width - 7, y + entry.rest / 2 + 5
    pill(canvas, left, middle, width, 12, fill=color if message.fate in GROUNDS else PAPER, edge=color)
    ink = PAPER if message.fate in GROUNDS else color
    canvas.text(left + width / 2, middle, message.fate, size=SMALL, bold=True, color=ink, align="center")


def _draw_line(canvas: Canvas, x: float, y: float, line: str, message: Message) -> None:
    """A line of a message, the mention in it in colour, all of it grey where it is over."""
    ink, name = (INK, BLUE) if message.fate in ("", *GROUNDS) else (MUTED, MUTED)
    before, mention, after = line.partition(message.mention) if message.mention else (line, "", "")
    canvas.text(x, y, before, size=SIZE, color=ink)
    if mention:
        left = x + text_width(before + mention, SIZE) - text_width(mention, SIZE)
        width = text_width(mention, SIZE)
        canvas.box(left - 1.3, y - 5.4, width + 2.6, 11, fill=tint(name, 0.2), radius=3)
        canvas.text(left, y, mention, size=SIZE, color=name)
        end = text_width(before + mention + after, SIZE) - text_width(after.strip(), SIZE)
        canvas.text(x + end, y, after, size=SIZE, color=ink)


def _draw_reactions(canvas: Canvas, x: float, y: float, reactions: Sequence[str]) -> None:
    """Reactions as pills, side by side."""
    for said in reactions:
        width = text_width(said, SMALL) + 12
        pill(canvas, x, y, width, 12.5, fill=tint(BLUE, 0.08), edge=tint(BLUE, 0.45))
        canvas.text(x + 6, y, said, size=SMALL, color=INK)
        x += width + 4
