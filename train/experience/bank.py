"""The scenarios that a run trains on: a bank of generated ones, renewed wherever no episode is playing."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.once import compiled_once
from train.settings.config import Config

AT_ONCE = 512  # scenarios of one call outside a compiled program: a first bank and the validation set share its program


def generate_bank(
    env: Environment, key: Key, *, count: int, difficulty: tuple[float, float], shared: Any = None
) -> ScenarioBank:
    """A bank of generated scenarios, each with a difficulty drawn from a range; a second bank compiles nothing.

    Args:
        env: the environment, whose generator draws the scenarios.
        key: random key.
        count: S, scenarios.
        difficulty: least and greatest, within 0..1, or above 1 for scenarios beyond training.
        shared: the data that the scenarios share, taken from another bank of this environment.
    """
    keys = jax.random.split(key, count)
    if count <= AT_ONCE or isinstance(keys, Tracer):
        return ScenarioBank(_scenarios(env, keys, difficulty), shared)
    rows = np.arange(-(-count // AT_ONCE) * AT_ONCE).reshape(-1, AT_ONCE) % count
    parts = [jax.device_get(_scenarios(env, keys[some], difficulty)) for some in rows]
    scenarios = jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)
    return ScenarioBank(jax.device_put(scenarios), shared)


@functools.partial(compiled_once, static_argnums=0)
def _scenarios(env: Environment, keys: Key, difficulty: tuple[float, float]) -> Any:
    """A scenario of each key."""
    low, high = difficulty

    def scenario(key: Key) -> object:
        difficulty_key, scenario_key = jax.random.split(key)
        return env.generate(scenario_key, jax.random.uniform(difficulty_key, (), minval=low, maxval=high))

    return jax.vmap(scenario)(keys)


def with_generated(
    env: Environment, params: Any, key: Key, *, count: int, difficulty: tuple[float, float] = (0.0, 1.0)
) -> Any:
    """The params with a bank of generated scenarios, which share the data that theirs share; see `generate_bank`."""
    return params.replace(bank=generate_bank(env, key, count=count, difficulty=difficulty, shared=params.bank.shared))


def first_bank(key: Key, config: Config, env: Environment, env_params: Any) -> ScenarioBank | None:
    """The first generated bank of a run, or None where it trains on the bank of its params."""
    if not config.is_generated:
        return None
    difficulty, shared = config.training.difficulty, env_params.bank.shared
    bank = generate_bank(env, key, count=config.num_scenarios, difficulty=difficulty, shared=shared)
    return bank.with_start_weights(jnp.ones(config.num_scenarios))


def check_start_weights(config: Config, env_params: Any) -> None:
    """A ValueError if the bank of the params has start weights that a run on generated scenarios would not heed."""
    bank: Any = getattr(env_params, "bank", None)
    if not config.is_generated or getattr(bank, "start_table", None) is None:
        return
    if not np.allclose(bank.start_probabilities * bank.size, 1.0, rtol=0.0, atol=1e-2):
        raise ValueError(
            "the bank of the params has start weights, but training generates scenarios of its own: to train by these "
            'weights set training=train.Scenarios(scenarios="library")'
        )


def with_bank(env_params: Any, bank: ScenarioBank | None) -> Any:
    """The params with the generated bank of a run, if it has one."""
    return env_params if bank is None else env_params.replace(bank=bank)


def renew(key: Key, bank: ScenarioBank, *, live: jax.Array, config: Config, env: Environment) -> ScenarioBank:
    """The bank with a new scenario wherever no episode is playing; only new ones start episodes.

    A scenario that is kept for its running episodes starts no more of them, so that every start is a fresh draw from
    the generator and long episodes gain no weight. If all scenarios are in play, all are kept and start as before.

    Args:
        key: random key.
        bank: S scenarios.
        live: [...] int32, the scenarios in play.
        config: how scenarios are generated.
        env: the environment.
    """
    is_kept = jnp.zeros(bank.size, bool).at[live.ravel()].set(True)
    drawn = generate_bank(env, key, count=bank.size, difficulty=config.training.difficulty)
    scenarios = jax.vmap(select)(is_kept, bank.scenarios, drawn.scenarios)
    return bank.replace(scenarios=scenarios).with_start_weights(~is_kept | jnp.all(is_kept))
