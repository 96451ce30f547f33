"""Why a workspace cannot be played: what its fields do not show one by one."""

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence

from jaxenv.envs.teamsclone.types import KINDS, WINDOW, Limits
from scenarios.errors import Path, Problem, did_you_mean
from scenarios.teamsclone.document import KindMix, PresenceTransition, Workspace

AGENT_ID = re.compile(r"agent([-_]?\d+)?")  # what agents are called in states
SLACK = 1e-9  # by which rounding may bring a sum over 1


def problems(workspace: Workspace, limits: Limits) -> list[Problem]:
    """Why a workspace cannot be compiled; empty where it can."""
    found = [
        *_repeated_ids(workspace),
        *_agents(workspace),
        *_unknown_channels(workspace),
        *_unknown_users(workspace),
        *_names_without_mention(workspace),
        *_nothing_to_pick(workspace),
        *_too_many_calls(workspace),
        *_full_channels(workspace),
    ]
    return found or [*_over_capacity(workspace, limits)]


def _repeated_ids(workspace: Workspace) -> Iterator[Problem]:
    """Teams, teammates and the channels of all teams are found by their ids."""
    teams = [(("teams", n), team.id) for n, team in enumerate(workspace.teams)]
    users = [(("users", n), user.id) for n, user in enumerate(workspace.users)]
    for records in (teams, users, _channels(workspace)):
        first: dict[str, Path] = {}
        for path, id in records:
            if id in first:
                where = " ".join(f"{part} item {int(n) + 1}" for part, n in zip(*[iter(first[id])] * 2, strict=True))
                yield Problem((*path, "id"), f"id {id!r} stands twice, first in {where}.")
            first.setdefault(id, path)


def _channels(workspace: Workspace) -> list[tuple[Path, str]]:
    """Where each channel stands, and its id."""
    return [
        (("teams", n, "channels", m), channel.id)
        for n, team in enumerate(workspace.teams)
        for m, channel in enumerate(team.channels)
    ]


def _agents(workspace: Workspace) -> Iterator[Problem]:
    """Agents are in every workspace and stand in none."""
    for n, user in enumerate(workspace.users):
        if AGENT_ID.fullmatch(user.id):
            text = f"{user.id!r} is what an agent is called, who is there without being listed. Choose another id."
            yield Problem(("users", n, "id"), text)


def _unknown_channels(workspace: Workspace) -> Iterator[Problem]:
    """Names of channels that there are not."""
    said: list[tuple[Path, str]] = []
    for n, user in enumerate(workspace.users):
        said += [(("users", n, "channel_preference", id), id) for id in user.channel_preference or ()]
    said += [(("messages", n, "channel"), message.channel) for n, message in enumerate(workspace.messages)]
    if workspace.start_channel is not None:
        said.append((("start_channel",), workspace.start_channel))
    yield from _unknown("channel", said, workspace.channel_ids)


def _unknown_users(workspace: Workspace) -> Iterator[Problem]:
    """Messages by nobody who is known."""
    said: list[tuple[Path, str]] = [(("messages", n, "user"), said.user) for n, said in enumerate(workspace.messages)]
    yield from _unknown("teammate", said, [user.id for user in workspace.users])


def _unknown(what: str, said: Sequence[tuple[Path, str]], known: Sequence[str]) -> Iterator[Problem]:
    """Those of some ids that are not known."""
    for path, id in said:
        if id not in known:
            hint = did_you_mean(id, known)
            yield Problem(path, f"no {what} {id!r}.{hint} There is {', '.join(known)}.")


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
            text = "expected a channel with a weight above 0; without channel_preference, all are alike."
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
    """Channels that cannot keep what was said in them."""
    for id in workspace.channel_ids:
        rows = [n for n, message in enumerate(workspace.messages) if message.channel == id]
        if len(rows) > WINDOW:
            text = f"{len(rows)} messages stand in {id!r}, and a channel keeps {WINDOW}. Leave out the oldest."
            yield Problem(("messages", rows[WINDOW]), text)


def _over_capacity(workspace: Workspace, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    tables = (
        ("teams", "teams", len(workspace.teams)),
        ("teams", "channels", len(workspace.channels)),
        ("users", "users", len(workspace.users)),
        ("texts", "texts", sum(len(workspace.texts[kind]) for kind in KINDS)),
    )
    for field, capacity, count in tables:
        if count > getattr(limits, capacity):
            yield Problem((field,), _too_many(capacity, count, limits))


def _too_many(capacity: str, count: int, limits: Limits) -> str:
    """How to raise a capacity that is too small, where it can be."""
    text = f"found {count} {capacity}, and there is room for {getattr(limits, capacity)}. "
    try:
        dataclasses.replace(limits, **{capacity: count})
    except ValueError:
        return text + "So many cannot be had at all."
    more = f"jaxenv.envs.teamsclone.Limits({capacity}={count})"
    return text + f"To raise it, pass limits={more} here and to jaxenv.make."
