"""Arrays to workspaces: compiled or generated scenarios as TeamsClone documents."""

import itertools
from typing import Any

import numpy as np

from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import KINDS, POSTED_KINDS, PRESENCE, Scenario
from scenarios.teamsclone.document import Workspace
from scenarios.teamsclone.fixed_point import probability, weights
from scenarios.teamsclone.texts import text_of
from scenarios.text.errors import ScenarioError


def decompile(scenario: Scenario, scenario_id: str = "") -> Workspace:
    """A workspace in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays: teams are called team-1, team-2, …, channels channel-1, … and teammates user-1, …;
    a text that is not a default one is called by its code, `text 57`. Compiled again, it gives the same arrays.

    Raises:
        ScenarioError: where no document compiles to the arrays.
    """
    channels = [f"channel-{n}" for n in range(1, int(scenario.num_channels) + 1)]
    users = [f"user-{n}" for n in range(1, int(scenario.num_users) + 1)]
    return Workspace.model_validate(
        {
            "id": scenario_id,
            "teams": _teams(scenario, channels),
            "users": [_user(scenario, n, id, channels) for n, id in enumerate(users)],
            "messages": _messages(scenario, channels, users),
            "start_channel": channels[int(scenario.start)],
            "mention_window": int(scenario.mention_window),
            "call_length": int(scenario.call_length),
            "texts": {kind: _texts(scenario, n) for n, kind in enumerate(KINDS)},
        }
    )


def _teams(scenario: Scenario, channels: list[str]) -> list[dict[str, Any]]:
    """The teams and their channels."""
    owners = np.asarray(scenario.team)[: len(channels)].tolist()
    teams = [
        {
            "id": f"team-{owner + 1}",
            "name": f"Team {owner + 1}",
            "channels": [
                {"id": channels[n], "name": f"Channel {n + 1}", "call_rate": probability(int(scenario.call_rate[n]))}
                for n in rows
            ],
        }
        for owner, rows in itertools.groupby(range(len(channels)), key=owners.__getitem__)
    ]
    if owners != sorted(owners) or len(teams) != max(owners) + 1:
        raise ScenarioError(f"no document has channels of the teams {owners}: expected 0, 1, … without a gap.")
    return teams


def _user(scenario: Scenario, n: int, id: str, channels: list[str]) -> dict[str, Any]:
    """A teammate."""
    preference = weights(np.asarray(scenario.channel_edges[n])[: len(channels)].tolist())
    rows = np.asarray(scenario.presence_edges[n]).tolist()
    return {
        "id": id,
        "name": f"User {n + 1}",
        "status": PRESENCE[int(scenario.presence[n])],
        "post_rate": probability(int(scenario.post_rate[n])),
        "channel_preference": dict(zip(channels, preference, strict=True)),
        "kind_mix": dict(zip(POSTED_KINDS, weights(np.asarray(scenario.kind_edges[n]).tolist()), strict=True)),
        "presence_transition": {now: weights(row) for now, row in zip(PRESENCE, rows, strict=True)},
    }


def _messages(scenario: Scenario, channels: list[str], users: list[str]) -> list[dict[str, Any]]:
    """The initial messages, channel by channel."""
    found = []
    for channel, ring in zip(channels, np.asarray(scenario.messages).T, strict=False):
        for word in ring[ring != 0]:
            kind, named = KINDS[int(messages.kind(word))], int(messages.named(word))
            fields = {"channel": channel, "user": users[int(messages.author(word))], "kind": kind}
            agent = {} if named < 0 else {"agent": named}
            found.append({**fields, "text": text_of(int(messages.text(word))), **agent})
    return found


def _texts(scenario: Scenario, kind: int) -> list[str]:
    """The texts of a kind."""
    first, number = int(scenario.first_text[kind]), int(scenario.num_texts[kind])
    return [text_of(code) for code in np.asarray(scenario.texts)[first : first + number].tolist()]
