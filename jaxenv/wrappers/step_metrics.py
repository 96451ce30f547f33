"""Reports of a step besides its reward, as a flat dictionary of numbers, for suites that log such dictionaries."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from jaxenv.core.types import Info


def step_metrics(info: Info) -> dict[str, jax.Array]:
    """`reward_<name>` ([] float32, [N] for N agents) for each part of the reward, `invalid_action` and `success`.

    `success` is there if the environment reports it.
    """
    parts = info["reward_parts"]
    rewards = {f"reward_{field.name}": getattr(parts, field.name) for field in dataclasses.fields(parts)}
    return rewards | {name: info[name] for name in ("invalid_action", "success") if name in info}


def zero_metrics(env: Environment, params: Any) -> dict[str, jax.Array]:
    """Those of the start of an episode: the names, shapes and dtypes of `step_metrics`, all zero or False.

    >>> import jaxenv
    >>> metrics = zero_metrics(*jaxenv.make("LifeOps-v0"))
    >>> metrics["invalid_action"].dtype, metrics["reward_overlap_penalty"].dtype
    (dtype('bool'), dtype('float32'))
    """

    def first_step(key: jax.Array) -> dict[str, jax.Array]:
        action = jnp.zeros((env.num_agents,) if env.num_agents > 1 else (), jnp.int32)
        return step_metrics(env.transition(key, env.init(key, params, None), action, params)[-1])

    shapes = jax.eval_shape(first_step, jax.random.key(0))
    return {name: jnp.zeros(metric.shape, metric.dtype) for name, metric in shapes.items()}
