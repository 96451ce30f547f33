"""Former names work for one more version, and say what the name is now."""

import math

import jax
import pytest

import jaxenv
from jaxenv.core.deprecated import renamed_names


@pytest.mark.parametrize(
    ("env_id", "path", "former", "name"),
    [
        ("LifeOps-v0", (), "is_event", "event_exists"),
        ("LifeOps-v0", (), "is_request", "request_exists"),
        ("LifeStack-v0", (), "horizon", "max_steps"),
        ("TeamsClone-v0", (), "time_limit", "max_steps"),
        ("TeamsClone-v0", ("messages",), "present", "exists"),
    ],
)
def test_a_former_name_of_an_observation_warns(env_id, path, former, name):
    env, params = jaxenv.make(env_id)
    record = jax.eval_shape(env.reset, jax.random.key(0), params)[0]
    for part in path:
        record = getattr(record, part)
    kind = type(record).__name__
    with pytest.warns(DeprecationWarning, match=rf"^{kind}\.{former} is now {kind}\.{name}$"):
        assert getattr(record, former) is getattr(record, name)


def test_a_former_name_of_a_module_warns():
    find = renamed_names("old", {"tau": "math.pi"})
    with pytest.warns(DeprecationWarning, match=r"^old\.tau is now math\.pi$"):
        assert find("tau") == math.pi
    with pytest.raises(AttributeError, match="module 'old' has no attribute 'e'"):
        find("e")


def test_the_former_name_of_warnings_warns():
    env, params = jaxenv.make("LifeOps-v0")
    with pytest.warns(DeprecationWarning, match=r"now Environment\.warnings"):
        assert env.oddities(params) == env.warnings(params)
