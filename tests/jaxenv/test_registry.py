"""The registry: ids, static sizes and errors."""

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv.envs.lifeops import Limits
from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.teamsclone.types import EMOJI, KINDS


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(ValueError, match=r"no environment 'LifeOps-v1'.*Did you mean 'LifeOps-v0'\?"):
        jaxenv.make("LifeOps-v1")


def test_static_sizes_go_to_the_constructor():
    env, params = jaxenv.make("LifeOps-v0", limits=Limits(events=20, requests=3, tasks=2, places=5))
    assert env.limits.events == 20
    assert params.bank.scenarios.calendar.start.shape == (12, 20)


def test_an_argument_that_is_a_number_of_the_params_says_where_it_is():
    with pytest.raises(TypeError, match=r"LifeOps-v0: .*'weights'; its arguments: limits\. Numbers, .* in its params"):
        jaxenv.make("LifeOps-v0", weights=None)
    _, params = jaxenv.make("LifeOps-v0")
    with pytest.raises(TypeError, match=r"no field 'overlap_penalty'; weights has it: params\.weights\.replace"):
        params.replace(overlap_penalty=-1.0)
    with pytest.raises(TypeError, match=r"^Params has no field 'shape'$"):  # as each array has one
        params.replace(shape=3)


def test_a_limit_that_cuts_the_library_is_an_error():
    with pytest.raises(ValueError, match=r"requests.* does not fit .*raise the limits"):
        jaxenv.make("LifeOps-v0", limits=Limits(requests=2))


def test_a_calendar_that_could_overflow_is_an_error():
    with pytest.raises(ValueError, match=r"6 events and a limit of 8 steps.*capacity is 13"):
        jaxenv.make("LifeOps-v0", limits=Limits(events=13))


@pytest.mark.parametrize("given", [0, 121, 10**400, 99.5, 20.0, True, None, "20", [20], np.array([20])])
def test_a_limit_out_of_range_is_an_error(given):
    with pytest.raises(ValueError, match=r"^Limits\(places=.{1,200}\): expected 1 to 120, "):
        Limits(places=given)


def test_a_limit_may_be_an_integer_of_numpy():
    assert hash(Limits(places=np.int64(20))) == hash(Limits(places=20))


def test_an_id_is_registered_once():
    def factory():
        return jaxenv.make("LifeOps-v0")[0]

    with pytest.raises(ValueError, match="taken"):
        jaxenv.register("LifeOps-v0", factory)
    with pytest.raises(TypeError, match="function"):
        jaxenv.register("Mine-v0", "not a factory")
    jaxenv.register("Mine-v0", factory)
    try:
        assert jaxenv.make("Mine-v0")[0].name == "LifeOps-v0"
    finally:
        jaxenv.registry._FACTORIES.pop("Mine-v0")


def test_make_works_inside_jit():
    @jax.jit
    def first(key):
        env, params = jaxenv.make("LifeOps-v0")
        return env.reset_env(key, params, 3)[1].scenario

    assert first(jax.random.key(0)) == 3


@pytest.mark.parametrize(
    ("env_id", "name", "most"),
    [("LifeOps-v0", "events", 120), ("LifeStack-v0", "keys", 30), ("TeamsClone-v0", "users", 7)],
)
def test_a_capacity_that_the_arrays_cannot_hold_is_refused(env_id, name, most):
    limits = type(jaxenv.make(env_id)[0].limits)
    assert getattr(limits(**{name: most}), name) == most
    for value in (0, most + 1):
        with pytest.raises(ValueError, match=rf"Limits\({name}={value}\): expected 1 to {most}"):
            limits(**{name: value})


@pytest.mark.parametrize("items", [VERBS, KINDS, EMOJI])
def test_there_are_no_more_items_than_bits_or_codes_for_them(items):
    assert len(items) <= 15
