"""Batches of environments: work that few rows need at a time, and arrays that vary over the devices of a mesh."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

GROUP = 64  # rows, of which one is computed in a pass


def where_rare(is_needed: jax.Array, compute: Callable[..., Any], arguments: tuple, otherwise: Any) -> Any:
    """`compute(*arguments)` where `is_needed`, else `otherwise`: for one environment, to be batched by `jax.vmap`.

    Plain `jnp.where` under `jax.vmap` computes for every row. Here a CPU computes in passes, for the first row of each
    group that still needs it, until none is left; the results are the same bits. An accelerator, on which a loop of
    unknown length costs more than the work, computes for every row.

    >>> import jax, jax.numpy as jnp
    >>> from jaxenv.lowering.batches import where_rare
    >>> def step(number, is_over):
    ...     return where_rare(is_over, lambda n: n * n, (number,), -number)
    >>> jax.jit(jax.vmap(step))(jnp.arange(4), jnp.array([False, False, True, True])).tolist()
    [0, -1, 4, 9]

    Args:
        is_needed: [] bool.
        compute: a pure function that closes over no traced value.
        arguments: its arguments, arrays and trees of them.
        otherwise: a tree like its result.
    """
    lifted = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (is_needed, arguments, otherwise))
    return jax.tree.map(lambda leaf: leaf[0], _over_rows(compute)(*lifted))


def _over_rows(compute: Callable[..., Any]) -> Any:
    """The same for n rows; one `jax.vmap` more makes more rows of it, so that no loop has a batched condition."""

    @jax.custom_batching.custom_vmap
    def rows(is_needed: jax.Array, arguments: tuple, otherwise: Any) -> Any:
        everywhere = functools.partial(_everywhere, compute)
        if is_needed.shape[0] <= GROUP:
            return everywhere(is_needed, arguments, otherwise)
        in_passes = functools.partial(_in_passes, compute)
        return lax.platform_dependent(is_needed, arguments, otherwise, cpu=in_passes, default=everywhere)

    @rows.def_vmap
    def batch(axis_size: int, in_batched: Any, *arguments: Any) -> tuple[Any, Any]:
        def flat(leaf: jax.Array, is_batched: bool) -> jax.Array:
            leaf = leaf if is_batched else jnp.broadcast_to(leaf, (axis_size, *leaf.shape))
            return leaf.reshape(-1, *leaf.shape[2:])

        result = rows(*jax.tree.map(flat, arguments, tuple(in_batched)))
        stacked = jax.tree.map(lambda leaf: leaf.reshape(axis_size, -1, *leaf.shape[1:]), result)
        return stacked, jax.tree.map(lambda _: True, stacked)

    return rows


def _everywhere(compute: Callable[..., Any], is_needed: jax.Array, arguments: tuple, otherwise: Any) -> Any:
    """For every row; `is_needed` is [n]."""

    def select(fresh: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(is_needed.reshape(-1, *(1,) * (old.ndim - 1)), fresh, old)

    return jax.tree.map(select, jax.vmap(compute)(*arguments), otherwise)


def _in_passes(compute: Callable[..., Any], is_needed: jax.Array, arguments: tuple, otherwise: Any) -> Any:
    """For one row of each group in a pass; `is_needed` is [n]."""
    count = is_needed.shape[0]
    groups = -(-count // GROUP)
    begin, place = np.arange(groups, dtype=np.int32) * GROUP, np.arange(GROUP, dtype=np.int32)

    def one_of_each(carry: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        left, result = carry
        first = jnp.min(jnp.where(left, place[None], GROUP), axis=1)
        row = jnp.where(first < GROUP, begin + first, count)
        fresh = jax.vmap(compute)(*jax.tree.map(lambda leaf: leaf[jnp.minimum(row, count - 1)], arguments))
        result = jax.tree.map(lambda old, new: old.at[row].set(new, mode="drop"), result, fresh)
        return left & (place[None] != first[:, None]), result

    left = jnp.pad(is_needed, (0, groups * GROUP - count)).reshape(groups, GROUP)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), one_of_each, (left, otherwise))[1]


def vary_alike(tree: Any) -> Any:
    """The arrays of a tree, each varying over the axes that any of them varies over; elsewhere the tree as it is.

    Inside `jax.shard_map` an array has the axes over which it differs from device to device in its type, and a
    constant, such as a clock of zero, has none. A scan that carries a state needs one type from the reset on.

    >>> import jax, jax.numpy as jnp
    >>> from jax.sharding import AbstractMesh, AxisType, PartitionSpec
    >>> from jaxenv.lowering.batches import vary_alike
    >>> mesh = AbstractMesh((2,), ("devices",), axis_types=(AxisType.Auto,))
    >>> def count(numbers):
    ...     first = vary_alike((jnp.int32(0), numbers))
    ...     return jax.lax.fori_loop(0, 3, lambda _, carry: (carry[0] + carry[1][0], carry[1]), first)[1]
    >>> split = PartitionSpec("devices")
    >>> jax.eval_shape(jax.shard_map(count, mesh=mesh, in_specs=split, out_specs=split), jnp.zeros(4, jnp.int32)).shape
    (4,)
    """
    axes = frozenset().union(*map(_axes, jax.tree.leaves(tree)))
    if not axes:
        return tree
    return jax.tree.map(lambda leaf: lax.pcast(leaf, tuple(sorted(axes - _axes(leaf))), to="varying"), tree)


def _axes(leaf: Any) -> frozenset[str]:
    """The axes of a mesh that an array varies over, by either of the names that JAX has had for them."""
    kind = jax.typeof(leaf)
    return kind.vma if hasattr(kind, "vma") else kind.mat.varying
