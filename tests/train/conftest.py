"""Shared fixtures of the trainer's tests: one small configuration, and what was compiled for it."""

import functools
import sys
from pathlib import Path

import jax
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from probes import GENERATED, SMALL, Registered

from jaxenv import registry
from strategies.tables import Table
from train import ppo
from train.settings.config import Config


@pytest.fixture(scope="session")
def config() -> Config:
    return SMALL


@pytest.fixture(scope="session")
def generated() -> Config:
    """The same on generated scenarios."""
    return GENERATED


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


@pytest.fixture
def probe_is_registered(monkeypatch):
    """The probe `observation` as `Table-v0`: rewards and ends depend on where it is, and it compiles at once."""
    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
