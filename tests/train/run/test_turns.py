"""How many members train at once: halves of them, until they fit."""

import functools
import math

import jax
import pytest

from train.run import group
from train.run.group import as_many_as_fit

GIB = 2**30


@pytest.fixture(autouse=True)
def a_gibibyte_each(monkeypatch):
    """Programs are the number of their members, each of which needs 1 GiB."""
    monkeypatch.setattr(group, "program_bytes", lambda number: number * GIB)


@pytest.mark.parametrize(
    ("gibibytes", "at_once", "tried"),
    [
        (7, 7, [7]),
        (6.9, 4, [7, 4]),
        (3, 2, [7, 4, 2]),
        (1, 1, [7, 4, 2]),
        (0.5, 1, [7, 4, 2]),  # one member is tried, whatever it needs
        (math.inf, 7, []),
    ],
)
def test_members_are_halved_until_they_fit(gibibytes, at_once, tried):
    compiled = []

    def compiles(number):
        compiled.append(number)
        return number

    assert as_many_as_fit(compiles, 7, gibibytes * GIB) == at_once
    assert compiled == tried


def test_a_compiler_may_refuse_for_want_of_memory():
    def compiles(number, problem):
        if number > 2:
            raise jax.errors.JaxRuntimeError(problem)
        return number

    short = functools.partial(compiles, problem="RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm")
    assert as_many_as_fit(short, 8, 8 * GIB) == 2
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        as_many_as_fit(functools.partial(compiles, problem="INTERNAL: a mistake"), 8, 8 * GIB)


def test_the_memory_of_this_machine():
    assert GIB / 4 < group.device_bytes() < 2**50


@pytest.mark.parametrize(("text", "expected"), [("1000000\n", 1e6), ("max\n", None), (None, None)])
def test_a_container_may_have_less_memory_than_its_machine(text, expected, tmp_path, monkeypatch):
    whole, file = group.device_bytes(), tmp_path / "memory.max"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(group, "CGROUP_LIMITS", (file,))
    found = group.device_bytes()
    assert found == expected if expected else found >= whole
