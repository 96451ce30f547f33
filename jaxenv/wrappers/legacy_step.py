"""Steps of five values, as gymnax had them before 1.0 and PureJaxRL, JaxMARL and others still do."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core.types import Info, Key
from jaxenv.wrappers.wrapper import Wrapper


def five_values(
    observation: Any, state: Any, reward: jax.Array, terminated: jax.Array, truncated: jax.Array, info: Info
) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
    """(observation, state, reward, done [] bool, info); `info["discount"]` is 0 after a natural end, else 1."""
    discount = 1.0 - terminated.astype(jnp.float32)
    return observation, state, reward, terminated | truncated, {**info, "discount": discount}


@dataclasses.dataclass(frozen=True)
class LegacyStep(Wrapper):
    """`step` returns five values; the outermost wrapper, but for `Vectorize`."""

    @functools.partial(jax.jit, static_argnums=0)
    def step(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
        """One turn of the wrapped environment, see `five_values`; both ends stay in info."""
        return five_values(*self.env.step(key, state, action, params))
