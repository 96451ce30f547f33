"""Names of the channels, teammates and texts of a workspace."""

import dataclasses
from collections.abc import Mapping

from jaxenv.envs.teamsclone import Scenario
from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.rendering.names import Given, numbered, with_defaults

AGENT = "agent"  # the id of the only agent, which `@agent` mentions; several are `agent-0` and so on


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        teams: by number.
        channels: by number.
        team_of: the number of the team of each channel.
        users: teammates, by number.
        texts: by code; the default table is completed by those of the document.
        agents: ids, by number; filled in by rendering.
        room: how many teammates the arrays have room for; agents are numbered after them. Filled in by rendering.
        workspace: the id, or empty.
    """

    teams: tuple[str, ...]
    channels: tuple[str, ...]
    team_of: tuple[int, ...]
    users: tuple[str, ...]
    texts: Mapping[int, str]
    agents: tuple[str, ...]
    room: int
    workspace: str = ""

    def author(self, number: int) -> str:
        """Who writes: a teammate, or an agent as people call it."""
        return self.users[number] if number < self.room else self.agent(number - self.room)

    def agent(self, number: int) -> str:
        """An agent as people call it: `Agent`, `Agent 2`."""
        return self.agents[number].replace("-", " ").capitalize()

    def content(self, code: int, named: int) -> str:
        """The text of a message; the mentioned agent (-1 for nobody) replaces `@agent` in it, or comes first."""
        text = self.texts.get(code, f"text {code}")
        if named < 0:
            return text
        name = self.mention(named)
        return text.replace(f"@{AGENT}", name) if f"@{AGENT}" in text else f"{name} {text}"

    def mention(self, agent: int) -> str:
        """How a message mentions an agent, even one that does not exist."""
        return f"@{self.agents[agent]}" if agent < len(self.agents) else f"@{AGENT}-{agent}"


def names_of(workspace: Scenario, given: Given, num_agents: int) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other teams, channels or teammates are given than the scenario has.
    """
    team_of = tuple(workspace.team[: int(workspace.num_channels)].tolist())
    return with_defaults(
        Names,
        given,
        teams=numbered("Team", max(team_of) + 1),
        channels=numbered("Channel", len(team_of)),
        team_of=team_of,
        users=numbered("User", int(workspace.num_users)),
        texts=dict(enumerate(default_table())),
        agents=(AGENT,) if num_agents == 1 else tuple(f"{AGENT}-{n}" for n in range(num_agents)),
        room=len(workspace.presence),
    )
