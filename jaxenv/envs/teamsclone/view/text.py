"""A chat, actions, and the effects of a step, as plain text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxenv.envs.teamsclone import Scenario, State, actions
from jaxenv.envs.teamsclone.actions import Catalogue
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, PRESENCE
from jaxenv.envs.teamsclone.view.history import ANSWERED, MISSED, PENDING, History, MentionOutcome, Post, posts_of
from jaxenv.envs.teamsclone.view.snapshot import Channel, Chat, Message, Names, Person
from jaxenv.rendering.text import joined, number, sections, table
from jaxenv.rendering.view import meaning

HERE, ELSEWHERE = "▸", " "  # before the channel that the agent is in, and before others
WAITING = "●"  # before a mention that waits for an answer
INVALID = {
    actions.EMPTY_MESSAGE: "send an empty message",
    actions.UNKNOWN_CHANNEL: "go to an unknown channel",
    actions.MALFORMED: "a malformed action",
}


def title(chat: Chat) -> str:
    """Which workspace it is, and whose view of several agents."""
    agents = len(chat.names.agents)
    return joined(chat.names.workspace or "a workspace", f"{chat.viewer} of {agents}" if agents > 1 else "")


def moment(chat: Chat) -> str:
    """How far the episode has come."""
    return f"step {chat.clock} of {chat.time_limit}"


def body(chat: Chat) -> str:
    """Channels, the messages of the current one, people and statistics."""
    parts = {
        "Channels": table(map(_channel_row, chat.channels)),
        f"#{chat.current.name}, oldest first": _message_lines(chat),
        "People": _people_lines(chat),
        f"So far, {chat.viewer}": [", ".join(f"{name} {value}" for name, value in statistics(chat))],
    }
    return "\n".join(sections(parts))


def statistics(chat: Chat) -> list[tuple[str, str]]:
    """The statistics of the agent with their names."""
    s = chat.statistics
    return [
        ("return", number(float(s.total_reward))),
        ("messages sent", str(s.messages_sent)),
        ("channels visited", f"{s.channels_visited} of {len(chat.channels)}"),
        ("switches", str(s.channels_switched)),
        ("mentions received", str(s.mentions_received)),
        ("answered", str(s.mentions_answered)),
        ("missed", str(s.mentions_missed)),
        ("response rate", f"{100 * float(s.response_rate):.0f} %"),
        ("mean response time", f"{float(s.mean_response_time):.1f} steps"),
        ("valid actions", f"{100 * float(s.valid_action_share):.0f} %"),
        ("reactions per message", f"{float(s.reactions_per_message):.2f}"),
    ]


def when(message: Message) -> str:
    """When a message was posted: its step, and its age as the rules count it, 1 for a new one."""
    return f"step {message.step}, age {message.age}" if message.step else "at the start"


def call_of(channel: Channel) -> str:
    """The call of a channel and the agents in it; empty if there is none."""
    if not channel.has_call:
        return ""
    return f"call with {', '.join(channel.in_call)}" if channel.in_call else "call"


def reactions_of(message: Message) -> list[str]:
    """The emoji of a message in the order of EMOJI, with a number if several agents gave it."""
    given = {emoji: message.reactions.count(emoji) for emoji in EMOJI if emoji in message.reactions}
    return [emoji if count == 1 else f"{emoji} {count}" for emoji, count in given.items()]


def _channel_row(channel: Channel) -> list[str]:
    unread = f"{channel.unread} unread" if channel.unread else ""
    return [HERE if channel.is_current else ELSEWHERE, channel.team, channel.name, unread, call_of(channel)]


def _message_lines(chat: Chat) -> list[str]:
    """A line for each message, with the number of earlier ones."""
    earlier = [f"and {chat.earlier} before"] if chat.earlier else []
    rows = [
        [
            WAITING if message.outcome == PENDING else " ",
            when(message),
            message.author,
            message.kind,
            message.content,
            f"[{message.outcome}]" if message.outcome else "",
            " ".join(reactions_of(message)),
        ]
        for message in chat.messages
    ]
    return [*earlier, *table(rows)] or ["nothing"]


def _people_lines(chat: Chat) -> list[str]:
    """Who is available, busy, away and offline, a line each."""

    def name_of(person: Person) -> str:
        return f"{person.name} (you)" if person.is_viewer and len(chat.names.agents) > 1 else person.name

    rows = [[status, ", ".join(name_of(p) for p in chat.people if p.presence == status)] for status in PRESENCE]
    return table(row for row in rows if row[1])


# Actions -------------------------------------------------------------------------------------------------------------


class Situation(NamedTuple):
    """The state and the names that describe the targets of actions."""

    catalogue: Catalogue
    state: State
    scenario: Scenario
    names: Names
    viewer: int  # the agent whose view it is; it does not see which messages the others react to


def describe_actions(situation: Situation, chosen: Sequence[int], legal: Sequence[Sequence[bool]]) -> str:
    """The actions of all agents, that of the viewer first; agents that do the same are named together.

    `legal` is [N, A] bool.
    """
    pairs = enumerate(zip(chosen, legal, strict=True))
    phrases = [meaning(action, every_action(situation, agent), mask) for agent, (action, mask) in pairs]
    if len(phrases) == 1:
        return phrases[0]
    who: dict[str, list[str]] = {phrases[situation.viewer]: []}
    for agent, phrase in enumerate(phrases):
        who.setdefault(phrase, []).append(situation.names.agent(agent))
    return "; ".join(f"{', '.join(agents)}: {phrase}" for phrase, agents in who.items())


def every_action(situation: Situation, agent: int) -> list[str]:
    """Each entry of the catalogue, of one agent."""
    targets = _targets(situation, agent)
    return [_describe_action(situation, targets, *entry) for entry in situation.catalogue.table.tolist()]


def _describe_action(
    situation: Situation, targets: Sequence[str], verb: int, channel: int, kind: int, slot: int, emoji: int
) -> str:
    """An entry of the catalogue in a state, and the messages that it may be about."""
    names, scenario = situation.names, situation.scenario
    there = f"#{names.channels[channel]}" if channel < len(names.channels) else f"no channel {channel + 1}"
    if verb in (actions.TEXT, actions.ANSWER):
        template = int(scenario.texts[int(scenario.first_text[kind])])
        to = "" if verb == actions.TEXT else f" to {there}"
        return f"send {KINDS[kind]}{to} “{names.content(template, -1)}”"
    if verb == actions.SWITCH:
        return f"go to {there}"
    if verb == actions.REACT:
        return f"react {EMOJI[emoji]} to {targets[slot] if slot < len(targets) else f'no message {slot + 1}'}"
    if verb == actions.JOIN:
        return f"join the call in {there}"
    return INVALID.get(verb, "idle")


def _targets(situation: Situation, agent: int) -> list[str]:
    """The messages of the agent's window, newest first; of another agent's one sees the author alone."""
    names, posts = situation.names, posts_of(situation.state)[int(situation.state.channel[agent])]
    authors = [names.author(post.author) for post in reversed(posts)]
    if agent != situation.viewer:
        return authors
    contents = [names.content(post.text, post.named) for post in reversed(posts)]
    return [f"{author}: “{content}”" for author, content in zip(authors, contents, strict=True)]


# Steps ---------------------------------------------------------------------------------------------------------------


def describe_step(was: Chat, now: Chat, history: History) -> list[str]:
    """The effects that an agent sees of the step between two states; `history` is that of these two."""
    posts = {post.place: post for post in history.posts}
    ended = [(posts[place], outcome) for place, outcome in history.outcomes.items() if outcome.step == was.clock]
    lines = [*_answered(ended, now), *_messages(was, now), *_changes(was, now), *_missed(ended, now)]
    return [*lines, *([f"end: {now.outcome}"] if now.outcome else [])]


def _answered(ended: list[tuple[Post, MentionOutcome]], now: Chat) -> Iterator[str]:
    """Mentions that the agent has answered anywhere, and those that others have answered in its channel."""
    for post, outcome in ended:
        if outcome.how == ANSWERED and (outcome.by == now.agent or post.channel == now.current.number):
            age = outcome.step - post.step
            waited = f"after {age} steps" if age != 1 else "after one step"
            yield f"answered: {_where(post, now)}, {waited}, by {now.names.agent(outcome.by)}"


def _messages(was: Chat, now: Chat) -> Iterator[str]:
    """Messages that others posted in the agent's channel after the step, and the messages that were unread there."""
    if was.current.number != now.current.number:
        unread = was.channels[now.current.number].unread
        yield f"found: {unread or 'nothing'} unread in #{now.current.name}"
    for message in now.messages:
        if message.step == now.clock and message.author_number != now.names.room + now.agent:
            yield f"{message.author}: {message.content}"


def _changes(was: Chat, now: Chat) -> Iterator[str]:
    """Channels with more unread messages, calls that began or ended, and teammates who came or went."""
    channels = list(zip(was.channels, now.channels, strict=True))
    if more := [f"#{after.name} {after.unread}" for before, after in channels if after.unread > before.unread]:
        yield f"unread: {', '.join(more)}"
    for before, after in channels:
        if after.has_call != before.has_call:
            yield f"call {'starts' if after.has_call else 'ends'}: #{after.name}"
    for before, after in zip(was.people, now.people, strict=True):
        if after.presence != before.presence and not after.is_viewer:
            yield f"{after.name} is {after.presence}"


def _missed(ended: list[tuple[Post, MentionOutcome]], now: Chat) -> Iterator[str]:
    """Mentions of the agent that nobody has answered; the agent does not learn the author of one it has not seen."""
    for post, outcome in ended:
        if outcome.how == MISSED and post.named == now.agent:
            seen = post.seen_by >> now.agent & 1
            yield f"missed: {_where(post, now)}" if seen else "missed: a mention that was not seen"


def _where(post: Post, chat: Chat) -> str:
    """The author and the channel of a message."""
    return f"{chat.names.author(post.author)} in #{chat.names.channels[post.channel]}"
