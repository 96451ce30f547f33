"""The random baseline of every environment with a mask."""

from typing import Any

import jax

from jaxenv.core import masking
from jaxenv.core.types import Key


def random_policy(key: Key, observation: Any, params: Any) -> jax.Array:
    """Uniform over the legal actions: [] int32."""
    del params
    return masking.sample_uniform(key, observation.action_mask)
