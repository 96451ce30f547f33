"""How large a task is: each step of each environment reads one from a random row of the bank."""

import jax
import pytest

from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack, Limits


def test_a_task_is_small():
    assert sum(leaf.nbytes for leaf in jax.tree.leaves(LifeStack().empty_scenario)) <= 2_900


def test_sets_of_more_numbers_are_wider_and_no_set_is_cut():
    large, empty = LifeStack(Limits(routes=9, codes=12)), LifeStack().empty_scenario
    wide = ScenarioBank.stack([large.empty_scenario])
    assert wide.scenarios.routes.closes.dtype == "uint16"
    assert wide.resize(empty).scenarios.routes.closes.dtype == "uint8"
    routes = wide.scenarios.routes
    wide = wide.replace(scenarios=wide.scenarios.replace(routes=routes.replace(closes=routes.closes.at[0, 0].set(256))))
    with pytest.raises(ValueError, match=r"routes\.closes .* raise the limits"):
        wide.resize(empty)
    assert large.params_for(wide).bank.scenarios.routes.closes[0, 0] == 256


def test_a_set_has_room_for_32():
    with pytest.raises(ValueError, match=r"Limits\(milestones=33\): expected 1 to 32"):
        Limits(milestones=33)
