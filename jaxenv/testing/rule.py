"""Rules of the check, and their reports."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.testing.run import CheckRun

TOLERANCE = 1e-5  # of floats, relative or absolute: XLA sums in another order in another program


class ConformanceError(AssertionError):
    """A rule of the contract is broken; the message begins with the rule's name."""


class Broken(Exception):
    """A rule is broken; the message gives the finding and its place."""


class Unchecked(Exception):
    """A rule could not be checked; the message gives the reason and a remedy."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """A rule of the contract, made by decorating the function that checks it with `rule`.

    Attributes:
        check: raises `Broken` or `Unchecked`, or returns where the rule holds.
        mistake: the usual cause of breaking the rule.
        is_precondition: whether no episode can be played where the rule is broken.
        reads_info: whether it reads `info`, so that it is not checked where the rule `info` is broken.
    """

    check: Callable[[CheckRun], None]
    mistake: str
    is_precondition: bool = False
    reads_info: bool = False

    @property
    def name(self) -> str:
        """The name of the function, in words."""
        return self.check.__name__.replace("_", " ")

    @property
    def law(self) -> str:
        """The statement of the rule: the docstring of the function, on one line and without its full stop."""
        return " ".join((inspect.getdoc(self.check) or "").split()).rstrip(".")


def rule(**facts: Any) -> Callable[[Callable[[CheckRun], None]], Rule]:
    """Makes a rule of a function whose docstring states the law; the arguments are the other fields of `Rule`."""
    return lambda check: Rule(check, **facts)


def require_equal(what: str, found: Any, expected: Any, *, where: str | None = None, exact: bool = False) -> None:
    """Requires two trees of arrays to agree: integers and flags exactly, floats within the tolerance.

    Args:
        what: the name of the tree, for the message.
        found: a tree of arrays.
        expected: a tree of the same structure.
        where: the place, for the message; by default the leading axes are [steps, episodes].
        exact: floats must agree to the bit as well.
    """
    leaves = jax.tree_util.tree_leaves_with_path(found)
    for (path, leaf), wanted in zip(leaves, jax.tree.leaves(expected), strict=True):
        leaf, wanted = np.asarray(leaf), np.asarray(wanted)
        different = np.argwhere(~_agree(leaf, wanted, exact))
        if len(different):
            index = tuple(different[0])
            place = at(*index[:2]) if where is None else where
            raise Broken(f"{what}{jax.tree_util.keystr(path)} is {leaf[index]}, expected {wanted[index]}, {place}")


def at(step: int, episode: int) -> str:
    """A place in the rollout, in words."""
    return f"at step {step} of episode {episode}"


def aval(leaf: Any) -> str:
    """Dtype, shape and weak type, in words."""
    weak = " of weak type" if getattr(leaf, "weak_type", False) else ""
    return f"{leaf.dtype}{list(leaf.shape)}{weak}"


def is_float(leaf: np.ndarray) -> bool:
    """Whether an array holds floats of any width, bfloat16 included."""
    return jnp.issubdtype(leaf.dtype, jnp.floating)


def _agree(found: np.ndarray, expected: np.ndarray, exact: bool) -> np.ndarray:
    """Elementwise; NaN agrees with NaN, since the rule `finite` reports it."""
    if not is_float(found):
        return found == expected
    tolerance = 0.0 if exact else TOLERANCE
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    return np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
