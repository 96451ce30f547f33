"""What a step did, in lines: answers, messages, calls, comings and goings, and mentions that were missed."""

from collections.abc import Iterator

from jaxenv.rendering.teamsclone.chat import ANSWERED, MISSED, Chat
from jaxenv.rendering.teamsclone.history import Fate, History, Post
from jaxenv.rendering.teamsclone.names import Names


def told(was: Chat, now: Chat, history: History, names: Names, agent: int) -> list[str]:
    """What an agent sees of a step.

    Args:
        was: the chat.
        now: the chat one step later.
        history: of these two states.
        names: of the workspace.
        agent: whose eyes these are.
    """
    posts = {(post.channel, post.serial): post for post in history.posts}
    ended = [(posts[place], fate) for place, fate in history.fates.items() if fate.step == was.clock]
    lines = [*_answers(ended, names, now, agent, was.clock), *_messages(was, now), *_unread(was, now)]
    return [*lines, *_calls(was, now), *_presence(was, now), *_missed(ended, names, agent), *_end(now)]


def _answers(ended: list[tuple[Post, Fate]], names: Names, now: Chat, agent: int, clock: int) -> Iterator[str]:
    """Mentions that the agent has answered, wherever, and those that others have answered under its eyes."""
    for post, fate in ended:
        is_shown = fate.by == agent or post.channel == now.current.number
        if fate.how == ANSWERED and is_shown:
            age = clock - post.step
            waited = f"after {age} steps" if age != 1 else "after one step"
            where = f"{names.author(post.author)} in #{names.channels[post.channel]}"
            yield f"answered: {where}, {waited}, by {names.agent(fate.by)}"


def _messages(was: Chat, now: Chat) -> Iterator[str]:
    """What others have posted in the channel that the agent is in after the step, and what it finds there."""
    if was.current.number != now.current.number:
        unread = was.channels[now.current.number].unread
        yield f"found: {unread or 'nothing'} unread in #{now.current.name}"
    for message in now.messages:
        if message.step == now.clock and not message.is_own:
            yield f"{message.author}: {message.content}"


def _unread(was: Chat, now: Chat) -> Iterator[str]:
    """Channels in which more is unread."""
    more = [
        f"#{after.name} {after.unread}"
        for before, after in zip(was.channels, now.channels, strict=True)
        if after.unread > before.unread
    ]
    if more:
        yield f"unread: {', '.join(more)}"


def _calls(was: Chat, now: Chat) -> Iterator[str]:
    """Calls that began and ended."""
    for before, after in zip(was.channels, now.channels, strict=True):
        if after.has_call != before.has_call:
            yield f"call {'starts' if after.has_call else 'ends'}: #{after.name}"


def _presence(was: Chat, now: Chat) -> Iterator[str]:
    """Teammates who came and went."""
    for before, after in zip(was.people, now.people, strict=True):
        if after.presence != before.presence and not after.is_me:
            yield f"{after.name} is {after.presence}"


def _missed(ended: list[tuple[Post, Fate]], names: Names, agent: int) -> Iterator[str]:
    """Mentions of the agent that nobody has answered; of one that it has not seen it does not learn whose it was."""
    for post, fate in ended:
        if fate.how == MISSED and post.named == agent:
            is_seen = post.seen_by >> agent & 1
            place = f"{names.author(post.author)} in #{names.channels[post.channel]}"
            yield f"missed: {place}" if is_seen else "missed: a mention that was not seen"


def _end(now: Chat) -> Iterator[str]:
    """Why it ended."""
    if now.outcome:
        yield f"end: {now.outcome}"
