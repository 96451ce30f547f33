"""A workspace as a page of text."""

from collections.abc import Iterator

from jaxenv.envs.teamsclone.types import KINDS, POSTED_KINDS, PRESENCE
from scenarios.teamsclone.document import Message, User, Workspace
from scenarios.teamsclone.fixed_point import shares
from scenarios.writing import aligned, as_page, folded


def page(workspace: Workspace, name: str = "") -> str:
    """Everything in a document; `name` is for a workspace without an id."""
    title = " · ".join([workspace.id or name or "a workspace", *_counts(workspace)])
    sections = {
        "Begins with": _begins(workspace),
        "Channels": aligned(_channel_rows(workspace)),
        "Teammates": aligned(map(_user_row, workspace.users)),
        "Where they post, in %": aligned(_preference_rows(workspace)),
        "What they post, in %": aligned(_mix_rows(workspace)),
        "How they come and go, in % a step": aligned(_presence_rows(workspace)),
        "Said before": aligned(map(_message_row, workspace.messages)),
        "Texts": [line for kind in KINDS for line in _text_lines(workspace, kind)],
    }
    return as_page(title, folded(workspace.story), sections, empty="nothing")


def _counts(workspace: Workspace) -> list[str]:
    """The numbers of teams, channels and teammates."""
    counts = {"team": len(workspace.teams), "channel": len(workspace.channels), "teammate": len(workspace.users)}
    return [f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items()]


def _begins(workspace: Workspace) -> list[str]:
    """Where agents start, and how long mentions and calls last."""
    window, length = workspace.mention_window, workspace.call_length
    return [
        f"agents in {workspace.first_channel}",
        f"a mention waits {window} step{'' if window == 1 else 's'}, a call can be joined for {length}",
        f"clock {workspace.start_time} ms",
    ]


def _channel_rows(workspace: Workspace) -> Iterator[list[str]]:
    """Columns of the channels."""
    for team in workspace.teams:
        for channel in team.channels:
            call = f"call {_percent(channel.call_rate)} % a step" if channel.call_rate else "no calls"
            yield [channel.id, channel.name, f"{team.id} {team.name}".strip(), call]


def _user_row(user: User) -> list[str]:
    """Columns of a teammate."""
    return [user.id, user.avatar, user.name, user.status, f"posts {_percent(user.post_rate)} % a step"]


def _preference_rows(workspace: Workspace) -> Iterator[list[str]]:
    """How often each teammate posts in each channel."""
    yield ["", *workspace.channel_ids]
    for user in workspace.users:
        yield [user.id, *map(_percent, shares(workspace.preference(user).values()))]


def _mix_rows(workspace: Workspace) -> Iterator[list[str]]:
    """How often each teammate posts each kind of message."""
    yield ["", *POSTED_KINDS]
    for user in workspace.users:
        yield [user.id, *map(_percent, shares(user.kind_mix[kind] for kind in POSTED_KINDS))]


def _presence_rows(workspace: Workspace) -> Iterator[list[str]]:
    """Where each teammate goes from each presence; teammates with the same rows are listed together."""
    yield ["", "from", *PRESENCE]
    alike: dict[tuple, list[str]] = {}
    for user in workspace.users:
        rows = tuple(tuple(map(_percent, shares(user.presence_transition[now]))) for now in PRESENCE)
        alike.setdefault(rows, []).append(user.id)
    for rows, ids in alike.items():
        for now, row in zip(PRESENCE, rows, strict=True):
            yield [", ".join(ids) if now == PRESENCE[0] else "", now, *row]


def _message_row(message: Message) -> list[str]:
    """Columns of a message."""
    named = "" if message.named is None else f"to agent {message.named}"
    return [message.channel, message.user, message.kind, named, message.text]


def _text_lines(workspace: Workspace, kind: str) -> list[str]:
    """The texts of a kind."""
    return [kind, *(f"    {text}" for text in workspace.texts[kind])]


def _percent(share: float) -> str:
    return f"{100 * share:.4g}"
