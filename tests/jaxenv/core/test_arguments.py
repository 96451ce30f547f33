"""Arguments: integers of every type become int32, and what is none is refused in one sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.host.arguments import as_index, jit_method, within_int32

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_integers_of_every_type_become_int32(dtype, x64):
    with jax.enable_x64(x64):
        for given in (np.array([3, 7], dtype), jnp.asarray(np.array([3, 7], dtype)), [np.dtype(dtype).type(3), 7]):
            index = as_index("action", given, (2,), "Env-v0")
            assert (index.dtype, index.tolist(), index.weak_type) == (jnp.int32, [3, 7], False)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2**40, 2**31 - 1),
        (-(2**40), -(2**31)),
        (np.int64(2**32), 2**31 - 1),
        (np.uint32(2**32 - 1), 2**31 - 1),
        (np.uint64(2**63 + 3), 2**31 - 1),
        (np.int64(3 - 2**32), -(2**31)),
        (np.array(2**32 + 3), 2**31 - 1),
        (10**400, 2**31 - 1),
    ],
)
@pytest.mark.parametrize("x64", [False, True])
def test_a_number_beyond_int32_is_not_taken_for_another_one(given, expected, x64):
    with jax.enable_x64(x64):
        assert int(as_index("scenario", given, (), "Env-v0")) == expected
        assert as_index("scenario", [given, jnp.uint32(2**32 - 1), 3], (3,), "Env-v0").tolist() == [
            expected,
            2**31 - 1,
            3,
        ]


@pytest.mark.parametrize("given", [jnp.int32(2), jnp.uint32(2**31), 2, True, None, "left", np.float64(2e20), object])
def test_what_is_no_host_integer_out_of_range_is_handed_on_as_it_is(given):
    assert within_int32(given) is given


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_integers_of_four_bits_are_indices(dtype):
    for given in (jnp.asarray(3, dtype), np.asarray(jnp.asarray(3, dtype))):
        assert int(as_index("action", given, (), "Env-v0")) == 3


def test_int32_is_left_as_it_is():
    assert not jax.make_jaxpr(lambda x: as_index("action", x, (), "Env-v0"))(jnp.int32(0)).eqns


@pytest.mark.parametrize(
    ("given", "shape", "sentence"),
    [
        ("left", (), "action is 'left', Env-v0 expects an integer"),
        (0.5, (), "action is 0.5, Env-v0 expects an integer"),
        (True, (), "action is True, Env-v0 expects an integer"),
        (None, (), "action is of type NoneType, Env-v0 expects an integer"),
        ({"a": 1}, (), "action is of type dict, Env-v0 expects an integer"),
        (np.float32(1), (), "action is of type float32, Env-v0 expects an integer"),
        (np.timedelta64(1, "s"), (), "action is of type timedelta64[s], Env-v0 expects an integer"),
        (np.array(["left"]), (1,), "action is of type <U4, Env-v0 expects integers of shape [1]"),
        (jax.random.key(0), (), "action is of type key<fry>, Env-v0 expects an integer"),
        ([0, "left"], (2,), "action is 'left', Env-v0 expects integers of shape [2]"),
        (np.zeros(3, int), (), "action has shape (3,), Env-v0 expects []"),
        (0, (2,), "action has shape (), Env-v0 expects [2]"),
        ([], (2,), "action has shape (0,), Env-v0 expects [2]"),
        ([0, 1, 2], (2,), "action has shape (3,), Env-v0 expects [2]"),
        ([[0, 1], [2, 3]], (2,), "action has shape (2, 2), Env-v0 expects [2]"),
    ],
)
def test_what_is_no_index_is_refused(given, shape, sentence):
    with pytest.raises(TypeError) as error:
        as_index("action", given, shape, "Env-v0")
    assert str(error.value) == sentence


def test_nested_lists_are_the_array():
    assert as_index("action", [[0, 1], (2, np.int64(2**40))], (2, 2), "Env-v0").tolist() == [[0, 1], [2, 2**31 - 1]]


class Cell:
    name = "Cell-v0"

    @jit_method
    def step(self, state, action):
        """Adds."""
        if action is None:
            raise TypeError("of its own")
        return state["n"] + action


def test_a_jitted_method_compiles_once_and_keeps_its_name_and_signature():
    cell = Cell()
    assert int(cell.step({"n": 2}, action=3)) == 5
    assert (Cell.step.__name__, Cell.step.__doc__) == ("step", "Adds.")
    assert "name=step" in str(jax.make_jaxpr(cell.step)({"n": 2}, 3))


@pytest.mark.parametrize("far", [2**32 + 3, np.int64(2**32 + 3), np.uint64(2**63 + 3), 10**400])
def test_an_index_is_clamped_before_jax_cuts_it_to_32_bits(far):
    cell = Cell()
    assert int(cell.step({"n": 0}, far)) == int(cell.step({"n": 0}, action=far)) == 2**31 - 1
    with pytest.raises(OverflowError):
        cell.step({"n": 10**400}, 0)


def test_an_argument_that_is_no_array_is_named():
    with pytest.raises(TypeError, match=r"^state\['n'\] is 'two', Cell-v0 expects arrays$"):
        Cell().step({"n": "two"}, 3)
    with pytest.raises(TypeError, match=r"^state\['n'\] is of type <U3, Cell-v0 expects arrays$"):
        Cell().step({"n": np.array("two")}, 3)
    with pytest.raises(TypeError, match=r"^action is 'up', Cell-v0 expects an integer$"):
        Cell().step({"n": 2}, action="up")


def test_another_type_error_stays_as_it_is():
    with pytest.raises(TypeError, match="of its own"):
        Cell().step({"n": 2}, None)
    with pytest.raises(TypeError, match="missing a required argument: 'action'"):
        Cell().step({"n": 2})
