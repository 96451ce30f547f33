"""What the tests of the trainer share: one small configuration, and what was compiled for it."""

import functools
import sys
from pathlib import Path

import jax
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from probes import Table

from train import ppo
from train.config import Config, Hyper, Network, Rollout, Scenarios


@pytest.fixture(scope="session")
def config() -> Config:
    rollout = Rollout(num_envs=32, num_steps=8, epochs=4, minibatches=4, updates_per_superstep=2)
    return Config(
        env="Table-v0",
        total_steps=32 * 8 * 20,
        rollout=rollout,
        hyper=Hyper(learning_rate=5e-3, entropy_coef=0.01),
        network=Network(hidden=(16,)),
        training=Scenarios(count=16),
    )


@pytest.fixture(scope="session")
def env() -> Table:
    return Table()


@pytest.fixture(scope="session")
def start(config, env):
    """(key, params) -> TrainState."""
    return functools.partial(ppo.init, config=config, env=env)


@pytest.fixture(scope="session")
def superstep(config, env):
    return ppo.make_superstep(config, env)


@pytest.fixture(scope="session")
def batched_superstep(config, env):
    """The same over a leading axis of states, params and hyperparameters."""
    return jax.jit(jax.vmap(ppo.make_superstep(config, env)))
