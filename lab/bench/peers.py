"""Environments of other suites as programs: structured tasks of Jumanji and well-known games of gymnax."""

import functools
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.host.names import did_you_mean_one_of
from train.benchmark.workload import Program, rows

IDS = {"jumanji": ("TSP-v1", "Knapsack-v1", "JobShop-v0"), "gymnax": ("Breakout-MinAtar", "CartPole-v1")}


def programs(suites: Sequence[str]) -> dict[str, Callable[[], Program]]:
    """Name -> its builder, of the suites that are installed; a line for a suite that is not.

    Raises:
        ValueError: for an unknown suite.
    """
    found: dict[str, Callable[[], Program]] = {}
    for suite in suites:
        if suite not in IDS:
            raise ValueError(f"no suite {suite!r}.{did_you_mean_one_of(suite, IDS)}")
        if importlib.util.find_spec(suite) is None:
            print(f"{suite} is not installed (extra `peers`): skipped", file=sys.stderr)
        else:
            found |= {f"{suite} {id}": functools.partial(_BUILDERS[suite], id) for id in IDS[suite]}
    return found


def jumanji(id: str) -> Program:
    """A Jumanji environment under its automatic reset."""
    from jumanji import make  # pyright: ignore[reportPrivateImportUsage]
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(make(id))

    def reset(keys: jax.Array, params: Any) -> tuple[Any, Any]:
        state, timestep = env.reset(keys)
        return timestep.observation, state

    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        state, timestep = env.step(state, action)  # Jumanji's states hold their own keys
        return timestep.observation, state, jnp.asarray(timestep.reward), jnp.asarray(timestep.last())

    return Program(f"jumanji {id}", lambda: None, reset, step, lambda observation: observation.action_mask)


def gymnax(id: str) -> Program:
    """A gymnax environment, whose step resets itself; all of its actions are legal."""
    import gymnax as suite

    env, params = suite.make(id)

    def all_legal(observation: jax.Array) -> jax.Array:
        return jnp.ones((len(observation), env.num_actions), bool)

    return Program(f"gymnax {id}", lambda: params, jax.vmap(env.reset, in_axes=(0, None)), rows(env), all_legal)


_BUILDERS: dict[str, Callable[[str], Program]] = {"jumanji": jumanji, "gymnax": gymnax}
