"""The scenarios that a run trains on: its own bank, or generated ones, drawn anew from time to time."""

import functools
from typing import Any

import jax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key
from train.config import Config


@functools.partial(jax.jit, static_argnums=0, static_argnames="count")
def generate_bank(env: Environment, key: Key, *, count: int, difficulty: tuple[float, float]) -> ScenarioBank:
    """A bank of `count` scenarios, the difficulty of each drawn from a range; a second bank compiles nothing."""
    low, high = difficulty

    def scenario(key: Key) -> object:
        difficulty_key, scenario_key = jax.random.split(key)
        return env.generate(scenario_key, jax.random.uniform(difficulty_key, (), minval=low, maxval=high))

    return ScenarioBank(jax.vmap(scenario)(jax.random.split(key, count)))


def training_params(superstep: int, config: Config, env: Environment, env_params: Any) -> Any:
    """The params with the bank that a superstep trains on: a pure function, so that a resumed run has its bank again.

    Where the settings ask for no generated scenarios, the params as they are.
    """
    settings = config.training
    if settings.scenarios != "generated":
        return env_params
    drawn = superstep - superstep % settings.refresh if settings.refresh else 0
    bank_key, _ = bank_keys(drawn, config)
    return env_params.replace(bank=generate_bank(env, bank_key, count=settings.count, difficulty=settings.difficulty))


def bank_keys(superstep: int, config: Config) -> tuple[Key, Key]:
    """For the bank that is drawn before a superstep, and for the environments that begin with it."""
    bank_key, envs_key = jax.random.split(jax.random.fold_in(run_keys(config)[1], superstep))
    return bank_key, envs_key


def run_keys(config: Config) -> tuple[Key, Key]:
    """For the first state, and for the scenarios."""
    init_key, scenarios_key = jax.random.split(jax.random.key(config.seed))
    return init_key, scenarios_key


def is_refreshed(superstep: int, config: Config) -> bool:
    """Whether the bank is generated anew before a superstep; the first has its bank already."""
    settings = config.training
    if settings.scenarios != "generated" or settings.refresh == 0:
        return False
    return superstep > 0 and superstep % settings.refresh == 0
