"""Greedy in JAX chooses what Greedy written from the rules chooses, all through the library."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from reference.lifestack import Crisis
from reference.lifestack_baselines import greedy as reference_greedy

STEPS = 30


@pytest.mark.slow
def test_greedy_chooses_as_the_rules_say():
    env, params = jaxenv.make("LifeStack-v0")
    documents = scenarios.load("lifestack").documents
    policy = baselines.for_environment(env)["Greedy"]
    indices = jnp.arange(params.bank.size)

    @jax.jit
    def begin(key):
        return jax.vmap(functools.partial(env.reset_env, key, params))(indices)

    @jax.jit
    def proceed(key, state, observation):
        chosen = jax.vmap(lambda o: policy(key, o, params))(observation)
        stepped = jax.vmap(lambda s, a: env.step_env(key, s, a, params))(state, chosen)
        return chosen, *stepped[:2]

    key = jax.random.key(5)
    draws = np.asarray(env.sample_draws(key, extra=2))[2:].tolist()
    crises = [Crisis(document.model_dump(), draws[: len(document.event_schedule)]) for document in documents]
    live = set(range(len(crises)))
    observation, state = begin(key)
    for t in range(STEPS):
        key = jax.random.fold_in(key, t)
        draws = np.asarray(env.sample_draws(key)).tolist()
        chosen, observation, state = proceed(key, state, observation)
        for n in sorted(live):
            assert int(chosen[n]) == reference_greedy(crises[n]), (documents[n].id, t)
            step = crises[n].step(int(chosen[n]), draws[: len(crises[n].events)])
            if step.terminated or step.truncated:
                live.remove(n)
    assert not live
