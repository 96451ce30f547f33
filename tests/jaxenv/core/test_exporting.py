"""Records are registered once, under their names, where nothing in them is static."""

import jax
import pytest
from flax import struct
from jax import export

from jaxenv.host.exporting import register_records


class Pair(struct.PyTreeNode):
    left: jax.Array
    right: jax.Array


class Sized(struct.PyTreeNode):
    size: int = struct.field(pytree_node=False)


def swap(pair):
    return Pair(pair.right, pair.left)


def test_a_record_of_a_package_is_exported_once_registered():
    pytest.importorskip("flatbuffers")
    shapes = Pair(jax.ShapeDtypeStruct((2,), "int32"), jax.ShapeDtypeStruct((), "int32"))
    program = export.export(jax.jit(swap))(shapes)
    for other in (__name__[:-1], f"{__name__}.inner", "jaxenv"):
        register_records(other)
    with pytest.raises(ValueError, match="unregistered type"):
        program.serialize()
    for _ in range(2):
        register_records(__name__)
    again = export.deserialize(program.serialize())
    assert (again.in_tree, again.out_tree) == (program.in_tree, program.out_tree)
    assert isinstance(jax.tree.unflatten(again.out_tree, [0, 0]), Pair)


def test_a_record_with_static_fields_is_left_to_its_author():
    pytest.importorskip("flatbuffers")
    register_records(__name__)
    with pytest.raises(ValueError, match="unregistered type"):
        export.export(jax.jit(lambda sized: sized))(Sized(3)).serialize()
