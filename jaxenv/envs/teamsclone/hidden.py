"""What the only agent has not seen, drawn anew: the mentions in channels that it is not in, and those to come."""

import jax
import jax.numpy as jnp

from jaxenv.core.dice import sample_bits, scale
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.initial_state import fresh_schedule
from jaxenv.envs.teamsclone.types import CHATTER, MENTION, NEVER, ONE, Scenario, State
from jaxenv.lowering.lookup import read

AT_FIRST = 1 / 14  # share of mentions among initial messages, as the generator draws them
SCHEDULED = 1 / 5  # about as many of the posts of the first half are the scheduled mentions


def redraw_mentions(key: Key, state: State, scenario: Scenario, max_steps: jax.Array) -> State:
    """The state with other messages where the agent was not shown them, and another schedule from now on.

    How many messages there are, and since when, is known from the unread counts. Each is a mention by chance, which
    waits while it is young enough; the others are chatter. Rates of the workspace stay: who watches learns them.
    """
    schedule_key, kind_key, author_key = jax.random.split(key, 3)
    rings, clock, half = state.messages, state.clock, max_steps // 2
    is_hidden = messages.is_message(rings.words) & ~messages.is_seen(rings.words, 0)
    is_hidden &= messages.author(rings.words) < scenario.post_rate.shape[0]  # it wrote its own
    is_young = rings.posted >= clock - scenario.mention_window
    author = scale(sample_bits(author_key, rings.words.size), scenario.num_users.astype(jnp.int32))

    def with_mentions(where: jax.Array) -> State:
        """The state with a mention in these places of what is hidden ([P] bool), and chatter in the others."""
        kind = jnp.where(where, MENTION, CHATTER)
        text = read(scenario.texts, read(scenario.first_text, kind))
        drawn = messages.pack(text, author, kind, jnp.where(where, 0, -1))
        drawn = jnp.where(is_young, drawn, drawn & ~messages.PENDING_BIT)
        words = jnp.where(is_hidden, drawn, rings.words)
        return state.replace(messages=rings.replace(words=words), waiting=messages.waiting(words, 1))

    share = jnp.where(rings.posted < 0, AT_FIRST, share_of_mentions(state, scenario, half))
    world = with_mentions(jax.random.uniform(kind_key, rings.words.shape) < share)
    if not state.schedule.step.size:
        return world
    # Since the episode goes on, there is a mention: one is to come, or else all that can be one is.
    schedule = fresh_schedule(schedule_key, scenario.num_channels, scenario.num_users, max_steps)
    step = jnp.where(schedule.step >= clock, schedule.step, jnp.int16(NEVER))
    is_over = jnp.all(step == NEVER) & (world.waiting[0] == 0)
    step = step.at[0].set(jnp.where(is_over & (clock.astype(jnp.int32) < half), clock, step[0]))
    world = select(is_over & (clock.astype(jnp.int32) >= half), with_mentions(share > 0), world)
    return world.replace(schedule=schedule.replace(step=step))


def share_of_mentions(state: State, scenario: Scenario, half: jax.Array) -> jax.Array:
    """[P] or [] float32: how many of the posts at these times are mentions; `half` is of the time limit."""
    if state.schedule.step.size:
        return jnp.where(state.messages.posted.astype(jnp.int32) < half, SCHEDULED, 0.0)
    asks = 1 - scenario.kind_edges[:, MENTION - 1].astype(jnp.float32) / ONE
    rates = scenario.post_rate.astype(jnp.float32)
    return jnp.sum(asks * rates) / jnp.maximum(jnp.sum(rates), 1)
