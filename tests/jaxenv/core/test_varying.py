"""Inside `shard_map` a tree varies over the axes that any of its arrays varies over; elsewhere nothing is done."""

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

from jaxenv.lowering.batches import vary_alike

MESH = AbstractMesh((2,), ("devices",), axis_types=(AxisType.Auto,))
SPLIT, WHOLE = PartitionSpec("devices"), PartitionSpec()


def scan(vary, specs):
    """A scan whose carry begins with a constant and goes on with what depends on the argument."""

    def count(numbers):
        first = vary((jnp.int32(0), jax.random.key(0), numbers))
        return jax.lax.scan(lambda c, _: ((c[0] + c[2][0], c[1], c[2]), None), first, length=3)[0][2]

    mapped = jax.shard_map(jax.vmap(count), mesh=MESH, in_specs=specs, out_specs=specs)
    return jax.eval_shape(mapped, jnp.zeros((4, 2), jnp.int32))


def test_a_constant_varies_with_what_it_is_carried_with():
    with pytest.raises(TypeError, match="carry"):
        scan(lambda tree: tree, SPLIT)
    assert scan(vary_alike, SPLIT).shape == (4, 2)


def test_what_does_not_vary_stays():
    assert scan(vary_alike, WHOLE).shape == (4, 2)


def test_elsewhere_the_tree_is_handed_back():
    tree = {"n": jnp.zeros(3), "m": 0.5, "none": None}
    assert vary_alike(tree) is tree
    assert vary_alike({}) == {}
