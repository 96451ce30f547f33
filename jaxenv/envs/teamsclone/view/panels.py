"""The page of a chat: channels at the left, the messages of the current one, and people and statistics at the right."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from jaxenv.envs.teamsclone.dynamics import MAX_UNREAD
from jaxenv.envs.teamsclone.types import AWAY, BUSY, OFFLINE, PRESENCE
from jaxenv.envs.teamsclone.view.history import ANSWERED, MISSED, PENDING
from jaxenv.envs.teamsclone.view.snapshot import OVER, Channel, Chat, Message, Person
from jaxenv.envs.teamsclone.view.text import call_of, reactions_of, statistics, when
from jaxenv.rendering.canvas import LARGE, SMALL, TINY, Canvas
from jaxenv.rendering.theme import ALARM, BLUE, GREEN, INK, MUTED, ORANGE, PAPER, PURPLE, WASH, text_width, tint, wrap

OUTCOMES = {PENDING: ORANGE, ANSWERED: GREEN, MISSED: MUTED, OVER: MUTED}
PEOPLE = (BLUE, PURPLE, "#2a9d8f", "#c8663d", "#5b6bb5", "#8a7a2f", "#7a5c86")
AGENT = "#34495e"
PRESENT = dict.fromkeys(PRESENCE, GREEN) | {PRESENCE[BUSY]: ALARM, PRESENCE[AWAY]: ORANGE, PRESENCE[OFFLINE]: MUTED}

LIST, HEADER, FOOT = 158.0, 30.0, 34.0  # points: width of the list, heights above and under it
ROW, CALL, TEAM = 21.0, 12.0, 22.0  # points, heights in the list
BADGE = 11.0  # points, height
SIZE = 8.5  # points, text in the lists

MESSAGE = 8.8  # points, the text of a message
LEFT, RIGHT = 38.0, 12.0  # points beside the text
HEAD, LINE, PILLS = 12.5, 11.8, 16.0  # points, heights: name, a line, reactions
MIN_REST, MAX_REST = 9.0, 20.0  # points above and under the text of a message
MAX_LINES = 3
TOP = 14.0  # points, the height of the line about earlier messages
GROUND = 0.14  # share of its color in the ground of a mention
CURRENT = (PENDING, ANSWERED)  # outcomes of mentions that stand out; others are grey

PERSON, FACT = 23.0, 13.5  # points, heights of a person and of a number
CLOCK, GAP = 42.0, 20.0  # points


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


def draw_main(chat: Chat, canvas: Canvas) -> None:
    """Channels and messages."""
    _draw_list(chat, canvas.part(0, 0, LIST, canvas.height))
    left = LIST + 10
    _draw_channel_page(chat, canvas.part(left, 0, canvas.width - left, canvas.height))


def _draw_list(chat: Chat, canvas: Canvas) -> None:
    """The channels under their teams, and the viewer at the foot."""
    canvas.box(0, 0, canvas.width, canvas.height, fill=WASH, radius=7)
    y = 8.0
    for team, channels in itertools.groupby(chat.channels, key=lambda channel: channel.team):
        canvas.text(11, y + TEAM / 2, team, size=SMALL, color=MUTED, bold=True, width=canvas.width - 20)
        y += TEAM
        for channel in channels:
            y = _draw_channel(channel, canvas, y)
        y += 6
    viewer = next(person for person in chat.people if person.is_viewer)
    y = canvas.height - FOOT / 2
    canvas.line((10, canvas.width - 10), (y - FOOT / 2, y - FOOT / 2))
    avatar(canvas, 20, y, 8.5, viewer.name, AGENT)
    dot(canvas, 26.5, y + 6, viewer.presence)
    used = canvas.text(36, y, viewer.name, size=SIZE, bold=True)
    canvas.text(41 + used, y, viewer.presence, size=SMALL, color=MUTED)


def _draw_channel(channel: Channel, canvas: Canvas, y: float) -> float:
    """A channel with its badge and its call, highlighted if current; returns the height under it."""
    call = call_of(channel)
    height = ROW + CALL * bool(call)
    middle, right = y + ROW / 2, canvas.width - 12
    if channel.is_current:
        canvas.box(6, y + 1, canvas.width - 12, height - 2, fill=tint(BLUE, 0.16), radius=5)
    if channel.unread:
        right -= _draw_badge(canvas, right, middle, channel.unread) + 5
    strong = channel.is_current or channel.unread > 0
    color = BLUE if channel.is_current else INK if channel.unread else MUTED
    canvas.text(13, middle, "#", size=SIZE, color=BLUE if channel.is_current else MUTED)
    canvas.text(23, middle, channel.name, size=SIZE, color=color, bold=strong, width=right - 23)
    if call:
        _draw_call_sign(canvas, 27, middle + ROW / 2 + 2.5)
        canvas.text(34, middle + ROW / 2 + 2.5, call, size=TINY, color=GREEN, bold=True, width=canvas.width - 44)
    return y + height


def _draw_badge(canvas: Canvas, right: float, y: float, unread: int) -> float:
    """The number of unread messages in a circle, or a pill for longer numbers; returns its width."""
    count = str(unread) if unread < MAX_UNREAD else f"{MAX_UNREAD}+"
    width = max(BADGE, text_width(count, TINY, bold=True) + 6.5)
    if width > BADGE:
        pill(canvas, right - width, y, width, BADGE, fill=ALARM)
    else:
        canvas.disc(right - BADGE / 2, y, BADGE / 2, fill=ALARM)
    canvas.text(right - width / 2, y, count, size=TINY, color=PAPER, bold=True, align="center")
    return width


def _draw_call_sign(canvas: Canvas, x: float, y: float) -> None:
    """A small camera."""
    canvas.box(x - 3.5, y - 2.4, 5, 4.8, fill=GREEN, radius=1.2)
    canvas.line((x + 1.6, x + 3.6, x + 3.6, x + 1.6), (y, y - 1.9, y + 1.9, y), color=GREEN, line=0.9)


def _draw_channel_page(chat: Chat, canvas: Canvas) -> None:
    """The name of the channel and its messages."""
    channel = chat.current
    used = canvas.text(4, 11, f"# {channel.name}", size=LARGE, bold=True, width=0.6 * canvas.width)
    canvas.text(10 + used, 11.5, channel.team, size=SMALL, color=MUTED, width=0.25 * canvas.width)
    if call := call_of(channel):
        width = min(text_width(call, SMALL, bold=True) + 24, 0.45 * canvas.width)
        left = canvas.width - width
        pill(canvas, left, 11, width, 15, fill=tint(GREEN, 0.16), edge=GREEN)
        _draw_call_sign(canvas, left + 11, 11)
        canvas.text(left + 18, 11, call, size=SMALL, color=GREEN, bold=True, width=width - 22)
    canvas.line((0, canvas.width), (HEADER - 5, HEADER - 5))
    _draw_messages(chat, canvas.part(0, HEADER, canvas.width, canvas.height - HEADER))


class Block(NamedTuple):
    """A message with its text on lines."""

    message: Message
    lines: tuple[str, ...]
    rest: float = MIN_REST  # points

    @property
    def height(self) -> float:
        """Points."""
        return HEAD + LINE * len(self.lines) + PILLS * bool(self.message.reactions) + self.rest


def _draw_messages(chat: Chat, canvas: Canvas) -> None:
    """As many of the newest messages as fit, and the number of earlier ones."""
    width = canvas.width - LEFT - RIGHT
    blocks = [Block(m, tuple(wrap(m.content, width, MESSAGE, MAX_LINES))) for m in chat.messages]
    shown = _fitting(blocks, canvas.height - TOP)
    hidden = chat.earlier + len(blocks) - len(shown)
    y = canvas.height - sum(block.height for block in shown)
    if not blocks:
        canvas.text(canvas.width / 2, canvas.height / 2, "Nothing has been said here.", color=MUTED, align="center")
    if hidden:
        words = f"{hidden} earlier message{'s' * (hidden != 1)}"
        half = text_width(words, TINY) / 2 + 8
        for x in ((0, canvas.width / 2 - half), (canvas.width / 2 + half, canvas.width)):
            canvas.line(x, (y - 6, y - 6))
        canvas.text(canvas.width / 2, y - 6, words, size=TINY, color=MUTED, align="center")
    for block in shown:
        _draw_block(block, canvas, y)
        y += block.height


def _fitting(blocks: Sequence[Block], height: float) -> Sequence[Block]:
    """The newest blocks that fit into a height, in points, spread over it."""
    first = len(blocks)
    while first and sum(block.height for block in blocks[first - 1 :]) <= height:
        first -= 1
    shown = blocks[first:]
    free = height - sum(block.height for block in shown)
    rest = min(MIN_REST + free / max(len(shown), 1), MAX_REST)
    return [block._replace(rest=rest) for block in shown]


def _draw_block(block: Block, canvas: Canvas, y: float) -> None:
    """A message; the ground of one that mentions somebody has the color of its outcome."""
    message, top = block.message, y + block.rest / 2
    if message.outcome:
        _draw_ground(block, canvas, y)
    color = color_of(message.author_number, message.is_agent)
    avatar(canvas, 19, top + 10, 10, message.author, color)
    used = canvas.text(LEFT, top + 5, message.author, size=MESSAGE, bold=True, color=color, width=150)
    canvas.text(LEFT + used + 7, top + 5.4, f"{message.kind} · {when(message)}", size=SMALL, color=MUTED)
    for number, line in enumerate(block.lines):
        _draw_line(canvas, LEFT, top + HEAD + LINE * (number + 0.5), line, message)
    x, y = LEFT, top + HEAD + LINE * len(block.lines) + PILLS / 2 + 1
    for words in reactions_of(message):
        width = text_width(words, SMALL) + 12
        pill(canvas, x, y, width, 12.5, fill=tint(BLUE, 0.08), edge=tint(BLUE, 0.45))
        canvas.text(x + 6, y, words, size=SMALL, color=INK)
        x += width + 4


def _draw_ground(block: Block, canvas: Canvas, y: float) -> None:
    """The highlight of a mention: its ground, a bar if it is for the agent, and its outcome in words."""
    message = block.message
    color, is_current = OUTCOMES[message.outcome], message.outcome in CURRENT
    height = block.height - 2
    canvas.box(2, y + 1, canvas.width - 2, height, fill=tint(color, GROUND) if is_current else WASH, radius=4)
    if message.is_for_me:
        canvas.box(0, y + 1, 3, height, fill=color, radius=1.5)
    width = text_width(message.outcome, SMALL, bold=True) + 12
    left, middle = canvas.width - width - 7, y + block.rest / 2 + 5
    pill(canvas, left, middle, width, 12, fill=color if is_current else PAPER, edge=color)
    ink = PAPER if is_current else color
    canvas.text(left + width / 2, middle, message.outcome, size=SMALL, bold=True, color=ink, align="center")


def _draw_line(canvas: Canvas, x: float, y: float, line: str, message: Message) -> None:
    """A line of a message with the mention in color, all of it grey after a missed mention."""
    ink, color = (INK, BLUE) if message.outcome in ("", *CURRENT) else (MUTED, MUTED)
    before, mention, after = line.partition(message.mention) if message.mention else (line, "", "")
    canvas.text(x, y, before, size=MESSAGE, color=ink)
    if mention:
        width = text_width(mention, MESSAGE)
        left = x + text_width(before + mention, MESSAGE) - width
        canvas.box(left - 1.3, y - 5.4, width + 2.6, 11, fill=tint(color, 0.2), radius=3)
        canvas.text(left, y, mention, size=MESSAGE, color=color)
        end = text_width(before + mention + after, MESSAGE) - text_width(after.strip(), MESSAGE)
        canvas.text(x + end, y, after, size=MESSAGE, color=ink)


def draw_side(chat: Chat, canvas: Canvas) -> None:
    """The clock, the people and the statistics of the agent, as far as they fit."""
    canvas.text(0, 11, "Step", size=SIZE, bold=True)
    canvas.text(canvas.width, 11, f"{chat.clock} of {chat.time_limit}", size=SMALL, color=MUTED, align="right")
    canvas.bar(0, 21, canvas.width, 4, min(chat.clock / max(chat.time_limit, 1), 1.0), AGENT, radius=2)
    facts = statistics(chat)
    room = canvas.height - CLOCK - 12 - GAP
    fits = len(chat.people) * PERSON + len(facts) * FACT <= room
    y = _draw_people(chat.people, canvas, CLOCK, PERSON if fits else max(room / len(chat.people) / 2, 15))
    _draw_facts(chat, facts, canvas, y + GAP)


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
    canvas.text(0, y, f"So far, {chat.viewer}" if len(chat.names.agents) > 1 else "So far", size=SIZE, bold=True)
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
