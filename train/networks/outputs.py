"""The outputs of a network: a categorical distribution over the legal actions, and a critic."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

from jaxenv.core import masking
from jaxenv.core.types import ActionMask, Key
from train.settings.groups import Hyper

UNITS = 2.0**22  # of probability, in which samples are drawn


class MaskedCategorical(struct.PyTreeNode):
    """A categorical distribution in which illegal actions have probability 0 and everything stays finite.

    >>> policy = MaskedCategorical.of(jnp.zeros(3), jnp.array([True, False, True]))
    >>> jnp.exp(policy.log_probs)
    Array([0.5, 0. , 0.5], dtype=float32)
    """

    log_probs: jax.Array  # [..., A] float32, normalized; about finfo.min where illegal

    @classmethod
    def of(cls, logits: jax.Array, mask: ActionMask) -> "MaskedCategorical":
        """The distribution of `logits` ([..., A]) over the entries where `mask` ([..., A] bool) is True."""
        return cls(jax.nn.log_softmax(masking.mask_logits(logits, mask)))

    def sample(self, key: Key) -> jax.Array:
        """[...] int32: a sample by inversion of the cumulative distribution, from one random number a row.

        Probabilities are counted in units of 2⁻²², whose sums are exact in float32 in every order. So an action of
        probability 0 is never drawn, and one of less than 2⁻²² is not either.
        """
        counts = jnp.floor(jnp.exp(self.log_probs) * UNITS)
        summed = np.tri(counts.shape[-1], dtype=np.float32).T  # faster than `cumsum` on all platforms
        up_to = jnp.matmul(counts, summed, precision=lax.Precision.HIGHEST)
        total = up_to[..., -1]
        rank = jnp.floor(jax.random.uniform(key, total.shape) * total)
        return jnp.sum(up_to <= jnp.minimum(rank, total - 1)[..., None], axis=-1, dtype=jnp.int32)

    def mode(self) -> jax.Array:
        """[...] int32: the most probable action; the first one on ties."""
        return jnp.argmax(self.log_probs, axis=-1).astype(jnp.int32)

    def log_prob(self, action: jax.Array) -> jax.Array:
        """[...] float32: the log-probability of `action` ([...] int32)."""
        # A sum over A, because the gradient of a gather is a slow scatter.
        chosen = jax.nn.one_hot(action, self.log_probs.shape[-1], dtype=jnp.bool_)
        return jnp.sum(jnp.where(chosen, self.log_probs, 0.0), axis=-1)

    def or_uniform(self, mask: ActionMask, epsilon: jax.Array | float) -> "MaskedCategorical":
        """Epsilon-greedy: the most probable action, or with probability `epsilon` any legal one ([..., A] bool).

        >>> policy = MaskedCategorical.of(jnp.arange(3.0), jnp.array([True, True, False]))
        >>> jnp.exp(policy.or_uniform(jnp.array([True, True, False]), 0.5).log_probs)
        Array([0.25, 0.75, 0.  ], dtype=float32)
        """
        best = jax.nn.one_hot(self.mode(), mask.shape[-1])
        legal = mask / jnp.maximum(jnp.sum(mask, axis=-1, keepdims=True), 1)
        probs = (1.0 - epsilon) * best + epsilon * legal
        return MaskedCategorical(masking.mask_logits(jnp.log(jnp.where(probs > 0, probs, 1.0)), probs > 0))

    def entropy(self) -> jax.Array:
        """[...] float32: -sum p log p in nats, over the actions of positive probability."""
        probs = jnp.exp(self.log_probs)
        return -jnp.sum(jnp.where(probs > 0, probs * self.log_probs, 0.0), axis=-1)


class Critic(struct.PyTreeNode):
    """A value as one number.

    A value in another form, such as a distribution over returns, is a class with the same members and a row of
    `CRITICS`.
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


CRITICS: dict[str, type[Critic]] = {"scalar": Critic}
"""Name in the settings -> the form of the value."""
