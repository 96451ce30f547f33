"""A policy on a library, played in parts that share the program of the validation set."""

import chex
import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
from jaxenv.evaluation import _play_all, evaluate
from train.cli.comparison import on_library
from train.score.held_out import COUNT, validation_returns


def accept(key, observation, params):
    return jnp.int32(0)


def test_the_parts_are_the_whole():
    env, params = jaxenv.make("LifeOps-v0")
    params = params.replace(bank=params.bank.with_start_weights(jnp.arange(1.0, 13.0)))  # which nothing here reads
    for repetitions in (1, 64):  # less than a part, and one and a half
        found = on_library(accept, env, params, repetitions)
        whole = evaluate(accept, env, params, repetitions=repetitions)
        chex.assert_trees_all_equal(jax.device_get(found), jax.device_get(whole))


def test_they_share_the_program_of_the_validation_set():
    env, params = jaxenv.make("LifeOps-v0")
    validation_returns({"accept": accept}, env, params)
    before = _play_all._cache_size()
    on_library(accept, env, params, 64)
    assert _play_all._cache_size() == before


def test_every_part_has_chance_of_its_own():
    """Actions drawn at random: episodes that stand at the same place of two parts are not the same."""
    env, params = jaxenv.make("LifeOps-v0")
    one = params.replace(bank=params.bank.only(params.bank[3]))
    found = on_library(jaxenv.baselines.random_policy, env, one, 2 * COUNT).returns[0]
    assert (found[:COUNT] != found[COUNT:]).mean() > 0.5
    assert np.unique(found).size > 20
