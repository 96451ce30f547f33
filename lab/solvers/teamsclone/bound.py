"""An upper bound on the return of an episode of TeamsClone whose draws are known.

The best plan of the relaxation is found backward in time, over states of three parts: the agent's channel; how many
messages that are no spam it sent in the block of ten steps (three at most, as in any ten steps); and in which of the
last five steps it acted, by which presence is paid. Any prices make a bound; a descent along its subgradient (Held and
Karp 1971), with the steps of Adam (Kingma and Ba 2015), looks for prices that make it low.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.teamsclone import TeamsClone
from jaxenv.envs.teamsclone.dynamics import BUSY_ACTS, SPAM_SENDS
from jaxenv.envs.teamsclone.types import MEMORY_OF_ACTS, MEMORY_OF_SENDS, Draws, Params
from lab.solvers.teamsclone.relaxation import NEVER, Pay, Prices, cost, pay, scales
from lab.solvers.teamsclone.revealed import Revealed, reveal

BLOCK = MEMORY_OF_SENDS.bit_length() + 1  # steps in which SPAM_SENDS messages are no spam
ROUNDS = 120
START, RATE = 0.4, 0.2  # the first prices and the first steps of the descent, as shares of the payments
MEAN_DECAY, SQUARE_DECAY, SMALL = 0.9, 0.99, 1e-3

PENALTIES = ("empty_message", "invalid_channel", "invalid_action", "spam")


def upper_bound(
    env: TeamsClone, params: Params, scenario: jax.Array | int, draws: Draws, rounds: int = ROUNDS
) -> jax.Array:
    """[] float32: at least the return of every play of a workspace in which the draws of the T steps are these.

    >>> import jax, jaxenv
    >>> from lab.solvers.teamsclone import upper_bound
    >>> env, params = jaxenv.make("TeamsClone-v0")
    >>> draws = jax.vmap(env.sample_draws)(jax.random.split(jax.random.key(0), 2))
    >>> round(float(jax.jit(upper_bound, static_argnums=0)(env, params, 0, draws)), 2)  # two messages
    0.2

    Args:
        env: of one agent, without a goal.
        params: weights whose rewards are at least 0 and whose penalties are at most 0, and the bank.
        scenario: index in the bank.
        draws: of each step, [T, ...].
        rounds: of the descent; none of them makes the bound wrong, more make it lower.
    """
    if env.num_agents > 1 or env.goal != "none":
        raise ValueError(f"{env.name}: expected an environment of one agent whose episodes end at the time limit alone")
    return lowest(params.weights, reveal(env, params, scenario, draws), rounds)


def require_signs(weights: Any) -> None:
    """A ValueError for rewards under 0 or penalties above, which the bound is not made for (host side)."""
    for name, weight in vars(weights).items():
        if (weight > 0) if name in PENALTIES else (weight < 0):
            raise ValueError(f"weights.{name}={float(weight)}: expected rewards >= 0 and penalties <= 0")


def lowest(weights: Any, revealed: Revealed, rounds: int) -> jax.Array:
    """[] float32: the lowest bound that the descent meets."""
    scale = scales(weights, revealed)
    bound_and_slope = jax.value_and_grad(lambda prices: priced_bound(prices, weights, revealed))

    def descend(carry: Any, number: jax.Array) -> tuple[Any, None]:
        prices, mean, square, low = carry
        bound, slope = bound_and_slope(prices)
        mean = jax.tree.map(lambda m, g: MEAN_DECAY * m + (1 - MEAN_DECAY) * g, mean, slope)
        square = jax.tree.map(lambda s, g: SQUARE_DECAY * s + (1 - SQUARE_DECAY) * g**2, square, slope)
        rate = RATE * (1 - number / rounds) / (1 - MEAN_DECAY ** (number + 1))
        unbiased = 1 - SQUARE_DECAY ** (number + 1)

        def lower(price: jax.Array, scale: jax.Array, mean: jax.Array, square: jax.Array) -> jax.Array:
            return jnp.maximum(price - rate * scale * mean / (jnp.sqrt(square / unbiased) + SMALL), 0.0)

        return (jax.tree.map(lower, prices, scale, mean, square), mean, square, jnp.minimum(low, bound)), None

    zeros = jax.tree.map(jnp.zeros_like, scale)
    first = (jax.tree.map(lambda each: START * each, scale), zeros, zeros, jnp.float32(np.inf))
    return jax.lax.scan(descend, first, jnp.arange(rounds, dtype=jnp.float32))[0][-1]


def priced_bound(prices: Prices, weights: Any, revealed: Revealed) -> jax.Array:
    """[] float32: the bound that some prices make."""
    return cost(prices, revealed) + best_plan(pay(prices, weights, revealed), weights.presence, revealed.start)


def best_plan(pays: Pay, presence: Any, start: jax.Array) -> jax.Array:
    """[] float32: the most that a plan earns from a start channel, presence included.

    Values are [C, SPAM_SENDS + 1, 16]: by channel, messages sent in the block, and acts of the last four steps, the
    last one in the lowest bit. Those of five steps differ by the pay of presence, and are 32.
    """
    T, C = pays.react.shape
    is_present = np.bitwise_count(np.arange(MEMORY_OF_ACTS + 1)) >= BUSY_ACTS
    present = jnp.where(is_present, presence, 0.0)[None, None]

    def back(after: jax.Array, step: tuple[Pay, jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        pays, ends_block, is_last = step
        after = jnp.where(ends_block, after[:, :1], after)
        later = jnp.where(is_last, 0.0, present) + jnp.concatenate([after, after], axis=-1)
        idle, acts = later[..., 0::2], later[..., 1::2]
        act = jnp.maximum(jnp.maximum(pays.react, pays.join), pays.spam)
        sent = jnp.full_like(acts, NEVER).at[:, :SPAM_SENDS].set(acts[:, 1:] + pays.send)
        switched = jnp.max(idle + pays.enter[:, None, None], axis=0, keepdims=True)
        best = jnp.maximum(jnp.maximum(idle, acts + act[:, None, None]), jnp.maximum(sent, switched))
        return best, None

    last = jnp.zeros((C, SPAM_SENDS + 1, (MEMORY_OF_ACTS + 1) // 2))
    after = np.arange(T) + 1
    first, _ = jax.lax.scan(back, last, (pays, after % BLOCK == 0, after == T), reverse=True)
    return first[start, 0, 0]
