"""The layers that networks are made of: hidden layers, and a recurrent core between the observation and them."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct
from flax.linen import initializers
from jax import lax
from jax.custom_batching import sequential_vmap

from jaxenv.core.types import Key

GATES = 3  # reset, update, candidate

ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu, "swish": nn.swish}

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


class Sequences(struct.PyTreeNode):
    """The inputs for replaying N sequences of T steps."""

    carry: jax.Array  # [N, H] float32, before the first step
    starts: jax.Array  # [N, T] bool, the step begins an episode: whatever came before is forgotten

    @classmethod
    def after(cls, carry: jax.Array, ended: jax.Array) -> "Sequences":
        """Those of a rollout that began with `carry` ([N, H]), whose steps ended episodes or not ([T, N] bool)."""
        return cls(carry, jnp.pad(ended.T[:, :-1], ((0, 0), (1, 0))))  # a carry is reset where it is stored


class GRU(nn.Module):
    """A gated recurrent unit (Cho et al. 2014), with the reset after the product as in cuDNN.

    The inputs of all gates are computed for all steps at once, so a step is one matrix product.
    """

    units: int

    @nn.compact
    def __call__(self, inputs: jax.Array, sequences: Sequences) -> tuple[jax.Array, jax.Array]:
        """(inputs [N, T, F], carry before them) -> (outputs [N, T, H], carry after the last step [N, H])."""
        read = nn.relu(Dense(self.units, kernel_init=orthogonal(2**0.5), name="read")(inputs))
        gates = Dense(GATES * self.units, kernel_init=orthogonal(1.0), name="gates")(read)
        recurrent = self.param("recurrent", _each_gate, self.units)
        bias = self.param("bias", nn.initializers.zeros_init(), (self.units,))

        def step(carry: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            gates, is_start = now
            carry = jnp.where(is_start[:, None], 0.0, carry)
            reset, update, candidate = jnp.split(gates, GATES, axis=-1)
            of_carry = jnp.split(jnp.matmul(carry, recurrent, precision=PRECISION), GATES, axis=-1)
            reset, update = nn.sigmoid(reset + of_carry[0]), nn.sigmoid(update + of_carry[1])
            carry = (1.0 - update) * nn.tanh(candidate + reset * (of_carry[2] + bias[None])) + update * carry
            return carry, carry

        by_time = jnp.swapaxes(gates, 0, 1), sequences.starts.T
        carry, outputs = lax.scan(step, sequences.carry, by_time)
        return jnp.swapaxes(outputs, 0, 1), carry


def _each_gate(key: Key, units: int) -> jax.Array:
    """[H, 3 H]: an orthogonal matrix for each gate."""
    draw = orthogonal(1.0)
    return jnp.concatenate([draw(each, (units, units)) for each in jax.random.split(key, GATES)], axis=1)
