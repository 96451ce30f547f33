"""Edits: drawn uniformly among those that can be made, at a place where they can."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import edits
from jaxenv.core.edits import Edit

TABLE = {
    "double": Edit(lambda row: row > 0, lambda row, place, u: row.at[place].multiply(2)),
    "negate": Edit(lambda row: row == 3, lambda row, place, u: row.at[place].multiply(-1)),
    "clear": Edit(lambda row: row > 100, lambda row, place, u: row.at[place].set(0)),
}


def outcomes(row):
    """What edits make of a row, and how often."""
    keys = jax.random.split(jax.random.key(0), 2000)
    made = jax.jit(jax.vmap(lambda key: edits.edited(key, jnp.array(row), TABLE)))(keys)
    found, counts = np.unique(np.asarray(made), axis=0, return_counts=True)
    return {tuple(each): count / 2000 for each, count in zip(found.tolist(), counts, strict=True)}


def test_every_edit_that_can_be_made_is_as_likely_and_so_is_every_place():
    """By hand: "clear" cannot be made; "double" has two places, "negate" one."""
    found = outcomes([3, 0, 5])
    assert found == pytest.approx({(6, 0, 5): 0.25, (3, 0, 10): 0.25, (-3, 0, 5): 0.5}, abs=0.04)


def test_where_no_edit_can_be_made_nothing_changes():
    assert outcomes([0, -1, 0]) == {(0, -1, 0): 1.0}


def test_a_drawn_entry_is_one_of_the_mask():
    mask = jnp.array([False, True, False, True, True])
    numbers = jnp.array([0.0, 0.3, 0.34, 0.6, 0.7, 0.999])
    assert jax.vmap(edits.among, in_axes=(None, 0))(mask, numbers).tolist() == [1, 1, 3, 3, 4, 4]


def test_another_entry_is_never_the_same():
    drawn = jax.vmap(edits.other, in_axes=(None, None, 0))
    assert set(drawn((1, 2, 3), jnp.int8(2), jnp.linspace(0, 0.999, 9)).tolist()) == {1, 3}
    assert set(drawn((1, 2, 3), jnp.int8(7), jnp.linspace(0, 0.999, 9)).tolist()) == {1, 2, 3}


def test_a_row_leaves_a_table():
    table = jnp.array([[1, 2], [3, 4], [5, 6]], jnp.int8)
    assert edits.without_row(table, jnp.int32(0), -1).tolist() == [[3, 4], [5, 6], [-1, -1]]
    assert edits.without_row(table, jnp.int32(2), -1).tolist() == [[1, 2], [3, 4], [-1, -1]]
    assert edits.put(table, 1, jnp.int32(9)).dtype == jnp.int8
