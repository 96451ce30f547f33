"""Who looks at a workspace, and what that agent and its messages are called."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.teamsclone import Params, State, Statistics, TeamsClone, actions
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.envs.teamsclone.types import WINDOW
from scenarios.teamsclone.document import Workspace
from scenarios.teamsclone.texts import texts

AGENT = "agent"  # the id of the only agent; of several `agent-0` and so on


class Standpoint(NamedTuple):
    """What telling a state needs beside the state and its document."""

    env: TeamsClone
    params: Params
    texts: Sequence[str]  # by text code
    agent: int  # whose eyes these are


class Sight(NamedTuple):
    """What the environment says of one agent at a state; messages are those of its window, newest first."""

    mask: jax.Array  # [A] bool, as the environment gives it
    is_over: jax.Array  # [] bool
    statistics: Statistics
    is_away: jax.Array  # [N] bool, each agent
    words: jax.Array  # [W] uint32, messages
    age: jax.Array  # [W] int16
    reactions: jax.Array  # [N, W] int32, of each agent: 0 or its emoji + 1


def standpoint(env: TeamsClone, params: Params, documents: Sequence[Workspace], agent: int) -> Standpoint:
    """That of one agent in the workspaces of a library."""
    return Standpoint(env, params, texts(documents), agent)


def look(view: Standpoint, state: State) -> Sight:
    """Asks the environment."""
    return jax.tree.map(np.asarray, _ask(view.env, state, view.params, view.agent))


def agent_ids(view: Standpoint) -> list[str]:
    """What the agents are called, in their order."""
    agents = view.env.num_agents
    return [AGENT] if agents == 1 else [f"{AGENT}-{n}" for n in range(agents)]


def current_channel(document: Workspace, state: State, view: Standpoint) -> str:
    """The id of the channel that the agent is in."""
    return document.channel_ids[int(state.channel[view.agent])]


def message_id(channel: str, serial: int) -> str:
    """What a message is called; serial numbers of a channel begin at 1."""
    return f"msg-{channel}-{serial}"


def window_ids(document: Workspace, state: State, view: Standpoint) -> list[str]:
    """The ids of the messages that the agent sees, newest first."""
    newest = int(state.messages.count[state.channel[view.agent]])
    channel = current_channel(document, state, view)
    return [message_id(channel, serial) for serial in range(newest, max(newest - WINDOW, 0), -1)]


@functools.partial(jax.jit, static_argnums=0)
def _ask(env: TeamsClone, state: State, params: Params, agent: jax.Array | int) -> Sight:
    """`look`, on the device."""
    mask, statistics = env.action_mask(state, params), env.statistics(state, params)
    if env.num_agents > 1:
        mask, statistics = jax.tree.map(lambda leaf: leaf[agent], (mask, statistics))
    together = state.replace(channel=jnp.broadcast_to(state.channel[agent], state.channel.shape))
    windows = jax.vmap(lambda each: actions.look(together, each))(jnp.arange(env.num_agents))
    return Sight(
        mask=mask,
        is_over=env.is_terminated(state, params) | env.is_truncated(state, params),
        statistics=statistics,
        is_away=is_away(state),
        words=windows.words[agent],
        age=windows.age[agent],
        reactions=windows.reaction,
    )
