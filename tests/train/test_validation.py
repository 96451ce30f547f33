"""The validation set: always the same, never trained on, looked at when it is due."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES, Table, table

import jaxenv
from jaxenv.core import Environment
from train import presets
from train.bank import training_params
from train.validation import COUNT, SEED, has_generator, make_look, validation_bank, validation_returns

PARAMS = PROBES["observation"]  # the reward is 1 in state 0, -1 in state 1 and 0 in state 2, whatever is done
GENERATED = [env_id for env_id in jaxenv.registered() if has_generator(jaxenv.make(env_id)[0])]


class Fixed(Table):
    """The table, and no generator."""

    generate = Environment.generate


def zero(key, observation, params):
    return jnp.int32(0)


def one(key, observation, params):
    return jnp.int32(1)


def expected_return(env):
    return np.array([1.0, -1.0, 0.0])[np.asarray(validation_bank(env).scenarios.at)].mean()


@pytest.mark.parametrize("env_id", GENERATED)
def test_no_run_trains_on_the_set_not_even_one_of_its_seed(env_id):
    env, params = jaxenv.make(env_id)
    bank = validation_bank(env)
    assert bank.size == COUNT
    assert bank.fingerprint() == validation_bank(env).fingerprint()
    config = presets.for_environment(env_id)
    config = dataclasses.replace(config, seed=SEED, training=dataclasses.replace(config.training, count=COUNT))
    trained = training_params(0, config, env, params).bank
    rows = [
        np.concatenate([np.asarray(leaf).reshape(COUNT, -1) for leaf in jax.tree.leaves(each)], axis=1)
        for each in (bank, trained)
    ]
    assert len(np.unique(np.concatenate(rows), axis=0)) == 2 * COUNT


def test_every_policy_is_told_by_its_name(env):
    paid = table(rewards=[[0, 1, 0]])  # the second action, in every state
    assert validation_returns({"zero": zero, "one": one}, env, paid) == {"zero": 0.0, "one": 1.0}
    assert validation_returns({"zero": zero}, env, PARAMS) == {"zero": pytest.approx(expected_return(env))}
    assert expected_return(env) not in (-1.0, 0.0, 1.0)
    assert validation_returns({"zero": zero}, Fixed(), PARAMS) == {}


def test_a_look_is_taken_every_so_often_and_at_the_end(config, env):
    def looked(**settings):
        look = make_look(dataclasses.replace(config, **settings), env, PARAMS, zero)
        return {number: found for number in range(config.num_supersteps) if (found := look(number, zero)) is not None}

    assert config.num_supersteps == 10
    assert looked(validate_every=4) == dict.fromkeys([3, 7, 9], pytest.approx(expected_return(env)))
    assert list(looked(validate_every=1)) == list(range(10))
    library = dataclasses.replace(config.training, scenarios="library")
    assert looked(validate_every=0) == looked(validate_every=4, training=library) == {}
