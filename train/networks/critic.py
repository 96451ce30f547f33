"""The critic's estimate for an observation: its value, and the distance from a target."""

import jax
import jax.numpy as jnp
from flax import struct

from train.settings.groups import Hyper


class Critic(struct.PyTreeNode):
    """A value as one number.

    A value in another form, such as a distribution over returns, is a class with the same members, which a network
    takes as `critic`.
    """

    OUTPUTS = 1  # of the network's last layer

    value: jax.Array  # [...] float32

    @classmethod
    def of(cls, outputs: jax.Array) -> "Critic":
        """[..., OUTPUTS] float32, of the network's last layer."""
        return cls(jnp.squeeze(outputs, axis=-1))

    def loss(self, target: jax.Array, old_value: jax.Array, hyper: Hyper) -> jax.Array:
        """[]: 0.5 mean max((v - target)^2, (v_clipped - target)^2), where v_clipped is within `value_clip` of the old.

        Args:
            target: [...] float32.
            old_value: [...] float32, `value` when the sample was collected.
            hyper: of which `value_clip` is read.
        """
        clipped = old_value + jnp.clip(self.value - old_value, -hyper.value_clip, hyper.value_clip)
        return 0.5 * jnp.mean(jnp.maximum(jnp.square(self.value - target), jnp.square(clipped - target)))
