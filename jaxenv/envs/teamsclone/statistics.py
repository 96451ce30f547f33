"""The statistics of an episode: those of the specification, and those that the rules add."""

import jax
import jax.numpy as jnp

from jaxenv.envs.teamsclone.types import Scenario, State, Statistics


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
