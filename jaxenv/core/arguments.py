"""Arguments of `reset` and `step`: indices of every integer type become int32, and what is none is one clear sentence.

All of it is decided by types and shapes while a program is traced, so a compiled program has no checks in it.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

INDICES = ("action", "scenario")  # parameters that take integers
INT32 = np.iinfo(np.int32)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def jit_method(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`jax.jit` of a method, static in `self`, with a clear error for an argument that is no array.

    >>> import dataclasses
    >>> from jaxenv.core.arguments import jit_method
    >>> @dataclasses.dataclass(frozen=True)
    ... class Counter:
    ...     name: str = "Counter-v0"
    ...     @jit_method
    ...     def step(self, action):
    ...         return action + 1
    >>> int(Counter().step(2))
    3
    >>> Counter().step("up")
    Traceback (most recent call last):
    TypeError: action is 'up', Counter-v0 expects an integer
    """
    compiled = jax.jit(method, static_argnums=0)

    @functools.wraps(method)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return compiled(*arguments, **named)
        except TypeError:
            _require_arrays(method, arguments, named)
            raise

    return call


def as_index(what: str, value: Any, shape: tuple[int, ...], owner: str) -> jax.Array:
    """Integers of any type as int32 of `shape`; those beyond int32 become its bounds.

    >>> import numpy as np
    >>> from jaxenv.core.arguments import as_index
    >>> as_index("action", np.uint8(3), (), "LifeOps-v0").dtype
    dtype('int32')
    >>> as_index("action", np.zeros(3, int), (), "LifeOps-v0")
    Traceback (most recent call last):
    TypeError: action has shape (3,), LifeOps-v0 expects []

    Args:
        what: the name of the argument.
        value: a Python or NumPy number, an array, or a list of numbers, which may be traced.
        shape: what is expected.
        owner: who expects it.

    Raises:
        TypeError: if they are no integers, or not of the shape.
    """
    leaves = jax.tree.leaves(value) if isinstance(value, list | tuple) else [value]
    for leaf in leaves:
        if not _is_integer(leaf):
            raise TypeError(f"{what} is {_described(leaf)}, {owner} expects {_integers(shape)}")
    if isinstance(value, list | tuple):
        value = jnp.stack([jnp.asarray(leaf) for leaf in leaves]) if leaves else np.zeros(0, np.int32)
    if np.shape(value) != shape:
        raise TypeError(f"{what} has shape {np.shape(value)}, {owner} expects {list(shape)}")
    if isinstance(value, int):
        return jnp.asarray(min(max(value, INT32.min), INT32.max), jnp.int32)
    found = np.iinfo(value.dtype)
    if found.max > INT32.max:  # so that a large number is not taken for another one
        value = jnp.clip(value, max(found.min, INT32.min), INT32.max)
    return jnp.asarray(value, jnp.int32)


def _require_arrays(method: Callable[..., Any], arguments: tuple, named: dict[str, Any]) -> None:
    """Refuses an argument of a method with a leaf that JAX has no type for.

    Raises:
        TypeError: naming the argument, what it is and who expects what.
    """
    given = inspect.signature(method).bind(*arguments, **named).arguments
    (_, owner), *given = given.items()
    for what, value in given:
        for path, leaf in jax.tree_util.tree_leaves_with_path(value):
            if not _is_array(leaf):
                expected = "an integer" if what in INDICES else "arrays"
                place = f"{what}{jax.tree_util.keystr(path)}"
                raise TypeError(f"{place} is {_described(leaf)}, {_name(owner)} expects {expected}") from None


def _is_array(leaf: Any) -> bool:
    """Whether JAX has a type for it."""
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind in "biufcV"  # V: types of JAX that NumPy has not, such as bfloat16
    return hasattr(leaf, "dtype") or isinstance(leaf, bool | int | float | complex)


def _is_integer(leaf: Any) -> bool:
    """Whether it is an integer or an array of integers; a bool is none."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return isinstance(leaf, int) and not isinstance(leaf, bool)
    return jnp.issubdtype(dtype, jnp.integer)


def _described(leaf: Any) -> str:
    """A value in a few words: its dtype, or itself where it is a word or a number, or its type."""
    if hasattr(leaf, "dtype"):
        return f"of type {leaf.dtype}"
    return repr(leaf) if isinstance(leaf, str | bool | float) else f"of type {type(leaf).__name__}"


def _integers(shape: tuple[int, ...]) -> str:
    return f"integers of shape {list(shape)}" if shape else "an integer"


def _name(owner: Any) -> str:
    """The id of an environment, or of the one in a wrapper."""
    return getattr(owner, "name", None) or getattr(getattr(owner, "env", None), "name", type(owner).__name__)
