"""What the channels, teammates and texts of a workspace are called: as its document says, else by number."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxenv.envs.teamsclone import Scenario, messages
from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.envs.teamsclone.types import KINDS
from jaxenv.rendering.documents import items, read

AGENT = "agent"  # the id of the only agent, which `@agent` mentions; of several `agent-0` and so on


@dataclasses.dataclass(frozen=True)
class Names:
    """Lookups by the indices of the arrays.

    Attributes:
        workspace: the id, or empty.
        teams: by number.
        channels: by number.
        team_of: the number of the team of each channel.
        users: teammates, by number.
        agents: ids, by number.
        room: how many teammates the arrays have room for, after whom agents are numbered.
        texts: by code, those that can be said here.
    """

    workspace: str
    teams: tuple[str, ...]
    channels: tuple[str, ...]
    team_of: tuple[int, ...]
    users: tuple[str, ...]
    agents: tuple[str, ...]
    room: int
    texts: Mapping[int, str]

    def author(self, number: int) -> str:
        """Who writes: a teammate, or an agent as people call it."""
        return self.users[number] if number < self.room else self.agent(number - self.room)

    def agent(self, number: int) -> str:
        """An agent as people call it: `Agent`, `Agent 2`."""
        return self.agents[number].replace("-", " ").capitalize()

    def content(self, code: int, named: int) -> str:
        """What a message says; whom it mentions (-1 for nobody) stands where its text has `@agent`, or first."""
        text = self.texts.get(code, f"text {code}")
        if named < 0:
            return text
        name = self.mention(named)
        return text.replace(f"@{AGENT}", name) if f"@{AGENT}" in text else f"{name} {text}"

    def mention(self, agent: int) -> str:
        """How a message mentions an agent, also one that is not there."""
        return f"@{self.agents[agent]}" if agent < len(self.agents) else f"@{AGENT}-{agent}"


def names_of(workspace: Scenario, document: Any = None, num_agents: int = 1) -> Names:
    """The names of a scenario (arrays on the host).

    Args:
        workspace: the scenario.
        document: a mapping or record with `teams`, `users`, `messages` and `texts`; what it leaves out is called by
            number, and texts that are not the usual ones by their codes.
        num_agents: how many agents there are.

    Raises:
        ValueError: where the document counts other teams, channels, teammates, messages or texts than the arrays.
    """
    owners = tuple(workspace.team[: int(workspace.num_channels)].tolist())
    teams = items(document, "teams", max(owners) + 1)
    channels = None
    if teams is not None:
        listed = {"channels": [channel for team in teams for channel in read(team, "channels", ())]}
        channels = items(listed, "channels", len(owners))
    users = items(document, "users", int(workspace.num_users))
    return Names(
        workspace=str(read(document, "id", "")),
        teams=_called(teams, max(owners) + 1, "Team {}"),
        channels=_called(channels, len(owners), "Channel {}"),
        team_of=owners,
        users=_called(users, int(workspace.num_users), "User {}"),
        agents=(AGENT,) if num_agents == 1 else tuple(f"{AGENT}-{n}" for n in range(num_agents)),
        room=len(workspace.presence),
        texts=dict(enumerate(default_table()))
        | _said(workspace, document)
        | _said_before(workspace, document, [read(channel, "id", "") for channel in channels or ()]),
    )


def _called(records: list[Any] | None, count: int, default: str) -> tuple[str, ...]:
    """Name, else id, else number."""
    pairs = enumerate(records or [None] * count, 1)
    return tuple(str(read(item, "name", "") or read(item, "id", "") or default.format(n)) for n, item in pairs)


def _said(workspace: Scenario, document: Any) -> dict[int, str]:
    """The document's texts of each kind by their codes; a kind that it leaves out says the usual ones."""
    texts = read(document, "texts", None)
    found: dict[int, str] = {}
    for kind, first, number in zip(KINDS, workspace.first_text, workspace.num_texts, strict=True):
        codes = workspace.texts[int(first) : int(first) + int(number)].tolist()
        own = items(texts, kind, len(codes))
        found |= dict(zip(codes, map(str, own or ()), strict=False))
    return found


def _said_before(workspace: Scenario, document: Any, channels: list[str]) -> dict[int, str]:
    """The texts of the messages that stand in the channels at first, by their codes."""
    present = messages.is_present(workspace.messages)
    written = items(document, "messages", int(np.sum(present))) or []
    found: dict[int, str] = {}
    for number, channel in enumerate(channels):
        codes = messages.text(workspace.messages[present[:, number], number]).tolist()
        own = [str(read(message, "text", "")) for message in written if read(message, "channel", "") == channel]
        found |= dict(zip(codes, own, strict=False))
    return found
