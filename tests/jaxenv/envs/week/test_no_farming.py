"""No farming (docs/rules/week.md): a source pays what it offers at most, and actions without a look earn nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import ScenarioBank, masking
from jaxenv.envs.week import Week, baseline, generator
from jaxenv.envs.week.types import END

DIFFICULTIES = (0.0, 0.5, 1.0)


def params_of(env, count):
    """Params of drawn weeks, as many of each difficulty."""
    keys = jax.random.split(jax.random.key(11), count * len(DIFFICULTIES))
    return env.params_for(
        ScenarioBank(jax.jit(jax.vmap(env.generate))(keys, jnp.repeat(jnp.array(DIFFICULTIES), count)))
    )


@pytest.mark.slow
def test_no_source_pays_more_than_it_offers():
    """By agents that do one thing wherever they can, else what the rule or chance does."""
    env = Week(notebook=16)
    params = params_of(env, 8)
    verbs = jnp.asarray(env.catalogue.table)[:, 0]

    def play(key, week, verb):
        def turn(carry, key):
            observation, state = carry
            mask = observation.action_mask
            wanted = mask & (verbs == verb)
            other = jnp.where(
                jax.random.bernoulli(key),
                masking.sample_uniform(key, mask),
                baseline.rule_based(env.catalogue, key, observation, params),
            )
            action = jnp.where(jnp.any(wanted), jnp.argmax(wanted).astype(jnp.int32), other)
            observation, state, _, _, info = env.step_env(key, state, action, params)
            return (observation, state), info["reward_parts"]

        _, parts = jax.lax.scan(turn, env.reset_env(key, params, week), jax.random.split(key, END))
        return jax.tree.map(lambda part: jnp.sum(jnp.maximum(part, 0)), parts)

    of_verb = jax.vmap(jax.vmap(play, (0, 0, None)), (None, None, 0))
    keys, weeks = jax.random.split(jax.random.key(0), params.bank.size), jnp.arange(params.bank.size)
    parts = jax.jit(of_verb)(keys, weeks, jnp.arange(6))
    for source, hundredths in generator.POINTS.items():
        assert getattr(parts, source).max() <= hundredths / 100 + 1e-3
        assert getattr(parts, source).max() > 1


@pytest.mark.slow
def test_the_best_of_ten_thousand_sequences_of_actions_earns_less_than_ten_points():
    env = Week()
    params = params_of(env, 4)

    @jax.jit
    def returns(key):
        def play(actions, week):
            _, first = env.reset_env(key, params, week)
            return jax.lax.scan(lambda state, action: env.transition(key, state, action, params)[:2], first, actions)[
                1
            ].sum()

        sequences = jax.random.randint(key, (1000, END), 0, env.num_actions)
        return jax.vmap(jax.vmap(play, (None, 0)), (0, None))(sequences, jnp.arange(params.bank.size))

    assert np.max([returns(key) for key in jax.random.split(jax.random.key(0), 10)]) < 10
