"""Workspaces to arrays: TeamsClone documents as `jaxenv` scenarios, and a bank of them with one table of texts."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.texts import embed
from jaxenv.envs.teamsclone.types import (
    KINDS,
    MAX_TEXTS,
    POSTED_KINDS,
    PRESENCE,
    Limits,
    Scenario,
    empty_scenario,
)
from scenarios.arrays import fill, like
from scenarios.teamsclone import checks
from scenarios.teamsclone.document import Workspace
from scenarios.teamsclone.fixed_point import cdf, to_fixed
from scenarios.teamsclone.texts import codes_of
from scenarios.text.errors import ScenarioError


def compile(workspace: Workspace, limits: Limits = Limits()) -> Scenario:
    """The arrays of a workspace, as NumPy arrays; its texts are numbered as in `texts([workspace])`.

    Raises:
        ScenarioError: if the workspace does not fit into the limits, or if `checks.problems` finds something else.
    """
    return _compile(workspace, limits, codes_of([workspace]))


def bank(workspaces: Sequence[Workspace], limits: Limits = Limits()) -> ScenarioBank:
    """Several workspaces as a bank; their texts are numbered as in `texts(workspaces)`, whose embedding they share.

    Raises:
        ScenarioError: as `compile`, and where there are more texts than a bank has room for.
    """
    codes = codes_of(workspaces)
    if len(codes) > MAX_TEXTS:
        raise ScenarioError(
            f"{len(workspaces)} workspaces have {len(codes)} different texts in all, and a bank has room for "
            f"{MAX_TEXTS}: load fewer of them together, or let them share texts."
        )
    stacked = ScenarioBank.stack([_compile(workspace, limits, codes) for workspace in workspaces])
    return stacked.replace(shared=jnp.asarray(embed(codes)))


def limits_of(scenario: Scenario) -> Limits:
    """The capacities of a scenario's arrays; of teams, the default or as many as it has."""
    return Limits(
        teams=max(Limits().teams, int(np.max(scenario.team)) + 1),
        channels=scenario.team.shape[-1],
        users=scenario.presence.shape[-1],
        texts=scenario.texts.shape[-1],
    )


def _compile(workspace: Workspace, limits: Limits, codes: Mapping[str, int]) -> Scenario:
    """The arrays of a workspace whose texts have codes."""
    if problems := checks.problems(workspace, limits):
        raise ScenarioError(*(problem.text for problem in problems))
    empty, users, ids = empty_scenario(limits), workspace.users, workspace.channel_ids
    number = [len(workspace.texts[kind]) for kind in KINDS]
    text_codes = [codes[text] for kind in KINDS for text in workspace.texts[kind]]
    return empty.replace(
        num_channels=like(empty.num_channels, len(ids)),
        num_users=like(empty.num_users, len(users)),
        team=fill(empty.team, workspace.team_of),
        start=like(empty.start, ids.index(workspace.first_channel)),
        presence=fill(empty.presence, [PRESENCE.index(user.status) for user in users]),
        messages=_messages(empty.messages, workspace, codes),
        post_rate=fill(empty.post_rate, [to_fixed(user.post_rate) for user in users]),
        channel_edges=fill(empty.channel_edges, _preferences(workspace, limits)),
        kind_edges=fill(empty.kind_edges, [cdf(user.kind_mix[kind] for kind in POSTED_KINDS) for user in users]),
        presence_edges=fill(
            empty.presence_edges, [[cdf(user.presence_transition[now]) for now in PRESENCE] for user in users]
        ),
        call_rate=fill(empty.call_rate, [to_fixed(channel.call_rate) for channel in workspace.channels]),
        call_length=like(empty.call_length, workspace.call_length),
        mention_window=like(empty.mention_window, workspace.mention_window),
        texts=fill(empty.texts, text_codes),
        first_text=like(empty.first_text, [0, *itertools.accumulate(number[:-1])]),
        num_texts=like(empty.num_texts, number),
    )


def _preferences(workspace: Workspace, limits: Limits) -> list[list[int]]:
    """For each teammate the distribution over all channels there is room for."""
    absent = [0.0] * (limits.channels - len(workspace.channel_ids))
    return [cdf([*workspace.preference(user).values(), *absent]) for user in workspace.users]


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
