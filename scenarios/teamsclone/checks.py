"""Checks of a workspace beyond its single fields: why it cannot be compiled."""

import math
import re
from collections.abc import Iterator

from jaxenv.envs.teamsclone.types import KINDS, WINDOW, Limits
from scenarios.document_format import over_capacity, repeated, unknown
from scenarios.teamsclone.document import KindMix, PresenceTransition, Workspace
from scenarios.text.errors import Path, Problem, named

AGENT_ID = re.compile(r"agent([-_]?\d+)?")  # of an agent, in states
SLACK = 1e-9  # rounding may bring a sum this far over 1


def problems(workspace: Workspace, limits: Limits) -> list[Problem]:
    """Why a workspace cannot be compiled; empty if it can."""
    return list(_over_capacity(workspace, limits)) or [
        *_repeated_ids(workspace),
        *_agents(workspace),
        *_unknown_names(workspace),
        *_names_without_mention(workspace),
        *_nothing_to_pick(workspace),
        *_too_many_calls(workspace),
        *_full_channels(workspace),
    ]


def _repeated_ids(workspace: Workspace) -> Iterator[Problem]:
    """Teams, teammates and the channels of all teams are found by their ids."""
    for fields in (("teams",), ("users",), ("teams", "channels")):
        yield from repeated((path, record.id) for path, record in workspace.placed(*fields))


def _agents(workspace: Workspace) -> Iterator[Problem]:
    """Ids that are those of agents, who are in every workspace without being listed."""
    for n, user in enumerate(workspace.users):
        if AGENT_ID.fullmatch(user.id):
            text = f"{named(user.id)} is the id of an agent; agents are not listed. Choose another id."
            yield Problem(("users", n, "id"), text)


def _unknown_names(workspace: Workspace) -> Iterator[Problem]:
    """Names of channels and teammates that do not exist."""
    names: list[tuple[Path, str]] = []
    for n, user in enumerate(workspace.users):
        names += [(("users", n, "channel_preference", id), id) for id in user.channel_preference or ()]
    names += [(("messages", n, "channel"), message.channel) for n, message in enumerate(workspace.messages)]
    if workspace.start_channel is not None:
        names.append((("start_channel",), workspace.start_channel))
    yield from unknown("channel", names, workspace.channel_ids)
    authors = ((("messages", n, "user"), message.user) for n, message in enumerate(workspace.messages))
    yield from unknown("teammate", authors, [user.id for user in workspace.users])


def _names_without_mention(workspace: Workspace) -> Iterator[Problem]:
    """Agents that a message names without mentioning them."""
    for n, message in enumerate(workspace.messages):
        if message.agent is not None and message.named is None:
            text = f"the message is of kind {message.kind}, and only a mention names an agent. Leave out the agent."
            yield Problem(("messages", n, "agent"), text)


def _nothing_to_pick(workspace: Workspace) -> Iterator[Problem]:
    """Weights that are all zero."""
    for n, user in enumerate(workspace.users):
        if user.channel_preference is not None and not any(user.channel_preference.values()):
            text = "expected a channel with a weight above 0; without channel_preference, all are equally likely."
            yield Problem(("users", n, "channel_preference"), text)
        if not any(user.kind_mix[kind] for kind in KindMix.model_fields):
            yield Problem(("users", n, "kind_mix"), "expected a kind with a weight above 0.")
        for now in PresenceTransition.model_fields:
            if not any(user.presence_transition[now]):
                text = f"expected a weight above 0 in the row; to stay {now} for good, give {now} the only weight."
                yield Problem(("users", n, "presence_transition", now), text)


def _too_many_calls(workspace: Workspace) -> Iterator[Problem]:
    """At most one call starts in a step, so that the rates are shares of it."""
    total = math.fsum(channel.call_rate for channel in workspace.channels)
    if total > 1 + SLACK:
        yield Problem(("teams",), f"the call_rates of all channels sum to {total:g}, expected 1 at most.")


def _full_channels(workspace: Workspace) -> Iterator[Problem]:
    """Channels with more messages than they can hold."""
    rows_of: dict[str, list[int]] = {id: [] for id in workspace.channel_ids}
    for n, message in enumerate(workspace.messages):
        rows_of.get(message.channel, []).append(n)
    for id, rows in rows_of.items():
        if len(rows) > WINDOW:
            text = f"{len(rows)} messages in {named(id)}, and a channel keeps {WINDOW}. Leave out the oldest."
            yield Problem(("messages", rows[WINDOW]), text)


def _over_capacity(workspace: Workspace, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    yield from over_capacity(("teams",), "teams", len(workspace.teams), limits)
    yield from over_capacity(("teams",), "channels", len(workspace.channels), limits)
    yield from over_capacity(("users",), "users", len(workspace.users), limits)
    yield from over_capacity(("texts",), "texts", sum(len(workspace.texts[kind]) for kind in KINDS), limits)
