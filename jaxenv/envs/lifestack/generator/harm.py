"""Changes of metrics as harm, whatever their sign: tables, and how much of it a life has room for.

No harm of one metric does any good to another, and harm is linear, so sums of it are bounds from below.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, UPKEEP
from jaxenv.envs.lifestack.metrics import FIRST, HOPS, INVERTED, METRICS, UNIT, better, cascade, index, indices

MOST_POINTS = 60  # of one change
SIGN = np.where(INVERTED, 1, -1).astype(np.int32)  # of a change of each metric that is harm
FIRST_WELL = better(np.asarray(FIRST))  # [23] the first values, higher is better
STRESS = index("mental_wellbeing.stress_level")


def _harm() -> np.ndarray:
    """[23, 61, 23] int32: the effects of so many points of harm on all metrics, rounded as `spread` does."""
    weights = (cascade() * SIGN[:, None] * SIGN[None, :]).T  # [source, target], none below 0
    product = weights[:, None, :] * np.arange(MOST_POINTS + 1)[None, :, None]
    whole = 1000**HOPS // UNIT
    down, rest = product // whole, product % whole
    return (down + ((2 * rest > whole) | ((2 * rest == whole) & (down % 2 == 1)))).astype(np.int32)


HARM = _harm()
_OF_UPKEEP = -EFFECTS[FIRST_UPKEEP : FIRST_UPKEEP + len(UPKEEP)] * SIGN
RELIEF, SIDE_HARM = np.maximum(_OF_UPKEEP, 0), np.maximum(-_OF_UPKEEP, 0)  # [5, 23] of each kind of upkeep

EVERY_METRIC = dict.fromkeys(METRICS, 1)


def weighted(weights: dict[str, int]) -> np.ndarray:
    """A table to draw a metric from; a weight is how often it stands there."""
    return np.repeat(indices(*weights), list(weights.values()))


def drawn(u: jax.Array, table: np.ndarray) -> jax.Array:
    """int32 of the shape of `u`: an entry of a table."""
    return jnp.asarray(table)[as_integer(u, 0, len(table) - 1)]


def of(metric: jax.Array, points: jax.Array) -> jax.Array:
    """[..., 23] int32: the effects of so many points of harm."""
    return jnp.asarray(HARM)[metric, points]


def share_that_fits(harm: jax.Array, room: jax.Array) -> jax.Array:
    """[] int32: how many 1024ths of the harm ([23]) leave every metric as much as `room` ([23], at least 0) allows."""
    fits = (room // 1000) * 1024 // (harm // 1000 + 1)
    return jnp.min(jnp.where(harm > room, fits, 1024))
