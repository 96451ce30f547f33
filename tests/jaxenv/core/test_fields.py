"""Padding and spaces follow from the declarations of a record, and every environment keeps to its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

import jaxenv
from jaxenv.core import fields, spaces
from lab.pages.tables import record_table
from strategies.ids import FIRST_OF_ITS_ENGINE


class Row(struct.PyTreeNode):
    start: jax.Array = fields.array("n", np.int16, 0, lambda sizes: 10 * sizes["days"], doc="minutes")
    codes: jax.Array = fields.array("n 2", lambda sizes: np.uint8 if sizes["days"] < 9 else np.uint16, doc="codes")


class Week(struct.PyTreeNode):
    late: Row = fields.record(Row, {"n": "E"}, start={"fill": 99, "high": 99})
    early: Row = fields.record(Row, {"n": "1"}, doc="the first")
    day: jax.Array = fields.array("", np.int8, -1, fields.last("days"), fill=-1, doc="of the week")
    share: jax.Array = fields.array("days", np.float32, 0, 1, doc="of each day")
    is_open: jax.Array = fields.array("days", bool, doc="the shop")


SIZES = {"E": 3, "days": 7}


def test_padding_has_the_declared_shapes_dtypes_and_fill():
    week = fields.padding(Week, SIZES)
    np.testing.assert_array_equal(week.late.start, np.full(3, 99, np.int16))
    assert (week.late.start.dtype, week.late.codes.dtype, week.is_open.dtype) == (np.int16, np.uint8, bool)
    assert (week.late.codes.shape, week.early.start.shape, week.day.shape) == ((3, 2), (1,), ())
    assert (week.day, week.early.start, week.share.tolist()) == (-1, 0, [0.0] * 7)
    assert fields.padding(Week, {**SIZES, "days": 9}).late.codes.dtype == np.uint16


def test_a_space_has_the_declared_bounds():
    week = fields.space(Week, SIZES)
    assert week["late"]["start"] == spaces.Box(0, 99, (3,), np.int16)
    assert week["early"]["start"] == spaces.Box(0, 70, (1,), np.int16)
    assert week["day"] == spaces.Box(-1, 6, (), np.int8)
    assert week["early"]["codes"] == spaces.Box(0, 255, (1, 2), np.uint8)
    assert week["is_open"] == spaces.Box(0, 1, (7,), np.bool_)


def test_a_table_names_the_axes_as_the_record_around_does():
    lines = record_table(Week, SIZES, fill=True).splitlines()
    assert lines[2] == "| `late.start` | E | int16 | 0 to 99 | 99 | minutes |"
    assert lines[4] == "| `early` |  |  |  |  | the first |"
    assert lines[6] == "| `early.codes` | 1 × 2 | uint8 |  | 0 | codes |"
    assert lines[7] == "| `day` |  | int8 | −1 to 6 | −1 | of the week |"


def test_a_field_without_a_declaration_is_named():
    class Loose(struct.PyTreeNode):
        day: jax.Array

    with pytest.raises(TypeError, match="Loose: declare day with"):
        fields.padding(Loose, {})


@pytest.mark.slow
@pytest.mark.parametrize("env_id", FIRST_OF_ITS_ENGINE)
def test_library_and_generated_scenarios_lie_within_their_declaration(env_id):
    env, params = jaxenv.make(env_id)
    space = fields.space(env.scenario_type, env.sizes)
    drawn = jax.jit(jax.vmap(env.generate))(jax.random.split(jax.random.key(3), 16), jnp.linspace(0, 1, 16))
    for stack in (params.bank.scenarios, drawn):
        assert jax.jit(jax.vmap(space.contains))(stack).all()


def test_a_size_that_is_missing_is_named():
    with pytest.raises(ValueError, match="no size 'E' among days: add it to `sizes`"):
        fields.padding(Week, {"days": 7})
