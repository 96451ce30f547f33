"""One agent in a running workspace: its identity, its name and its view."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.teamsclone import Params, State, Statistics, TeamsClone, actions
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.envs.teamsclone.types import WINDOW, each_agent
from scenarios.teamsclone.compiler import texts
from scenarios.teamsclone.document import Workspace

AGENT = "agent"  # the id of the only agent; of several `agent-0` and so on


class AgentView(NamedTuple):
    """The further input for describing a state, beside the state and its document."""

    env: TeamsClone
    params: Params
    texts: Sequence[str]  # by text code
    agent: int  # whose eyes these are


class AgentSnapshot(NamedTuple):
    """The environment's report on one agent in a state; messages are those of its window, newest first."""

    mask: jax.Array  # [A] bool, as the environment gives it
    is_over: jax.Array  # [] bool
    statistics: Statistics
    is_away: jax.Array  # [N] bool, each agent
    words: jax.Array  # [W] uint32, messages
    age: jax.Array  # [W] int16
    reactions: jax.Array  # [N, W] int32, of each agent: 0 or its emoji + 1


def agent_view(env: TeamsClone, params: Params, documents: Sequence[Workspace], agent: int) -> AgentView:
    """The view of one agent of the workspaces of a library."""
    return AgentView(env, params, texts(documents), agent)


def snapshot(view: AgentView, state: State) -> AgentSnapshot:
    """The environment's report on the agent."""
    return jax.tree.map(np.asarray, _snapshot(view.env, state, view.params, view.agent))


def agent_ids(view: AgentView) -> list[str]:
    """The ids of the agents, in their order."""
    agents = view.env.num_agents
    return [AGENT] if agents == 1 else [f"{AGENT}-{n}" for n in range(agents)]


def current_channel(document: Workspace, state: State, view: AgentView) -> str:
    """The id of the channel that the agent is in."""
    return document.channel_ids[int(state.channel[view.agent])]


def message_id(channel: str, serial: int) -> str:
    """The id of a message; serial numbers of a channel begin at 1."""
    return f"msg-{channel}-{serial}"


def window_ids(document: Workspace, state: State, view: AgentView) -> list[str]:
    """The ids of the messages that the agent sees, newest first."""
    newest = int(state.messages.count[state.channel[view.agent]])
    channel = current_channel(document, state, view)
    return [message_id(channel, serial) for serial in range(newest, max(newest - WINDOW, 0), -1)]


@functools.partial(jax.jit, static_argnums=0)
def _snapshot(env: TeamsClone, state: State, params: Params, agent: jax.Array | int) -> AgentSnapshot:
    """`snapshot`, on the device."""
    mask, statistics = env.action_mask(state, params), env.statistics(state, params)
    if env.num_agents > 1:
        mask, statistics = jax.tree.map(lambda leaf: leaf[agent], (mask, statistics))
    together = state.replace(channel=jnp.broadcast_to(state.channel[agent], state.channel.shape))
    windows = each_agent(actions.look, together)
    return AgentSnapshot(
        mask=mask,
        is_over=env.is_terminated(state, params) | env.is_truncated(state, params),
        statistics=statistics,
        is_away=is_away(state),
        words=windows.words[agent],
        age=windows.age[agent],
        reactions=windows.reaction,
    )
