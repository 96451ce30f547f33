"""The random baseline of every environment."""

from typing import Any

import jax

from jaxenv.core import masking
from jaxenv.core.types import Key


def random_policy(key: Key, observation: Any, params: Any) -> jax.Array:
    """Draws uniformly among the legal actions: [] int32.

    >>> import jax, jaxenv
    >>> from jaxenv.baselines import random_policy
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = jax.jit(random_policy)(jax.random.key(1), observation, params)
    >>> bool(observation.action_mask[action])
    True
    """
    del params
    return masking.sample_uniform(key, observation.action_mask)
