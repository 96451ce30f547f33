"""Environments of any suite as batched functions, with one way to pick actions for all."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import jaxenv
from jaxenv.core import Environment, ScenarioBank, masking
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics
from train.experience.bank import generate_bank

GENERATED = 65_536  # scenarios of a generated bank
CHUNK = 4096  # of them are drawn at a time
BANKS = ("library", "generated")


@dataclasses.dataclass(frozen=True)
class Program:
    """One environment, batched."""

    name: str
    params: Callable[[], Any]  # makes them; their shapes are `jax.eval_shape` of it
    reset: Callable[[jax.Array, Any], tuple[Any, Any]]  # (keys [B], params) -> (observation, state)
    # (keys [B], state, action, params) -> (observation, state, reward, done [B])
    step: Callable[[jax.Array, Any, jax.Array, Any], tuple[Any, Any, jax.Array, jax.Array]]
    mask: Callable[[Any], jax.Array]  # observation -> [B, ..., A] bool


def pick(key: Key, mask: jax.Array) -> jax.Array:
    """A uniformly random legal action a row ([B, ..., A] -> [B, ...] int32), with one random number: for all suites."""
    return masking.sample_uniform(key, mask)


def registered(id: str, *, bank: str = "library", counted: bool = False) -> Program:
    """A registered environment.

    >>> registered("LifeOps-v0", counted=True).name
    'LifeOps-v0, counted'

    Args:
        id: one of `jaxenv.registered()`.
        bank: the shipped `library`, or `generated` scenarios.
        counted: under the wrapper that training uses.
    """
    env, params = jaxenv.make(id)
    name = ", ".join([id, *(["counted"] if counted else []), *(["generated"] if bank == "generated" else [])])
    made = functools.partial(with_bank, env, params, bank)
    return _program(name, made, EpisodeStatistics(env) if counted else env)


def with_bank(env: Environment, params: Any, bank: str) -> Any:
    """The params with the bank of that name: as they are, or with 65,536 generated scenarios, as training has them.

    Training renews its bank by start weights, so that a step looks for a start among them.
    """
    if bank == "library":
        return params
    made = ScenarioBank(generated(env), params.bank.shared)
    return params.replace(bank=made.with_start_weights(jnp.ones(GENERATED)))


@functools.partial(jax.jit, static_argnums=(0, 1))
def generated(env: Environment, count: int = GENERATED) -> Any:
    """Scenarios of all difficulties with a leading axis, drawn with one key for all benchmarks, a chunk at a time."""
    size = min(CHUNK, count)

    def draw(key: Key) -> Any:
        return generate_bank(env, key, count=size, difficulty=(0.0, 1.0)).scenarios

    chunks = lax.map(draw, jax.random.split(jax.random.key(0), count // size))
    return jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[2:]), chunks)


def rows(env: Any) -> Callable[[jax.Array, Any, jax.Array, Any], tuple[Any, Any, jax.Array, jax.Array]]:
    """`step` with gymnax's signature over a batch, its two ends as one."""

    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        observation, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            keys, state, action, params
        )
        return observation, state, reward, terminated | truncated

    return step


def _program(name: str, params: Callable[[], Any], env: Environment) -> Program:
    reset = jax.vmap(env.reset_env, in_axes=(0, None))
    return Program(name, params, reset, rows(env), lambda observation: observation.action_mask)


def bytes_per_env(tree: Any) -> int:
    """Bytes of a row of a batch, from arrays or shapes.

    >>> import jax.numpy as jnp
    >>> bytes_per_env({"a": jnp.zeros((8, 3), jnp.int16), "b": jnp.zeros(8, bool)})
    7
    """
    return sum(leaf.size * leaf.dtype.itemsize // leaf.shape[0] for leaf in jax.tree.leaves(tree))
