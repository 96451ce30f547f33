"""The page of a chat: the list of channels at the left, the messages of the current one beside it."""

import itertools

from jaxenv.envs.teamsclone.dynamics import MOST_UNREAD
from jaxenv.rendering.canvas import (
    ALARM,
    BLUE,
    GREEN,
    INK,
    LARGE,
    MUTED,
    PAPER,
    SMALL,
    TINY,
    WASH,
    Canvas,
    text_width,
    tint,
)
from jaxenv.rendering.teamsclone import stream
from jaxenv.rendering.teamsclone.chat import Channel, Chat
from jaxenv.rendering.teamsclone.signs import AGENT, avatar, dot, pill
from jaxenv.rendering.teamsclone.text import call_of

LIST, HEADER, FOOT = 158.0, 30.0, 34.0  # points: width of the list, heights of what is above and under it
ROW, CALL, TEAM = 21.0, 12.0, 22.0  # points, heights in the list
BADGE = 11.0  # points, height
SIZE = 8.5  # points


def draw(chat: Chat, canvas: Canvas) -> None:
    """Channels and messages."""
    _draw_list(chat, canvas.part(0, 0, LIST, canvas.height))
    left = LIST + 10
    _draw_room(chat, canvas.part(left, 0, canvas.width - left, canvas.height))


def _draw_list(chat: Chat, canvas: Canvas) -> None:
    """The channels under their teams, and at the foot who looks."""
    canvas.box(0, 0, canvas.width, canvas.height, fill=WASH, radius=7)
    y = 8.0
    for team, channels in itertools.groupby(chat.channels, key=lambda channel: channel.team):
        canvas.text(11, y + TEAM / 2, team, size=SMALL, color=MUTED, bold=True, width=canvas.width - 20)
        y += TEAM
        for channel in channels:
            y = _draw_channel(channel, canvas, y)
        y += 6
    me = next(person for person in chat.people if person.is_me)
    y = canvas.height - FOOT / 2
    canvas.line((10, canvas.width - 10), (y - FOOT / 2, y - FOOT / 2))
    avatar(canvas, 20, y, 8.5, me.name, AGENT)
    dot(canvas, 26.5, y + 6, me.presence)
    used = canvas.text(36, y, me.name, size=SIZE, bold=True)
    canvas.text(41 + used, y, me.presence, size=SMALL, color=MUTED)


def _draw_channel(channel: Channel, canvas: Canvas, y: float) -> float:
    """A channel, highlighted where the agent is, with its badge and its call; where the next one begins."""
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
    """How much is unread, in a filled circle that grows longer with its number; its width."""
    said = str(unread) if unread < MOST_UNREAD else f"{MOST_UNREAD}+"
    width = max(BADGE, text_width(said, TINY, bold=True) + 6.5)
    if width > BADGE:
        pill(canvas, right - width, y, width, BADGE, fill=ALARM)
    else:
        canvas.disc(right - BADGE / 2, y, BADGE / 2, fill=ALARM)
    canvas.text(right - width / 2, y, said, size=TINY, color=PAPER, bold=True, align="center")
    return width


def _draw_call_sign(canvas: Canvas, x: float, y: float) -> None:
    """A small camera."""
    canvas.box(x - 3.5, y - 2.4, 5, 4.8, fill=GREEN, radius=1.2)
    canvas.line((x + 1.6, x + 3.6, x + 3.6, x + 1.6), (y, y - 1.9, y + 1.9, y), color=GREEN, line=0.9)


def _draw_room(chat: Chat, canvas: Canvas) -> None:
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
    stream.draw(chat, canvas.part(0, HEADER, canvas.width, canvas.height - HEADER))
