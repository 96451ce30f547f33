"""Which members of a population train at once, and the compiled program that they share."""

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from train.lanes import Lanes
from train.run.algorithm import Algorithm
from train.run.memory import as_many_as_fit, device_bytes
from train.settings.config import Config


def turns(config: Config, named: Mapping[str, Config]) -> list[dict[str, Config]]:
    """The members that train at once, turn by turn."""
    size = config.at_once or len(named)
    return [dict(list(named.items())[start : start + size]) for start in range(0, len(named), size)]


def within_memory(config: Config, compiled: Callable[[int], Any], number: int) -> Config:
    """The settings with as many members at once as fit into memory; warns where these are not all.

    Args:
        config: the settings, without `at_once`.
        compiled: number of members -> their compiled superstep.
        number: of all members.
    """
    limit = device_bytes()
    at_once = as_many_as_fit(compiled, number, limit)
    if at_once == number:
        return config
    memory = f"{limit / 1e9:,.1f} GB of memory"
    warnings.warn(f"{number} members do not fit into {memory}: they train in turns, {at_once} at once", stacklevel=3)
    return config.replace(at_once=at_once)


def keys_and_hyper(configs: Sequence[Config]) -> tuple[jax.Array, Any]:
    """The keys [M] of M members, and their hyperparameters, each an array [M]."""
    keys = jnp.stack([jax.random.key(config.seed) for config in configs])
    return keys, jax.tree.map(lambda *values: jnp.array(values), *(config.hyper for config in configs))


def compile_superstep(
    algorithm: Algorithm, config: Config, env: Environment, env_params: Any, named: Mapping[str, Config], number: int
) -> Any:
    """The compiled superstep of so many of the members, whichever they are; it consumes their state."""
    lanes = Lanes(config.rollout.num_lanes)
    keys, hyper = jax.eval_shape(lambda: keys_and_hyper(list(named.values())[:number]))
    init = functools.partial(algorithm.init, config=config, env=env, lanes=lanes)
    state = jax.eval_shape(jax.vmap(init, in_axes=(0, None)), keys, env_params)
    one = algorithm.make_superstep(config, env, lanes)
    together = jax.jit(jax.vmap(one, in_axes=(0, None, 0)), donate_argnums=0)
    return together.lower(state, env_params, hyper).compile()
