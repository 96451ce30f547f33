"""The types of arrays inside `jax.shard_map`: results of a reset and a step vary over the same axes of the mesh.

There an array has the axes over which it differs from device to device in its type, and a constant, such as a clock of
zero, has none. A scan that carries a state needs one type from the reset on.
"""

from typing import Any

import jax
from jax import lax


def vary_alike(tree: Any) -> Any:
    """The arrays of a tree, each varying over the axes that any of them varies over; elsewhere the tree as it is.

    >>> import jax, jax.numpy as jnp
    >>> from jax.sharding import AbstractMesh, AxisType, PartitionSpec
    >>> from jaxenv.lowering.varying import vary_alike
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

    def vary(leaf: Any) -> Any:
        return lax.pcast(leaf, tuple(sorted(axes - _axes(leaf))), to="varying")

    return jax.tree.map(vary, tree)


def _axes(leaf: Any) -> frozenset[str]:
    """The axes of a mesh that an array varies over, by either of the names that JAX has had for them."""
    kind = jax.typeof(leaf)
    return kind.vma if hasattr(kind, "vma") else kind.mat.varying
