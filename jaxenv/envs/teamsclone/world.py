"""The world's part of a step: teammates come and go, start calls, and post."""

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core.dice import first_above, pick, running_sum, scale, uniform_among
from jaxenv.core.environment import select
from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.types import BUSY, CHATTER, INVITATION, MENTION, ONE, Draws, Scenario, State
from jaxenv.lowering.lookup import read


class Choice(struct.PyTreeNode):
    """A possible message."""

    is_posted: jax.Array  # [] bool
    author: jax.Array  # [] int32
    channel: jax.Array  # [] int32
    kind: jax.Array  # [] int32


class Post(Choice):
    """The world's message in a step, if any."""

    named: jax.Array  # [] int32, the agent that is mentioned, -1 for none
    text: jax.Array  # [] int16, row of the table of texts
    starts_call: jax.Array  # [] bool


def next_presence(presence: jax.Array, scenario: Scenario, draws: Draws) -> jax.Array:
    """[U] int8: each teammate's presence ([U]) after a step of its chain."""
    return jax.vmap(lambda edges, at, draw: pick(read(edges, at), draw))(
        scenario.presence_edges, presence, draws.presence
    ).astype(jnp.int8)


def post(before: State, state: State, scenario: Scenario, draws: Draws) -> Post:
    """The message of a step: a scheduled mention, else the invitation to a call that starts, else chat.

    Args:
        before: the state before the step, by which calls run and mentions are due.
        state: the state by now, whose presence counts.
        scenario: of the state.
        draws: of the step.
    """
    users = jnp.arange(state.presence.shape[0], dtype=jnp.int8) < scenario.num_users
    present = users & (state.presence <= BUSY)
    chat, call = choose_chat(present, scenario, draws), choose_call(before, present, scenario, draws)
    choice = first_of(call, chat)
    starts_call = call.is_posted
    if state.schedule.step.size > 0:  # the variant's own mentions; then teammates' are chatter
        due = due_mention(before)
        chatter = chat.replace(kind=jnp.where(chat.kind == MENTION, CHATTER, chat.kind))
        choice = first_of(due, first_of(call, chatter))
        starts_call = call.is_posted & ~due.is_posted
    num_texts, first_text = read((scenario.num_texts, scenario.first_text), choice.kind)
    nth = scale(draws.text, num_texts.astype(jnp.int32))
    named = scale(draws.mention, jnp.int32(state.channel.shape[0]))
    return Post(
        **vars(choice),
        named=jnp.where(choice.is_posted & (choice.kind == MENTION), named, -1),
        text=read(scenario.texts, first_text.astype(jnp.int32) + nth),
        starts_call=starts_call,
    )


def choose_chat(present: jax.Array, scenario: Scenario, draws: Draws) -> Choice:
    """The spontaneous message of the teammates who are there ([U] bool): at most one, by their rates."""
    post_cdf = running_sum(jnp.where(present, scenario.post_rate, 0))
    level = scale(draws.author, jnp.maximum(post_cdf[-1], ONE))
    author = first_above(post_cdf, level)
    channel_edges, kind_edges = read((scenario.channel_edges, scenario.kind_edges), author)
    return Choice(level < post_cdf[-1], author, pick(channel_edges, draws.channel), pick(kind_edges, draws.kind))


def choose_call(before: State, present: jax.Array, scenario: Scenario, draws: Draws) -> Choice:
    """A call that starts where none runs, with a host among the teammates who are there ([U] bool)."""
    call_cdf = running_sum(jnp.where(actions.is_running(before) | ~jnp.any(present), 0, scenario.call_rate))
    channel, author = first_above(call_cdf, draws.call), uniform_among(present, draws.author)
    return Choice(draws.call < call_cdf[-1], author, channel, jnp.int32(INVITATION))


def due_mention(state: State) -> Choice:
    """The scheduled mention of this step, if there is one."""
    due = state.schedule.step == state.clock  # [S], at most one
    author = jnp.sum(jnp.where(due, state.schedule.author, 0), dtype=jnp.int32)
    channel = jnp.sum(jnp.where(due, state.schedule.channel, 0), dtype=jnp.int32)
    return Choice(jnp.any(due), author, channel, jnp.int32(MENTION))


def first_of(one: Choice, other: Choice) -> Choice:
    """Selects `one` where it is posted, otherwise `other`."""
    return select(one.is_posted, one, other)
