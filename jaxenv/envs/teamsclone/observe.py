"""Observations: the messages of the agent's channel, and counts of the others. Statistics of an episode."""

import jax
import jax.numpy as jnp

from jaxenv.core.fields import taken
from jaxenv.envs.teamsclone import actions, messages
from jaxenv.envs.teamsclone.actions import Window
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.envs.teamsclone.types import BUSY, Observation, ObservedMessages, Scenario, State, Statistics
from jaxenv.lowering.lookup import read


def observe(
    agent: jax.Array, state: State, scenario: Scenario, max_steps: jax.Array, is_over: jax.Array
) -> Observation:
    """One agent's observation of a state, as `types.each_agent` calls it; `is_over` is [] bool."""
    window = actions.look(agent, state)
    users = jnp.arange(state.presence.shape[0], dtype=jnp.int8) < scenario.num_users
    return Observation(
        messages=observe_messages(window, agent),
        team=read(scenario.team, state.channel),
        **taken(state, "channel", "unread", "clock", "run"),
        exists=jnp.arange(scenario.team.shape[0], dtype=jnp.int8) < scenario.num_channels,
        running=actions.is_running(state),
        joined=state.in_call,
        present=users & (state.presence <= BUSY),
        away=is_away(state),
        max_steps=max_steps.astype(jnp.int16),
        sends=jax.lax.population_count(state.sends).astype(jnp.int8),
        action_mask=actions.legal_mask(agent, state, scenario, window) | is_over,
    )


def observe_messages(window: Window, agent: jax.Array) -> ObservedMessages:
    """The window in plain columns."""
    exists = messages.is_message(window.words)

    def shown(column: jax.Array, dtype: type, absent: int) -> jax.Array:
        return jnp.where(exists, column, absent).astype(dtype)

    return ObservedMessages(
        exists=exists,
        author=shown(messages.author(window.words), jnp.int8, -1),
        kind=shown(messages.kind(window.words), jnp.int8, -1),
        mentions_me=exists & (messages.named(window.words) == agent),
        pending=messages.is_pending(window.words),
        age=shown(window.age, jnp.int16, 0),
        reaction=(window.reaction - 1).astype(jnp.int8),
        text=shown(messages.text(window.words), jnp.int16, 0),
    )


def statistics(state: State, scenario: Scenario) -> Statistics:
    """[N] each, of the episode so far."""
    counts = state.counts
    visited = jnp.sum(state.visited, axis=1, dtype=jnp.int16)
    return Statistics(
        steps=jnp.broadcast_to(state.clock, counts.sent.shape),
        total_reward=counts.total_reward,
        messages_sent=counts.sent,
        channels_switched=counts.switched,
        channels_visited=visited,
        mentions_received=counts.received,
        mentions_answered=counts.answered,
        mentions_missed=counts.missed,
        mean_response_time=_ratio(counts.waited, counts.answered),
        response_rate=_ratio(counts.answered, counts.answered + counts.missed),
        valid_action_share=_ratio(counts.valid, state.clock),
        coverage=_ratio(visited, scenario.num_channels),
        reactions_per_message=_ratio(counts.reacted, state.by_teammates),
    )


def _ratio(part: jax.Array, whole: jax.Array) -> jax.Array:
    """float32: part / whole, 0 where the whole is 0."""
    return part.astype(jnp.float32) / jnp.maximum(whole.astype(jnp.float32), 1.0)
