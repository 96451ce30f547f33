"""What the only agent has not seen, drawn anew: the mentions in channels that it is not in, and those to come."""

import jax
import jax.numpy as jnp

from jaxenv.core.dice import sample_bits, scale
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
    rings, schedule = state.messages, state.schedule
    if schedule.step.size:
        fresh = fresh_schedule(schedule_key, scenario.num_channels, scenario.num_users, max_steps)
        schedule = fresh.replace(step=jnp.where(fresh.step >= state.clock, fresh.step, jnp.int16(NEVER)))
        share = jnp.where(rings.posted.astype(jnp.int32) < max_steps // 2, SCHEDULED, 0.0)
    else:
        asks = 1 - scenario.kind_edges[:, MENTION - 1].astype(jnp.float32) / ONE
        rates = scenario.post_rate.astype(jnp.float32)
        share = jnp.sum(asks * rates) / jnp.maximum(jnp.sum(rates), 1)
    share = jnp.where(rings.posted < 0, AT_FIRST, share)
    kind = jnp.where(jax.random.uniform(kind_key, rings.words.shape) < share, MENTION, CHATTER)
    author = scale(sample_bits(author_key, kind.size), scenario.num_users.astype(jnp.int32)).reshape(kind.shape)
    text = read(scenario.texts, read(scenario.first_text, kind))
    drawn = messages.pack(text, author, kind, jnp.where(kind == MENTION, 0, -1))
    is_old = rings.posted < state.clock - scenario.mention_window
    drawn = drawn & ~jnp.where(is_old, messages.PENDING_BIT, jnp.uint32(0))
    is_hidden = messages.is_message(rings.words) & ~messages.is_seen(rings.words, 0)
    is_hidden &= messages.author(rings.words) < scenario.post_rate.shape[0]  # it wrote its own
    words = jnp.where(is_hidden, drawn, rings.words)
    return state.replace(messages=rings.replace(words=words), waiting=messages.waiting(words, 1), schedule=schedule)
