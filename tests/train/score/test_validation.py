"""The validation set: always the same, never trained on, computed when it is due."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import GENERATED, PROBES

import jaxenv
from jaxenv.core import Environment
from jaxenv.wrappers import FlattenObservation
from strategies.tables import Table, table
from train import ppo
from train.score.held_out import (
    COUNT,
    VALIDATION_SEED,
    has_generator,
    make_validator,
    validation_params,
    validation_returns,
)
from train.settings import presets
from train.settings.groups import Scenarios

PARAMS = PROBES["observation"]  # the reward is 1 in state 0, -1 in state 1 and 0 in state 2, whatever is done
WITH_GENERATOR = [env_id for env_id in jaxenv.registered() if has_generator(jaxenv.make(env_id)[0])]


class Fixed(Table):
    """The table, and no generator."""

    generate = Environment.generate


def test_a_wrapper_generates_what_its_environment_does():
    assert has_generator(FlattenObservation(Table()))
    assert not has_generator(Fixed())
    assert not has_generator(FlattenObservation(Fixed()))


def zero(key, observation, params):
    return jnp.int32(0)


def one(key, observation, params):
    return jnp.int32(1)


def expected_return(env):
    return np.array([1.0, -1.0, 0.0])[np.asarray(validation_params(env, PARAMS).bank.scenarios.at)].mean()


@pytest.mark.slow
@pytest.mark.parametrize("env_id", WITH_GENERATOR)
def test_no_run_trains_on_the_set_not_even_one_of_its_seed(env_id):
    env, params = jaxenv.make(env_id)
    bank = validation_params(env, params).bank
    assert bank.size == COUNT
    assert bank.fingerprint() == validation_params(env, params).bank.fingerprint()
    config = dataclasses.replace(presets.for_environment(env_id), training=Scenarios(count=COUNT, refresh=0))
    trained = ppo.training_bank(jax.random.key(VALIDATION_SEED), params, config=config, env=env)
    rows = [
        np.concatenate([np.asarray(leaf).reshape(COUNT, -1) for leaf in jax.tree.leaves(each.scenarios)], axis=1)
        for each in (bank, trained)
    ]
    assert len(np.unique(np.concatenate(rows), axis=0)) == 2 * COUNT


def test_validation_returns_by_name(env):
    paid = table(rewards=[[0, 1, 0]])  # the second action, in every state
    assert validation_returns({"zero": zero, "one": one}, env, paid) == {"zero": 0.0, "one": 1.0}
    assert validation_returns({"zero": zero}, env, PARAMS) == {"zero": pytest.approx(expected_return(env))}
    assert expected_return(env) not in (-1.0, 0.0, 1.0)
    assert validation_returns({"zero": zero}, Fixed(), PARAMS) == {}


def test_validation_is_due_every_so_often_and_at_the_end(config, env):
    def validations(**settings):
        validate = make_validator(dataclasses.replace(GENERATED, **settings), env, PARAMS, zero)
        found = {number: validate(number, lambda: zero) for number in range(config.num_supersteps)}
        return {number: each for number, each in found.items() if each is not None}

    assert config.num_supersteps == 10
    assert validations(validate_every=4) == dict.fromkeys([3, 7, 9], pytest.approx(expected_return(env)))
    assert list(validations(validate_every=1)) == list(range(10))
    assert validations(validate_every=0) == validations(validate_every=4, training=config.training) == {}
