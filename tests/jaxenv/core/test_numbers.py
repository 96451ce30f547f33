"""Tables of columns, on each platform the program that its compiler is good at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core.numbers import table

COLUMNS = [jnp.array([True, False, True]), jnp.array([7, -8, 9], jnp.int16), jnp.array([0.1, -0.0, 2.5])]


def test_a_table_has_the_bits_of_a_stack():
    rows, stack = table(COLUMNS), jnp.stack([column.astype(jnp.float32) for column in COLUMNS], axis=-1)
    assert rows.dtype == jnp.float32
    np.testing.assert_array_equal(np.asarray(rows).view(np.uint32), np.asarray(stack).view(np.uint32))
    np.testing.assert_array_equal(jax.vmap(lambda *each: table(each))(*(x[None] for x in COLUMNS))[0], stack)


@pytest.mark.parametrize(("platform", "selects"), [("cpu", True), ("cuda", False), ("tpu", False)])
def test_columns_are_selected_on_a_cpu_alone(platform, selects):
    """XLA for a GPU finds no tiles for a matrix product that it fuses with the chain of selections."""
    text = jax.jit(table).trace(COLUMNS).lower(lowering_platforms=(platform,)).as_text()
    assert ("stablehlo.select" in text) is selects
    assert ("stablehlo.concatenate" in text) is not selects
