"""How a rule speaks: what it found and where, or why it could not look."""

from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

TOLERANCE = 1e-5  # of floats, relative or absolute: XLA adds up in another order in another program


class ConformanceError(AssertionError):
    """A rule of the contract is broken; the message begins with the rule's name."""


class Broken(Exception):
    """A rule is broken; the message is what was found, and where."""


class Unchecked(Exception):
    """A rule had nothing to look at; the message is why, and what would help."""


def require_equal(what: str, found: Any, expected: Any, *, where: str | None = None, exact: bool = False) -> None:
    """Two trees of arrays agree: integers and flags to the bit, floats to the tolerance or, if `exact`, to the bit.

    Args:
        what: the name of the tree, for the message.
        found: a tree of arrays.
        expected: a tree of the same structure.
        where: the place, for the message; left out, the leading axes are [steps, episodes].
        exact: floats to the bit as well.
    """
    leaves = jax.tree_util.tree_leaves_with_path(found)
    for (path, leaf), wanted in zip(leaves, jax.tree.leaves(expected), strict=True):
        leaf, wanted = np.asarray(leaf), np.asarray(wanted)
        different = np.argwhere(~_agree(leaf, wanted, exact))
        if len(different):
            index = tuple(different[0])
            place = at(*index[:2]) if where is None else where
            broken(f"{what}{jax.tree_util.keystr(path)} is {leaf[index]} and not {wanted[index]}, {place}")


def broken(found: str) -> NoReturn:
    """Ends a rule that does not hold."""
    raise Broken(found)


def at(step: int, episode: int) -> str:
    """A place of the record in words."""
    return f"at step {step} of episode {episode}"


def aval(leaf: Any) -> str:
    """Dtype, shape and weak type in words."""
    weak = " of weak type" if getattr(leaf, "weak_type", False) else ""
    return f"{leaf.dtype}{list(leaf.shape)}{weak}"


def is_float(leaf: np.ndarray) -> bool:
    """Floats of every width, bfloat16 too."""
    return jnp.issubdtype(leaf.dtype, jnp.floating)


def _agree(found: np.ndarray, expected: np.ndarray, exact: bool) -> np.ndarray:
    """Elementwise; NaN agrees with NaN, because that is told by a rule of its own."""
    if not is_float(found):
        return found == expected
    tolerance = 0.0 if exact else TOLERANCE
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    return np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
