"""Steps of five values, as in gymnax before 1.0 and still in PureJaxRL, JaxMARL and others."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core.types import Info, Key
from jaxenv.host.arguments import jit_method
from jaxenv.wrappers.wrapper import Wrapper


def five_values(
    observation: Any, state: Any, reward: jax.Array, terminated: jax.Array, truncated: jax.Array, info: Info
) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
    """(observation, state, reward, done [] bool, info); `info["discount"]` is 0 after a natural end, else 1."""
    return observation, state, reward, terminated | truncated, {**info, "discount": discount(terminated)}


def discount(terminated: jax.Array) -> jax.Array:
    """[] float32: 0 after a natural end, else 1, so that a value is bootstrapped where the time limit cut it off."""
    return 1.0 - terminated.astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class LegacyStep(Wrapper):
    """`step` returns five values; only `Vectorize` may wrap this wrapper.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.LegacyStep(env)
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> observation, state, reward, done, info = env.step(jax.random.key(1), state, 0, params)
    >>> bool(done), float(info["discount"])
    (False, 1.0)
    """

    @jit_method
    def step(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, key: Key, state: Any, action: jax.Array | int, params: Any = None
    ) -> tuple[Any, Any, jax.Array, jax.Array, dict[str, Any]]:
        """Takes one step, see `five_values`; info still has `terminated` and `truncated`."""
        params = self.default_params if params is None else params
        return five_values(*self.env.step(key, state, action, params))
