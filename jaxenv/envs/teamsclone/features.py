"""One agent's observation as numbers of about unit size: the flat vector of the rules, and entities for networks."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.types import ActionTables, Entities, EntityGroup
from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.actions import Catalogue
from jaxenv.envs.teamsclone.dynamics import QUIET, SPAM_RUN, SPAM_SENDS, TIMELY
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, TEMPLATES, Observation, Params
from jaxenv.lowering.lookup import read

NUM_TEAMS = 4  # of the vector's layout; further teams look alike
UNREAD_SCALE, AGE_SCALE, SENDS_SCALE, RUN_SCALE = 10.0, 10.0, 3.0, 3.0


def flat(observation: Observation, params: Params, num_agents: int) -> jax.Array:
    """[442] float32 for one agent, [472] for four, with the default capacities; a leading axis of agents is kept.

    Ten messages, newest first, of 38 (41) numbers each, as `message_features` lays them out; then 62 of `context`.
    """
    if observation.channel.ndim:
        return jax.vmap(lambda one: flat(one, params, num_agents))(observation)
    rows = message_features(observation, params, num_agents)
    return jnp.concatenate([rows.ravel(), context(observation)])


def entities(catalogue: Catalogue, observation: Observation, params: Params, num_agents: int) -> Entities:
    """One agent's observation as entities with float32 features.

    context [62]; groups: channels [C, 6], messages [W, 38] (41 with four agents); actions [A, 22]: the kind
    of each entry, its target, and its reward by the rules as far as the agent can know.
    """
    if observation.channel.ndim:
        return jax.vmap(lambda one: entities(catalogue, one, params, num_agents))(observation)
    channels = channel_features(observation)
    return Entities(
        context=context(observation),
        groups={
            "channels": EntityGroup(channels, observation.exists),
            "messages": EntityGroup(message_features(observation, params, num_agents), observation.messages.exists),
        },
        actions=action_features(catalogue, observation, channels),
    )


def message_features(observation: Observation, params: Params, num_agents: int) -> jax.Array:
    """[W, 7 + N + 30] float32: present, author (teammates, then agents), kind, mentions me, pending, age, own reaction,
    embedding of the text; zeros where there is no message.
    """
    seen = observation.messages
    authors = observation.present.shape[0] + num_agents
    columns = [
        seen.exists[:, None],
        seen.author[:, None] == np.arange(authors, dtype=np.int8)[None],
        seen.kind[:, None] == np.arange(len(KINDS), dtype=np.int8)[None],
        seen.mentions_me[:, None],
        seen.pending[:, None],
        seen.age[:, None].astype(jnp.float32) / AGE_SCALE,
        (seen.reaction[:, None] + 1).astype(jnp.float32) / len(EMOJI),
        jnp.where(seen.exists[:, None], read(params.text_embedding, seen.text), 0.0),
    ]
    return jnp.concatenate([jnp.asarray(column, jnp.float32) for column in columns], axis=1)


def context(observation: Observation) -> jax.Array:
    """[62] float32: team 4, current channel C, which channels exist C, unread C, running calls C, joined C, teammates
    who are available or busy U, own status, progress, own sends, run of agents' messages per channel C.
    """
    o, channels = observation, np.arange(observation.exists.shape[0], dtype=np.int8)
    progress = o.clock.astype(jnp.float32) / jnp.maximum(o.max_steps.astype(jnp.float32), 1.0)
    parts = [
        o.team == np.arange(NUM_TEAMS, dtype=np.int8),
        o.channel == channels,
        o.exists,
        o.unread.astype(jnp.float32) / UNREAD_SCALE,
        o.running,
        o.joined,
        o.present,
        o.away[None],
        progress[None],
        o.sends[None].astype(jnp.float32) / SENDS_SCALE,
        o.run.astype(jnp.float32) / RUN_SCALE,
    ]
    return jnp.concatenate([jnp.asarray(part, jnp.float32) for part in parts])


def channel_features(observation: Observation) -> jax.Array:
    """[C, 6] float32: is the current one, unread, whether anything is, a running call, joined, run."""
    o = observation
    columns = (
        o.channel == np.arange(o.exists.shape[0], dtype=np.int8),
        o.unread.astype(jnp.float32) / UNREAD_SCALE,
        o.unread > 0,
        o.running,
        o.joined,
        o.run.astype(jnp.float32) / RUN_SCALE,
    )
    return jnp.stack([jnp.asarray(column, jnp.float32) for column in columns], axis=1)


def action_features(catalogue: Catalogue, observation: Observation, channels: jax.Array) -> ActionTables:
    """[A, 6 + 6 + 6 + 4] float32: the verb (of the six legal ones), the message kind, the features of the channel it
    leads to, and whether it would answer, in time, be spam, and break a silence.
    """
    here = observation.channel.astype(jnp.int32)
    to_channels = jnp.concatenate([channels, read(channels, here)[None]])
    verbs, templates = (jnp.eye(number, dtype=jnp.float32) for number in (actions.IDLE + 1, len(TEMPLATES)))
    tables = (verbs, templates, to_channels, message_outcomes(observation, here))
    return ActionTables.of(tables, _rows(catalogue), observation.action_mask)


def message_outcomes(observation: Observation, here: jax.Array) -> jax.Array:
    """[C + 1, 4] float32, of a message to each channel and to the current one: whether it would answer, in time, be
    spam, and break a silence; only one to the current channel answers or breaks a silence.
    """
    o, is_here = observation, np.arange(observation.exists.shape[0] + 1) == observation.exists.shape[0]
    waits = o.messages.pending
    oldest = jnp.max(jnp.where(waits, o.messages.age, 0))
    newest = jnp.where(o.messages.exists[0], jnp.minimum(o.messages.age[0], o.clock), o.clock)
    columns = [
        is_here & jnp.any(waits),
        is_here & jnp.any(waits) & (oldest <= TIMELY),
        (jnp.append(o.run, read(o.run, here)) >= SPAM_RUN) | (o.sends >= SPAM_SENDS),
        is_here & (newest >= QUIET),
    ]
    return jnp.stack(columns, axis=-1).astype(jnp.float32)


def _rows(catalogue: Catalogue) -> tuple[np.ndarray, ...]:
    """The verb of each entry, the template that it sends, the channel that it leads to and the one that it sends to:
    [A] each, with the current channel after the others, and -1 for none.
    """
    verb, channel, kind, *_ = catalogue.table.T
    sends_to = np.where(verb == actions.TEXT, catalogue.channels, np.where(verb == actions.ANSWER, channel, -1))
    leads_to = np.where((verb == actions.SWITCH) | (verb == actions.JOIN), channel, sends_to)
    template = np.argmax(kind[:, None] == np.array(TEMPLATES), axis=1)
    return np.where(verb <= actions.IDLE, verb, -1), np.where(sends_to < 0, -1, template), leads_to, sends_to
