"""Reward terms, a row each: the weight in each preset, the paid quantity, and a line of documentation.

The rows are the fields of the record of weights; the record of parts, the reward and the table of the rules follow:

>>> import jax, jax.numpy as jnp
>>> from flax import struct
>>> from jaxenv.core import terms
>>> class RewardWeights(struct.PyTreeNode):
...     work: jax.Array | float = terms.term(lambda step: step["minutes"], paid=0.5, doc="a minute of work")
...     late: jax.Array | float = terms.term(lambda step: step["is_late"], paid=-1.0, strict=-3.0, doc="late")
>>> step = {"minutes": jnp.int32(4), "is_late": jnp.bool_(True)}
>>> parts = terms.reward_parts(terms.preset(RewardWeights, "paid"), step)
>>> float(parts.work), float(parts.late), float(terms.total(parts))
(2.0, -1.0, 1.0)
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core.fields import declared_with

WEIGHT_BOUNDS = (-1e6, 1e6)
"""Of a weight, so that no sum of terms leaves float32."""

_ROW = "jaxenv.reward_term"  # the key in the metadata of a dataclass field

Weight = jax.Array | float
"""[] float32, or a Python float."""

Factor = jax.Array | tuple[jax.Array, ...]
"""Numbers, each of which the weight is multiplied by, and bools, all of which must hold for it to be paid."""


@dataclasses.dataclass(frozen=True)
class Row:
    """The declaration of a weight.

    Attributes:
        presets: preset -> weight, 0 where it is not named.
        doc: the paid quantity, in words.
        pays: effects of a step -> factors; None for a coefficient of another row's `weight`.
        part: the name in the record of parts; that of the weight where empty.
        weight: (weights, effects of the step) -> [] float32, where it is more than the weight of that name.
    """

    presets: Mapping[str, float]
    doc: str
    pays: Callable[[Any], Factor] | None = None
    part: str = ""
    weight: Callable[[Any, Any], jax.Array] | None = None


def term(
    pays: Callable[[Any], Factor],
    *,
    doc: str,
    part: str = "",
    weight: Callable[[Any, Any], jax.Array] | None = None,
    **presets: float,
) -> Any:
    """Declares a weight, and the term that it pays; see `Row`. For N agents one factor at least has the shape [N]."""
    return struct.field(metadata={_ROW: Row(presets, doc, pays, part, weight)})


def coefficient(*, doc: str, **presets: float) -> Any:
    """Declares a further number, which enters the `weight` of a term."""
    return struct.field(metadata={_ROW: Row(presets, doc)})


def rows(weights: type) -> dict[str, Row]:
    """Weight -> its row, in the order of the fields.

    Raises:
        TypeError: where a weight has none.
    """
    return declared_with(_ROW, weights, "terms.term or terms.coefficient")


def preset(weights: type, name: str) -> Any:
    """The weights of a preset, as Python floats.

    Raises:
        ValueError: where no weight names the preset.
    """
    presets = list(dict.fromkeys(each for row in rows(weights).values() for each in row.presets))
    if name not in presets:
        raise ValueError(f"{weights.__name__} has no preset {name!r}, only {', '.join(presets)}")
    return weights(**{weight: float(row.presets.get(name, 0.0)) for weight, row in rows(weights).items()})


@functools.cache
def parts_type(weights: type) -> Any:
    """The record `RewardParts`, one [] float32 for each term ([N] for N agents); they sum to the reward."""
    names = [row.part or name for name, row in rows(weights).items() if row.pays is not None]
    namespace = {
        "__annotations__": dict.fromkeys(names, jax.Array),
        "__doc__": "The named terms of one step's reward, each [] float32 ([N] for N agents); they sum to it.",
        "__module__": weights.__module__,
    }
    return type("RewardParts", (struct.PyTreeNode,), namespace)


def reward_parts(weights: Any, step: Any) -> Any:
    """The record of parts: each weight times its factors in the step."""
    paid = {}
    for name, row in rows(type(weights)).items():
        if row.pays is not None:
            amount = getattr(weights, name) if row.weight is None else row.weight(weights, step)
            paid[row.part or name] = _pay(amount, row.pays(step))
    return parts_type(type(weights))(**paid)


def total(parts: Any) -> jax.Array:
    """[] float32 ([N] for N agents): the reward, the parts summed in the order of their fields."""
    return functools.reduce(jnp.add, jax.tree.leaves(parts))


def by_name(parts: Any) -> dict[str, jax.Array]:
    """Name -> part, of the record or dictionary of parts of an environment."""
    return dict(parts if isinstance(parts, Mapping) else vars(parts))


def _pay(amount: Weight, factors: Factor) -> jax.Array:
    """The amount times all numbers, from left to right, where all bools hold; else 0."""
    amount, holds = jnp.asarray(amount, jnp.float32), None
    for factor in map(jnp.asarray, factors if isinstance(factors, tuple) else (factors,)):
        if factor.dtype == bool:
            holds = factor if holds is None else holds & factor
        else:
            amount = amount * factor.astype(jnp.float32)
    return amount if holds is None else jnp.where(holds, amount, jnp.float32(0.0))
