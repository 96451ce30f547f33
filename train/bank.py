"""The scenarios that a run trains on: a bank of generated ones, renewed where no episode plays."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key
from train.config import Config


@functools.partial(jax.jit, static_argnums=0, static_argnames="count")
def generate_bank(
    env: Environment, key: Key, *, count: int, difficulty: tuple[float, float], shared: Any = None
) -> ScenarioBank:
    """A bank of `count` scenarios, the difficulty of each drawn from a range; a second bank compiles nothing.

    Args:
        env: the environment.
        key: of the draws.
        count: S.
        difficulty: least and greatest, within 0..1.
        shared: what its scenarios refer to together, of another bank of this environment.
    """
    low, high = difficulty

    def scenario(key: Key) -> object:
        difficulty_key, scenario_key = jax.random.split(key)
        return env.generate(scenario_key, jax.random.uniform(difficulty_key, (), minval=low, maxval=high))

    return ScenarioBank(jax.vmap(scenario)(jax.random.split(key, count)), shared)


def first_bank(key: Key, config: Config, env: Environment, env_params: Any) -> ScenarioBank | None:
    """The generated bank that a run begins with, or None where it trains on the bank of its params."""
    if not config.is_generated:
        return None
    difficulty, shared = config.training.difficulty, env_params.bank.shared
    bank = generate_bank(env, key, count=config.num_scenarios, difficulty=difficulty, shared=shared)
    return bank.with_start_weights(jnp.ones(config.num_scenarios))


def renewed(key: Key, bank: ScenarioBank, *, live: jax.Array, config: Config, env: Environment) -> ScenarioBank:
    """The bank with a new scenario wherever no episode plays; episodes start in the new ones only.

    A scenario that is kept for the episodes under way takes no more starts, so every start is a fresh draw of the
    generator and long episodes do not gain weight. If all are being played, all are kept and start as before.

    Args:
        key: of the draws.
        bank: S scenarios.
        live: [...] int32, the scenarios that are being played.
        config: says how scenarios are generated.
        env: generates them.
    """
    is_kept = jnp.zeros(bank.size, bool).at[live.ravel()].set(True)
    drawn = generate_bank(env, key, count=bank.size, difficulty=config.training.difficulty)

    def choose(old: jax.Array, new: jax.Array) -> jax.Array:
        return jnp.where(is_kept.reshape(-1, *(1,) * (old.ndim - 1)), old, new)

    scenarios = jax.tree.map(choose, bank.scenarios, drawn.scenarios)
    return bank.replace(scenarios=scenarios).with_start_weights(~is_kept | jnp.all(is_kept))
