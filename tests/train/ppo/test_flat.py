"""What the trainer's structure costs: its compiled update beside that of PPO in one flat file."""

import functools
import statistics
import time

import jax
import pytest

import jaxenv
from reference import flat_ppo
from train import ppo
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios

pytestmark = pytest.mark.slow
ROUNDS = 25


@pytest.fixture(scope="module")
def programs():
    """(ours, flat): compiled update and first state of each, on the library's days."""
    env, params = jaxenv.make("LifeOps-v0")
    config = Config(
        env=env.name,
        rollout=Rollout(
            num_envs=flat_ppo.ENVS,
            num_steps=flat_ppo.STEPS,
            epochs=flat_ppo.EPOCHS,
            minibatch_size=flat_ppo.MINIBATCH,
            updates_per_superstep=1,
            bootstrap_truncated=False,
        ),
        hyper=Hyper(learning_rate=flat_ppo.RATE),
        network=Network(hidden=(flat_ppo.HIDDEN,) * 2),
        training=Scenarios(scenarios="library"),
    )
    state = jax.jit(functools.partial(ppo.init, config=config, env=env))(jax.random.key(0), params)
    update = ppo.make_update(config, env)
    ours = jax.jit(lambda state, params: update(state, params, config.hyper)).lower(state, params).compile()
    init, flat_update = flat_ppo.make(env)
    with jax.numpy_rank_promotion("allow"):
        flat_state = jax.jit(init)(jax.random.key(0), params)
        flat = jax.jit(flat_update).lower(flat_state, params).compile()
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
