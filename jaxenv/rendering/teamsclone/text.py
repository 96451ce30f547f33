"""A chat as lines of plain text."""

from jaxenv.envs.teamsclone.types import PRESENCE
from jaxenv.rendering.tables import sections, table
from jaxenv.rendering.teamsclone.chat import PENDING, Channel, Chat, Message, Person

HERE, ELSEWHERE = "▸", " "  # before the channel that the agent is in, and before others
WAITING = "●"  # before a mention that waits for an answer


def title(chat: Chat) -> str:
    """Which workspace it is, and of several agents who looks."""
    who = [f"{chat.me} of {chat.num_agents}"] if chat.num_agents > 1 else []
    return " · ".join([chat.workspace or "a workspace", *who])


def moment(chat: Chat) -> str:
    """How far it has come."""
    return f"step {chat.clock} of {chat.time_limit}"


def body(chat: Chat) -> str:
    """Channels, the messages of the current one, who is there, and how it goes."""
    parts = {
        "Channels": table(_channel_row(channel) for channel in chat.channels),
        f"#{chat.current.name}, oldest first": _message_lines(chat),
        "People": _people_lines(chat),
        f"So far, {chat.me}": [", ".join(f"{name} {value}" for name, value in statistics(chat))],
    }
    return "\n".join(sections(parts))


def statistics(chat: Chat) -> list[tuple[str, str]]:
    """The statistics of the agent with their names."""
    s = chat.statistics
    return [
        ("return", f"{float(s.total_reward):.2f}".replace("-", "−")),
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
    """When a message was posted: its step, and its age as the rules count it, 1 where it is new."""
    return f"step {message.step}, age {message.age}" if message.step else "at the start"


def call_of(channel: Channel) -> str:
    """The call of a channel and which agents are in it; empty where none runs."""
    if not channel.has_call:
        return ""
    return f"call with {', '.join(channel.in_call)}" if channel.in_call else "call"


def reactions_of(message: Message) -> list[str]:
    """The emoji of a message, with a number where several agents gave it."""
    return [emoji if number == 1 else f"{emoji} {number}" for emoji, number in message.reactions]


def _channel_row(channel: Channel) -> list[str]:
    unread = f"{channel.unread} unread" if channel.unread else ""
    return [HERE if channel.is_current else ELSEWHERE, channel.team, channel.name, unread, call_of(channel)]


def _message_lines(chat: Chat) -> list[str]:
    """A line for each message, with how many came before those that are kept."""
    earlier = [f"and {chat.earlier} before"] if chat.earlier else []
    rows = [
        [
            WAITING if message.fate == PENDING else " ",
            when(message),
            message.author,
            message.kind,
            message.content,
            f"[{message.fate}]" if message.fate else "",
            " ".join(reactions_of(message)),
        ]
        for message in chat.messages
    ]
    return [*earlier, *table(rows)] or ["nothing"]


def _people_lines(chat: Chat) -> list[str]:
    """Who is available, busy, away and offline, a line each."""

    def name_of(person: Person) -> str:
        return f"{person.name} (you)" if person.is_me and chat.num_agents > 1 else person.name

    rows = [[status, ", ".join(name_of(p) for p in chat.people if p.presence == status)] for status in PRESENCE]
    return table(row for row in rows if row[1])
