"""Training scenarios from an environment's generator."""

import functools

import jax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key


@functools.partial(jax.jit, static_argnums=0, static_argnames="count")
def generate_bank(env: Environment, key: Key, *, count: int, difficulty: tuple[float, float]) -> ScenarioBank:
    """A bank of `count` scenarios, the difficulty of each drawn from a range; a second bank compiles nothing."""
    low, high = difficulty

    def scenario(key: Key) -> object:
        difficulty_key, scenario_key = jax.random.split(key)
        return env.generate(scenario_key, jax.random.uniform(difficulty_key, (), minval=low, maxval=high))

    return ScenarioBank(jax.vmap(scenario)(jax.random.split(key, count)))
