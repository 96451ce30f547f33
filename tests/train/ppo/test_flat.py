"""What the trainer's structure costs: its compiled update beside that of PPO in one file, examples/ppo.py."""

import functools
import statistics
import time

import jax
import ppo as flat_ppo
import pytest

import jaxenv
from train import ppo
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios

pytestmark = pytest.mark.slow
ROUNDS = 25


@pytest.fixture(scope="module")
def programs():
    """(ours, flat): compiled update and first state of each, on the library's days."""
    env, params = jaxenv.make("LifeOps-v0")
    settings = flat_ppo.Settings(env)
    config = Config(
        env=env.name,
        rollout=Rollout(
            num_envs=settings.num_envs,
            num_steps=settings.num_steps,
            epochs=settings.epochs,
            minibatch_size=settings.minibatch_size,
            updates_per_superstep=1,
            bootstrap_truncated=False,
        ),
        hyper=Hyper(learning_rate=settings.learning_rate),
        network=Network(hidden=settings.hidden),
        training=Scenarios(scenarios="library"),
    )
    state = jax.jit(functools.partial(ppo.init, config=config, env=env))(jax.random.key(0), params)
    update = ppo.make_update(config, env)
    ours = jax.jit(lambda state, params: update(state, params, config.hyper)).lower(state, params).compile()
    flat_state = jax.jit(flat_ppo.init, static_argnums=2)(jax.random.key(0), params, settings)
    flat = jax.jit(flat_ppo.update, static_argnums=2).lower(flat_state, params, settings).compile()
    return (ours, state, params), (flat, flat_state, params)


@pytest.mark.parametrize("kind", ["flops", "bytes accessed"])
def test_the_structure_costs_nothing_that_is_compiled(programs, kind):
    ours, flat = (program.cost_analysis()[kind] for program, *_ in programs)
    assert ours <= 1.03 * flat


def test_an_update_is_as_fast(programs):
    """In turns, the median of the ratios."""
    ratios = []
    for _ in range(ROUNDS):
        seconds = []
        for program, state, params in programs:
            began = time.perf_counter()
            jax.block_until_ready(program(state, params))
            seconds.append(time.perf_counter() - began)
        ratios.append(seconds[1] / seconds[0])
    assert statistics.median(ratios) >= 0.95
