"""A workspace as arrays: documents to `jaxenv` scenarios, and several of them to a bank with one table of texts."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.texts import embed
from jaxenv.envs.teamsclone.types import (
    KINDS,
    MOST_TEXTS,
    POSTED_KINDS,
    PRESENCE,
    Limits,
    Scenario,
    empty_scenario,
)
from scenarios.errors import ScenarioError
from scenarios.teamsclone import checks
from scenarios.teamsclone.document import Workspace
from scenarios.teamsclone.tables import edges, odds
from scenarios.teamsclone.texts import texts


def compile(workspace: Workspace, limits: Limits = Limits()) -> Scenario:
    """The arrays of a workspace, as NumPy arrays; its texts are numbered as in `texts([workspace])`.

    Raises:
        ScenarioError: where the workspace does not fit into the limits, or `checks.problems` finds something else.
    """
    return _compile(workspace, limits, _codes([workspace]))


def bank(workspaces: Sequence[Workspace], limits: Limits = Limits()) -> ScenarioBank:
    """Several workspaces as a bank; their texts are numbered as in `texts(workspaces)`, whose embedding they share.

    Raises:
        ScenarioError: as `compile`, and where there are more texts than a bank has room for.
    """
    codes = _codes(workspaces)
    if len(codes) > MOST_TEXTS:
        raise ScenarioError(
            f"{len(workspaces)} workspaces say {len(codes)} different texts in all, and a bank has room for "
            f"{MOST_TEXTS}: load fewer of them together, or let them share texts."
        )
    stacked = ScenarioBank.stack([_compile(workspace, limits, codes) for workspace in workspaces])
    return stacked.replace(shared=jnp.asarray(embed(codes)))


def limits_of(scenario: Scenario) -> Limits:
    """The capacities that a scenario's arrays have; of teams, the usual one or as many as it has."""
    return Limits(
        teams=max(Limits().teams, int(np.max(scenario.team)) + 1),
        channels=scenario.team.shape[-1],
        users=scenario.presence.shape[-1],
        texts=scenario.texts.shape[-1],
    )


def _codes(workspaces: Iterable[Workspace]) -> dict[str, int]:
    """Text -> code, in the order of the codes."""
    return {text: code for code, text in enumerate(texts(workspaces))}


def _compile(workspace: Workspace, limits: Limits, codes: Mapping[str, int]) -> Scenario:
    """The arrays of a workspace whose texts have codes."""
    if problems := checks.problems(workspace, limits):
        raise ScenarioError(*(problem.text for problem in problems))
    empty, users, ids = empty_scenario(limits), workspace.users, workspace.channel_ids
    teams = [n for n, team in enumerate(workspace.teams) for _ in team.channels]
    number = [len(workspace.texts[kind]) for kind in KINDS]
    said = [codes[text] for kind in KINDS for text in workspace.texts[kind]]
    return empty.replace(
        num_channels=_like(empty.num_channels, len(ids)),
        num_users=_like(empty.num_users, len(users)),
        team=_fill(empty.team, teams),
        start=_like(empty.start, ids.index(workspace.first_channel)),
        presence=_fill(empty.presence, [PRESENCE.index(user.status) for user in users]),
        messages=_messages(empty.messages, workspace, codes),
        post_rate=_fill(empty.post_rate, [odds(user.post_rate) for user in users]),
        channel_edges=_fill(empty.channel_edges, _preferences(workspace, limits)),
        kind_edges=_fill(empty.kind_edges, [edges(user.kind_mix[kind] for kind in POSTED_KINDS) for user in users]),
        presence_edges=_fill(
            empty.presence_edges, [[edges(user.presence_transition[now]) for now in PRESENCE] for user in users]
        ),
        call_rate=_fill(empty.call_rate, [odds(channel.call_rate) for channel in workspace.channels]),
        call_length=_like(empty.call_length, workspace.call_length),
        mention_window=_like(empty.mention_window, workspace.mention_window),
        texts=_fill(empty.texts, said),
        first_text=_like(empty.first_text, [0, *itertools.accumulate(number[:-1])]),
        num_texts=_like(empty.num_texts, number),
    )


def _preferences(workspace: Workspace, limits: Limits) -> list[list[int]]:
    """For each teammate the edges over all channels there is room for."""
    absent = [0.0] * (limits.channels - len(workspace.channel_ids))
    return [edges([*workspace.preference(user).values(), *absent]) for user in workspace.users]


def _messages(padding: Any, workspace: Workspace, codes: Mapping[str, int]) -> np.ndarray:
    """The rings of initial messages, a column for each channel."""
    table, used = np.array(padding), [0] * len(workspace.channel_ids)
    users = [user.id for user in workspace.users]
    for message in workspace.messages:
        channel = workspace.channel_ids.index(message.channel)
        named = -1 if message.named is None else message.named
        parts = (codes[message.text], users.index(message.user), KINDS.index(message.kind), named)
        table[used[channel], channel] = messages.pack(*map(jnp.int32, parts))
        used[channel] += 1
    return table


def _like(padding: Any, value: Any) -> Any:
    """A value in the dtype that its field has."""
    return np.asarray(value, padding.dtype)


def _fill(padding: Any, values: Sequence[Any]) -> Any:
    """The values, then padding."""
    filled = np.array(padding)
    filled[: len(values)] = values
    return filled
