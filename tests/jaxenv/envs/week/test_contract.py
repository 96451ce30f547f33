"""Week keeps the contract of environments and hides what its rules hide; its rule earns what a notebook is worth."""

import jax
import jax.numpy as jnp
import pytest

from jaxenv.core import ScenarioBank
from jaxenv.envs.week import Week, baseline
from jaxenv.envs.week.types import VALUES
from jaxenv.evaluation import evaluate
from jaxenv.testing import check_environment


def params_of(env, count=4):
    """Params of a few drawn weeks, from easy to difficult."""
    keys = jax.random.split(jax.random.key(0), count)
    return env.params_for(ScenarioBank(jax.jit(jax.vmap(env.generate))(keys, jnp.linspace(0, 1, count))))


def another_future(key, state, params):
    """What nobody has been told: later posts, facts from now on, and what the ends of jobs tell."""
    del key
    weeks = params.bank.scenarios
    posts = weeks.posts
    now = jnp.max(state.time)
    is_later = posts.time > now
    then = jnp.where(weeks.facts.flip > now, (weeks.facts.then + 1) % VALUES, weeks.facts.then)
    facts = weeks.facts.replace(then=then)
    jobs = weeks.jobs.replace(tells=jnp.where(weeks.jobs.tells >= 0, (weeks.jobs.tells + 1) % 16, -1))
    posts = posts.replace(
        kind=jnp.where(is_later, 0, posts.kind).astype(jnp.int8), points=jnp.where(is_later, 0, posts.points)
    )
    weeks = weeks.replace(posts=posts, jobs=jobs, facts=facts)
    return state, params.replace(bank=params.bank.replace(scenarios=weeks))


@pytest.mark.parametrize("notebook", [1, 16])
def test_it_keeps_the_contract(notebook):
    env = Week(notebook=notebook)
    check_environment(env, params_of(env), perturb_hidden=another_future)


def test_the_rule_earns_more_with_a_longer_notebook():
    earned = []
    for notebook in (1, 16):
        env = Week(notebook=notebook)
        params = params_of(env, 64)
        rule = baseline.baselines(env)["Rule-based"]
        earned.append(float(evaluate(rule, env, params).returns.mean()))
    assert earned[0] > 30
    assert earned[1] > earned[0] + 10


def test_a_state_is_small():
    env = Week()
    _, state = jax.eval_shape(env.reset, jax.random.key(0), params_of(env), 0)
    assert sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)) <= 300
