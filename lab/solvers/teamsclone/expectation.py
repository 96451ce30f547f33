"""The mean over draws of the upper bound of an episode, which no policy's expected return exceeds.

The bound takes a descent for each sample of draws, and most of its spread is that of how much happens: how many
mentions, messages and calls there are. These are counted at little cost in many more samples, and the mean of the bound
is corrected by a regression on them (control variates; Owen 2013, section 8.9).
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.types import Key
from jaxenv.envs.teamsclone import TeamsClone
from jaxenv.envs.teamsclone.types import Draws, Params
from lab.solvers.teamsclone.bound import require_signs, upper_bound
from lab.solvers.teamsclone.revealed import posts

SAMPLES, WORLDS = 64, 8192  # of draws: that are bounded, and in which events are counted
BATCH = 16  # bounded at once; more are slower


class Expectation(NamedTuple):
    """A mean that is estimated."""

    mean: float
    error: float  # standard error


def expected_bound(
    env: TeamsClone, params: Params, scenario: int, key: Key, samples: int = SAMPLES, worlds: int = WORLDS
) -> Expectation:
    """The mean upper bound of a workspace.

    >>> import jax, jaxenv
    >>> from lab.solvers.teamsclone import expected_bound
    >>> env, params = jaxenv.make("TeamsClone-v0")
    >>> short = params.replace(max_steps_in_episode=jax.numpy.int32(2))
    >>> mean, error = expected_bound(env, short, 0, jax.random.key(0), samples=8, worlds=16)
    >>> round(mean, 2)  # two messages
    0.2

    Args:
        env: of one agent, without a goal.
        params: with the time limit, the bank, and weights that `upper_bound` is made for.
        scenario: index in the bank.
        key: of all draws.
        samples: how many are bounded.
        worlds: in how many others events are counted.
    """
    require_signs(params.weights)
    T, (of_samples, of_worlds) = int(params.time_limit), jax.random.split(key)
    number = jnp.int32(scenario)
    bounds, events = _bounds(env, T, params, number, jax.random.split(of_samples, samples))
    counted = _events(env, T, params, number, jax.random.split(of_worlds, worlds))
    return controlled(*(np.asarray(each, np.float64) for each in (bounds, events, counted)))


def controlled(values: np.ndarray, controls: np.ndarray, known: np.ndarray) -> Expectation:
    """The mean of values ([n]) given their controls ([n, k]) and those of other samples ([N, k])."""
    center = controls.mean(axis=0)
    deviations, offset = controls - center, known.mean(axis=0) - center
    slopes, *_ = np.linalg.lstsq(deviations, values - values.mean(), rcond=None)
    residuals = values - values.mean() - deviations @ slopes
    noise = (residuals**2).sum() / max(len(values) - 1 - controls.shape[1], 1)
    of_values = noise * (1 / len(values) + offset @ np.linalg.pinv(deviations.T @ deviations) @ offset)
    of_known = np.var(known @ slopes, ddof=1) / len(known)
    return Expectation(float(values.mean() + offset @ slopes), float(np.sqrt(of_values + of_known)))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _bounds(env: TeamsClone, T: int, params: Params, scenario: jax.Array, keys: Key) -> tuple[jax.Array, jax.Array]:
    """The bound ([n]) and the events ([n, 3]) of each sample of draws."""

    def bounded(key: Key) -> tuple[jax.Array, jax.Array]:
        draws = _draws(env, T, key)
        return upper_bound(env, params, scenario, draws), _count(env, params, scenario, draws)

    return jax.lax.map(bounded, keys, batch_size=BATCH)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _events(env: TeamsClone, T: int, params: Params, scenario: jax.Array, keys: Key) -> jax.Array:
    """[N, 3]: the events of each sample of draws."""
    return jax.vmap(lambda key: _count(env, params, scenario, _draws(env, T, key)))(keys)


def _draws(env: TeamsClone, T: int, key: Key) -> Draws:
    """Those of T steps."""
    return jax.vmap(env.sample_draws)(jax.random.split(key, T))


def _count(env: TeamsClone, params: Params, scenario: Any, draws: Draws) -> jax.Array:
    """[3] int32: mentions, messages and calls."""
    found = posts(env, params, scenario, draws)
    events = jnp.stack([found.is_mention, found.is_posted, found.starts_call])
    return jnp.sum(events, axis=1, dtype=jnp.int32)
