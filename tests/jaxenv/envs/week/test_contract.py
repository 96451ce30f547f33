"""Week keeps the contract, hides what its rules hide and shows the rest; its rule earns what a notebook is worth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import ScenarioBank
from jaxenv.envs.week import Limits, Week, baseline
from jaxenv.envs.week.types import END
from jaxenv.evaluation import evaluate


def params_of(env, count=4):
    """Params of a few drawn weeks, from easy to difficult."""
    keys = jax.random.split(jax.random.key(0), count)
    return env.params_for(ScenarioBank(jax.jit(jax.vmap(env.generate))(keys, jnp.linspace(0, 1, count))))


@pytest.mark.slow
def test_the_rule_earns_more_with_a_longer_notebook():
    earned = []
    for notebook in (1, 16):
        env = Week(notebook=notebook)
        params = params_of(env, 64)
        rule = baseline.baselines(env)["Rule-based"]
        earned.append(float(evaluate(rule, env, params).returns.mean()))
    assert earned[0] > 30
    assert earned[1] > earned[0] + 10


def test_every_field_of_an_observation_reaches_the_features():
    env = Week()
    params = params_of(env)
    observation, _ = env.reset(jax.random.key(0), params, 0)
    seen = jax.tree.map(lambda leaf: leaf | True if leaf.dtype == bool else jnp.ones_like(leaf), observation)
    features = jax.jit(lambda observation: env.flatten(observation, params))
    before, (leaves, structure) = features(seen), jax.tree_util.tree_flatten_with_path(seen)
    assert before.shape == (19 + 12 + 12 + 16 * 6 + 20 * 13 + 35 * 64 + 3 * 87 + 53 * 148,)
    for number, (path, leaf) in enumerate(leaves):
        other = [each for _, each in leaves]
        other[number] = ~leaf if leaf.dtype == bool else leaf + 1
        after = features(jax.tree.unflatten(structure, other))
        assert not np.array_equal(before, after), jax.tree_util.keystr(path)


@pytest.mark.parametrize("capacities", [{"jobs": 34}, {"channels": 5}])
def test_drawn_weeks_need_the_default_capacities(capacities):
    with pytest.raises(ValueError, match="drawn weeks need at least the default capacities"):
        jax.eval_shape(Week(limits=Limits(**capacities)).generate, jax.random.key(0), jnp.float32(0))


@pytest.mark.slow
def test_drawn_weeks_fill_larger_capacities():
    env, larger = Week(), Week(limits=Limits(events=24, posts=40, facts=20))
    found, small = (jax.jit(each.generate)(jax.random.key(0), 0.5) for each in (larger, env))
    bank = ScenarioBank.stack([small]).resize(larger.empty_scenario)
    jax.tree.map(np.testing.assert_array_equal, found, bank[0])


def test_after_the_end_the_clock_stops_and_nothing_pays():
    env = Week()
    params = params_of(env)
    weeks = params.bank.scenarios
    late = weeks.events.replace(start=END - weeks.events.length.astype(jnp.int16))  # all end as the week does
    params = params.replace(bank=params.bank.replace(scenarios=weeks.replace(events=late)))
    state = env.init(jax.random.key(0), params, 0)
    state = state.replace(clock=jnp.int16(END), promised=jnp.ones_like(state.promised), attended=late.length[0])
    turn = jax.jit(jax.vmap(lambda action: env.transition(jax.random.key(0), state, action, params)))
    after, reward, terminated, _ = turn(jnp.arange(env.num_actions))
    assert (after.clock == END).all()
    assert not reward.any()
    assert terminated.all()


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="notebook=-1: expected 0 or more facts"):
        Week(notebook=-1)
    with pytest.raises(ValueError, match="each group hangs on a fact of its own"):
        Limits(groups=17)


def test_a_state_is_small():
    env = Week()
    _, state = jax.eval_shape(env.reset, jax.random.key(0), params_of(env), 0)
    assert sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)) <= 300
