"""The layers that networks are made of."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers
from jax import lax
from jax.custom_batching import sequential_vmap

from jaxenv.core.types import Key

ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu}

# For float32 matrix products. By default a TPU rounds the factors to bfloat16, whose 8 bits lose the probability ratio
# that PPO clips; at this precision it takes three passes, and a GPU uses TF32.
PRECISION = lax.Precision.HIGH
Dense = functools.partial(nn.Dense, precision=PRECISION)


def orthogonal(gain: float) -> initializers.Initializer:
    """Orthogonal weights of that gain, drawn one matrix at a time under `jax.vmap`.

    On a CPU, several batched decompositions in one program can deadlock.
    """
    draw = initializers.orthogonal(gain)

    def init(key: Key, shape: Sequence[int], dtype: Any = jnp.float32, out_sharding: Any = None) -> jax.Array:
        return sequential_vmap(lambda key: draw(key, shape, dtype, out_sharding))(key)

    return init


class MLP(nn.Module):
    """Hidden layers of the given sizes, with orthogonal weights of gain sqrt(2).

    With `layer_norm` each is normalized before its activation (Ba et al. 2016).
    """

    hidden: tuple[int, ...]
    activation: str
    dtype: str = "float32"  # of the computation; the weights are float32
    layer_norm: bool = False

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., F] -> [..., hidden[-1]] float32."""
        for size in self.hidden:
            x = Dense(size, kernel_init=orthogonal(2**0.5), dtype=self.dtype)(x)
            x = nn.LayerNorm(dtype=self.dtype)(x) if self.layer_norm else x
            x = ACTIVATIONS[self.activation](x)
        return x.astype(jnp.float32)
