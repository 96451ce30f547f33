"""Arguments of `reset` and `step`: casts integers of every type to int32; anything else raises a one-line TypeError.

Types and shapes are checked while a program is traced, so a compiled program has no checks in it. Numbers that lie on
the host are clamped to int32 before a call, since JAX would cut off their upper bits.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

INDICES = ("action", "actions", "scenario")  # parameters that take integers
INT32 = np.iinfo(np.int32)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def jit_method(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`jax.jit` of a method, static in `self`, with a clear error for an argument that is no array.

    Indices (`INDICES`) that lie on the host are brought into int32 before the call.

    >>> import dataclasses
    >>> from jaxenv.host.arguments import jit_method
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
    places = {place for place, name in enumerate(inspect.signature(method).parameters) if name in INDICES}

    @functools.wraps(method)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        by_place: Any = (within_int32(value) if place in places else value for place, value in enumerate(arguments))
        by_name: Any = {name: within_int32(value) if name in INDICES else value for name, value in named.items()}
        try:
            return compiled(*by_place, **by_name)
        except TypeError:
            _require_arrays(method, arguments, named)
            raise

    return call


def as_index(what: str, value: Any, shape: tuple[int, ...], owner: str) -> jax.Array:
    """Integers of any type as int32 of `shape`; those beyond int32 become its bounds.

    >>> import numpy as np
    >>> from jaxenv.host.arguments import as_index
    >>> as_index("action", np.uint8(3), (), "LifeOps-v0").dtype
    dtype('int32')
    >>> as_index("action", np.zeros(3, int), (), "LifeOps-v0")
    Traceback (most recent call last):
    TypeError: action has shape (3,), LifeOps-v0 expects []

    Args:
        what: the name of the argument.
        value: a Python or NumPy number, an array, or a list of numbers, which may be traced.
        shape: the expected shape.
        owner: the environment or adapter that expects it.

    Raises:
        TypeError: if they are not integers, or not of the shape.
    """
    leaves = jax.tree.leaves(value) if isinstance(value, list | tuple) else [value]
    for leaf in leaves:
        if not _is_integer(leaf):
            expected = f"integers of shape {list(shape)}" if shape else "an integer"
            raise TypeError(f"{what} is {_described(leaf)}, {owner} expects {expected}")
    if isinstance(value, list | tuple):
        value = jnp.array(jax.tree.map(_as_int32, value), jnp.int32)
    if np.shape(value) != shape:
        raise TypeError(f"{what} has shape {np.shape(value)}, {owner} expects {list(shape)}")
    return _as_int32(value)


def within_int32(value: Any) -> Any:
    """Host integers clamped to int32, alone, in an array, list or dictionary; whatever else it is stays as it is.

    JAX would cut 2³² + 3 to 3 where 64 bits are not enabled, so that an action out of range would be another one.

    >>> import numpy as np
    >>> from jaxenv.host.arguments import within_int32
    >>> within_int32([np.int64(2**32 + 3), 10**400, 3])
    [np.int32(2147483647), 2147483647, 3]
    """
    return jax.tree.map(_clamped, value)


def _clamped(leaf: Any) -> Any:
    """A host integer, or an array of them, within int32; whatever else it is stays as it is."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "iu":
        return _clip(np, leaf)
    if isinstance(leaf, np.generic) and leaf.dtype.kind in "iu":
        return np.int32(_clamped(int(leaf)))
    if isinstance(leaf, int) and not INT32.min <= leaf <= INT32.max:
        return max(INT32.min, min(leaf, INT32.max))
    return leaf


def _as_int32(leaf: Any) -> jax.Array:
    """An integer, or an array of them, as int32; those beyond int32 become its bounds."""
    leaf = _clamped(leaf)
    return jnp.asarray(_clip(jnp, leaf) if isinstance(leaf, jax.Array) else leaf, jnp.int32)


def _clip(numpy: Any, integers: Any) -> Any:
    """Integers in int32, by NumPy or JAX, where their type goes beyond it."""
    found = jnp.iinfo(integers.dtype)
    if found.max <= INT32.max:
        return integers
    return numpy.clip(integers, max(found.min, INT32.min), INT32.max).astype(np.int32)


def _require_arrays(method: Callable[..., Any], arguments: tuple, named: dict[str, Any]) -> None:
    """Refuses an argument of a method with a leaf that JAX has no type for.

    Raises:
        TypeError: names the argument, its type and the expected type.
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
    """Whether it is an integer or an array of integers; bools do not count."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return isinstance(leaf, int) and not isinstance(leaf, bool)
    return jnp.issubdtype(dtype, jnp.integer) and not jnp.issubdtype(dtype, np.timedelta64)


def _described(leaf: Any) -> str:
    """A value in a few words: its dtype, or itself where it is a word or a number, or its type."""
    if hasattr(leaf, "dtype"):
        return f"of type {leaf.dtype}"
    return repr(leaf) if isinstance(leaf, str | bool | float) else f"of type {type(leaf).__name__}"


def _name(owner: Any) -> str:
    """The id of an environment, or of the one in a wrapper."""
    return getattr(owner, "name", None) or getattr(getattr(owner, "env", None), "name", type(owner).__name__)
