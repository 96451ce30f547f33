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
from train.settings.groups import Network

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
    """The hidden layers of the settings, with orthogonal weights of gain sqrt(2).

    With `layer_norm` each is normalized before its activation (Ba et al. 2016).
    """

    settings: Network

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., F] -> [..., hidden[-1]] float32."""
        for size in self.settings.hidden:
            x = Dense(size, kernel_init=orthogonal(2**0.5), dtype=self.settings.dtype)(x)
            x = nn.LayerNorm(dtype=self.settings.dtype)(x) if self.settings.layer_norm else x
            x = ACTIVATIONS[self.settings.activation](x)
        return x.astype(jnp.float32)


Carry = Any
"""[B, H] float32, a network's memory of B episodes, zeros at their start; None without memory."""


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

    At first a unit keeps 0.88 of what it holds from step to step: with gates that are half open, what was told a dozen
    steps ago is gone, and no gradient shows that it would have helped (Jozefowicz et al. 2015, of the LSTM). The inputs
    of all gates are computed for all steps at once, so a step is one matrix product.
    """

    units: int

    @nn.compact
    def __call__(self, inputs: jax.Array, sequences: Sequences) -> tuple[jax.Array, jax.Array]:
        """(inputs [N, T, F], carry before them) -> (outputs [N, T, H], carry after the last step [N, H])."""
        gates = Dense(GATES * self.units, kernel_init=orthogonal(1.0), bias_init=_keeping, name="gates")(inputs)
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


class LRU(nn.Module):
    """A linear recurrent unit (Orvieto et al. 2023) with real eigenvalues: each unit is a fading sum of what it reads.

    The units keep shares of their own from step to step, which are learned: at first from 0.5 to 0.9975. Steps are
    linear, so those of a sequence are computed in parallel.
    """

    units: int

    @nn.compact
    def __call__(self, inputs: jax.Array, sequences: Sequences) -> tuple[jax.Array, jax.Array]:
        """(inputs [N, T, F], carry before them) -> (outputs [N, T, H], carry after the last step [N, H])."""
        logits = self.param("keep", lambda _: jnp.linspace(0.0, 6.0, self.units, dtype=jnp.float32))
        keep = nn.sigmoid(logits)[None, None]
        read = Dense(self.units, kernel_init=orthogonal(1.0), name="read")(inputs)
        read = read * jnp.sqrt(1.0 - keep**2)  # so that a sum over many steps is of the scale of one
        kept = jnp.where(sequences.starts[..., None], 0.0, keep)
        read = read.at[:, 0].add(kept[:, 0] * sequences.carry)
        _, outputs = lax.associative_scan(_two_steps, (kept, read), axis=1)
        return outputs, outputs[:, -1]


def _two_steps(first: tuple[jax.Array, jax.Array], then: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """One linear step, as (share that is kept, what is added), in the place of two."""
    return first[0] * then[0], first[1] * then[0] + then[1]


CORES = {"gru": GRU, "lru": LRU}


def _keeping(key: Key, shape: Sequence[int], dtype: Any = jnp.float32) -> jax.Array:
    """[3 H]: 2 of the update gate, which keeps; 0 of the others."""
    return jnp.repeat(jnp.array([0.0, 2.0, 0.0], dtype), shape[0] // GATES)


def _each_gate(key: Key, units: int) -> jax.Array:
    """[H, 3 H]: an orthogonal matrix for each gate."""
    draw = orthogonal(1.0)
    return jnp.concatenate([draw(each, (units, units)) for each in jax.random.split(key, GATES)], axis=1)
