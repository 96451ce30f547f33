"""The payments in a revealed episode, where one-time payments have a price: the relaxation of the upper bound.

A message pays one reaction, a mention one answer, a call one join, the stretch of a channel that begins with a
teammate's message (or the reset) two messages that are no spam and one engagement, and a channel one entry in a block
of 20 steps. Here all may be had as often as one likes, for prices of at least 0. Who keeps to the limits pays `cost` at
most, so the best plan with prices and `cost` together are at least the best plan without, whatever the prices are.

All other relaxations can only raise the value, as each frees the agent of a condition:

- A mention is answered, while it is young enough, from any channel, by an agent that need not have seen it, and though
  an older one stands before it.
- Only teammates' messages push others out of the last ten of their channel, and end its quiet; the agent's own do not.
- Spam uses up nothing: no other message is spam because of it.
- Paid entries lie at least 20 steps apart, so that a block of 20 steps has one at most; that of the start channel
  counts as paid at step 0, and so it has none in the first block. A paid entry may here be one of the channel where
  one is.
- Actions that are not legal are left out: they cost, and do no more than an idle step.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.teamsclone.dynamics import PAUSE, QUIET, SPAM_RUN, TIMELY
from lab.solvers.teamsclone.revealed import Revealed

NEVER = -1e6  # the pay of impossible actions


class Prices(struct.PyTreeNode):
    """The payments for each one-time item (a message in a stretch: twice)."""

    react: jax.Array  # [M], a reaction to the message
    send: jax.Array  # [M], a message in the stretch that is no spam
    engage: jax.Array  # [M], an engagement in the stretch
    answer: jax.Array  # [M], an answer to the mention
    join: jax.Array  # [M], a join of the call
    enter: jax.Array  # [blocks, C], a paid entry


class Pay(struct.PyTreeNode):
    """The most that a kind of action pays in each step, less prices; NEVER where it cannot be done."""

    send: jax.Array  # [T], a message that is no spam
    spam: jax.Array  # [T], one that is
    join: jax.Array  # [T]
    react: jax.Array  # [T, C], to a message of the channel
    enter: jax.Array  # [T, C], the channel


def scales(weights: Any, revealed: Revealed) -> Prices:
    """The payments of each item by itself, the unit of prices."""
    M, T = revealed.shown.shape
    blocks, C = -(-T // PAUSE), revealed.exists.shape[0]
    return Prices(
        react=jnp.full(M, weights.react),
        send=jnp.full(M, weights.send),
        engage=jnp.full(M, weights.channel_engagement),
        answer=jnp.full(M, weights.mention_response + weights.timely_response),
        join=jnp.full(M, weights.join_call),
        enter=jnp.full((blocks, C), weights.switch),
    )


def cost(prices: Prices, revealed: Revealed) -> jax.Array:
    """[] float32: the price of all that can be had."""
    return (
        jnp.vdot(prices.react, revealed.messages)
        + jnp.vdot(prices.send, SPAM_RUN * revealed.begins)
        + jnp.vdot(prices.engage, revealed.messages > 0)
        + jnp.vdot(prices.answer, revealed.mentions)
        + jnp.vdot(prices.join, revealed.calls)
        + jnp.vdot(prices.enter, _payable(prices, revealed))
    )


def pay(prices: Prices, weights: Any, revealed: Revealed) -> Pay:
    """The possible payments of each step, for weights whose rewards are at least 0 and whose penalties at most 0."""
    answer = _answer(prices, weights, revealed)
    return Pay(
        send=jnp.max(_message(prices, weights, revealed) + answer, axis=1),
        spam=weights.spam + jnp.max(answer, axis=1),
        join=_join(prices, weights, revealed),
        react=_react(prices, weights, revealed),
        enter=_enter(prices, weights, revealed),
    )


def _message(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[T, C]: a message that is no spam, without its answers; it is in the stretch of the newest source."""
    quiet = _age(revealed) - (revealed.posted < 0)[:, None]  # counted from step 0 at reset
    can_engage = (quiet >= QUIET) & (revealed.messages > 0)[:, None]
    engagement = jnp.maximum(weights.channel_engagement - prices.engage, 0.0)[:, None]
    pays = (weights.send - prices.send)[:, None] + jnp.where(can_engage, engagement, 0.0)
    return _best_of_channels(revealed.newest, pays, revealed)


def _answer(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[T, C]: the payment for a message's answers, 0 for nothing."""
    age = _age(revealed)
    can = revealed.shown & (revealed.mentions > 0)[:, None] & (age <= revealed.mention_window)
    response = weights.mention_response + jnp.where(age <= TIMELY, weights.timely_response, 0.0)
    return jnp.maximum(_best_of_channels(can, response - prices.answer[:, None], revealed), 0.0)


def _react(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[T, C]: a reaction to the cheapest message of the channel."""
    can = revealed.shown & (revealed.messages > 0)[:, None]
    return _best_of_channels(can, jnp.broadcast_to((weights.react - prices.react)[:, None], can.shape), revealed)


def _join(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[T]: a join of the cheapest call."""
    age = _age(revealed)
    can = (revealed.calls > 0)[:, None] & (age >= 1) & (age <= revealed.call_length)
    return jnp.max(jnp.where(can, (weights.join_call - prices.join)[:, None], NEVER), axis=0)


def _enter(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[T, C]: a switch to the channel, with or without pay."""
    paid = jnp.where(_payable(prices, revealed), jnp.maximum(weights.switch - prices.enter, 0.0), 0.0)
    return jnp.where(revealed.exists, jnp.repeat(paid, PAUSE, axis=0)[: revealed.shown.shape[1]], NEVER)


def _payable(prices: Prices, revealed: Revealed) -> jax.Array:
    """[blocks, C] bool: an entry of the channel can be paid in the block."""
    blocks, C = prices.enter.shape
    counts_as_paid = (np.arange(blocks) == 0)[:, None] & (np.arange(C)[None] == revealed.start)
    return revealed.exists[None] & ~counts_as_paid


def _best_of_channels(can: jax.Array, pays: jax.Array, revealed: Revealed) -> jax.Array:
    """[T, C]: the best payment of the sources of each channel ([M, T]), among those that can pay ([M, T] bool)."""
    is_in = revealed.channel[:, None] == np.arange(revealed.exists.shape[0])[None]  # [M, C]
    each = [jnp.max(jnp.where(can & of_channel[:, None], pays, NEVER), axis=0) for of_channel in is_in.T]
    return jnp.stack(each, axis=1)


def _age(revealed: Revealed) -> jax.Array:
    """[M, T] int32: the age of each source in each step, 0 or less where it is still to be posted."""
    return jnp.arange(revealed.shown.shape[1], dtype=jnp.int32)[None] - revealed.posted[:, None]
