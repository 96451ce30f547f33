"""Memory: a recurrent core between the current observation and the hidden layers."""

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct
from jax import lax

from jaxenv.core.types import Key
from train.networks.layers import PRECISION, Dense, orthogonal

GATES = 3  # reset, update, candidate


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
    def __call__(self, inputs: jax.Array, memory: Sequences) -> tuple[jax.Array, jax.Array]:
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

        by_time = jnp.swapaxes(gates, 0, 1), memory.starts.T
        carry, outputs = lax.scan(step, memory.carry, by_time)
        return jnp.swapaxes(outputs, 0, 1), carry


def _each_gate(key: Key, units: int) -> jax.Array:
    """[H, 3 H]: an orthogonal matrix for each gate."""
    draw = orthogonal(1.0)
    return jnp.concatenate([draw(each, (units, units)) for each in jax.random.split(key, GATES)], axis=1)
