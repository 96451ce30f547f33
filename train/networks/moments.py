"""Running means and variances, merged batch by batch and over lanes."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import struct

from train.lanes import Lanes

EPSILON = 1e-8  # added to a variance before a division
LIMIT = 10.0  # standard deviations, to which scaled values are clipped


class Moments(struct.PyTreeNode):
    """Mean and variance of F numbers, over the rows that were seen so far.

    >>> import jax.numpy as jnp
    >>> seen = Moments.of(jnp.array([[1.0], [3.0]])).merge(Moments.of(jnp.array([[8.0]])))
    >>> float(seen.count), seen.mean.tolist()
    (3.0, [4.0])
    """

    count: jax.Array  # [] float32, rows; in float32 its growth is exact enough far beyond 2**24
    mean: jax.Array  # [F] float32
    variance: jax.Array  # [F] float32, of the population; of no rows 1, so that `standardize` changes nothing

    @classmethod
    def none(cls, size: int) -> "Moments":
        """Of no rows."""
        return cls(jnp.float32(0), jnp.zeros(size, jnp.float32), jnp.ones(size, jnp.float32))

    @classmethod
    def of(cls, rows: jax.Array, exists: jax.Array | None = None) -> "Moments":
        """Of [..., F] float32, or of those rows that exist ([...] bool)."""
        exists = jnp.ones(rows.shape[:-1], bool) if exists is None else exists
        over = tuple(range(rows.ndim - 1))
        share = exists[..., None] / jnp.maximum(jnp.sum(exists), 1)
        mean = jnp.sum(share * rows, axis=over)
        off = rows - jnp.expand_dims(mean, over)
        return cls(jnp.sum(exists, dtype=jnp.float32), mean, jnp.sum(share * jnp.square(off), axis=over))

    def merge(self, other: "Moments") -> "Moments":
        """Of the rows of both (Chan, Golub and LeVeque 1979, eq. 2.1)."""
        count = self.count + other.count
        share = other.count / jnp.maximum(count, 1.0)
        off = other.mean - self.mean
        variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * jnp.square(off)
        return Moments(count, self.mean + share * off, variance)

    def over(self, lanes: Lanes) -> "Moments":
        """Of the rows of all lanes, the same in each."""
        count = lanes.sum(self.count)
        share = self.count / jnp.maximum(count, 1.0)
        mean = lanes.sum(share * self.mean)
        return Moments(count, mean, lanes.sum(share * (self.variance + jnp.square(self.mean - mean))))

    def standardize(self, rows: jax.Array) -> jax.Array:
        """[..., F] float32 with about mean 0 and variance 1, clipped to `LIMIT`."""
        before: Sequence[int] = range(rows.ndim - 1)
        mean, scale = (jnp.expand_dims(x, before) for x in (self.mean, self.deviation()))
        return jnp.clip((rows - mean) / scale, -LIMIT, LIMIT)

    def deviation(self) -> jax.Array:
        """[F] float32: the standard deviation, never 0."""
        return jnp.sqrt(self.variance + EPSILON)
