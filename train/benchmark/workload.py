"""Workloads: compiled functions of (key, carry, params) that take a fixed number of environment steps.

Environments of any suite are batched functions here, with one way to pick actions for all.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import jaxenv
from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.masking import sample_uniform
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics
from train.experience.bank import generate_bank

STEPS = 128  # of each environment in one call
GENERATED = 65_536  # scenarios of a generated bank
CHUNK = 4096  # of them are drawn at a time
BANKS = ("library", "generated")


@dataclasses.dataclass(frozen=True)
class Program:
    """One environment, batched."""

    params: Callable[[], Any]  # makes them; their shapes are `jax.eval_shape` of it
    reset: Callable[[jax.Array, Any], tuple[Any, Any]]  # (keys [B], params) -> (observation, state)
    # (keys [B], state, action, params) -> (observation, state, reward, done [B])
    step: Callable[[jax.Array, Any, jax.Array, Any], tuple[Any, Any, jax.Array, jax.Array]]
    mask: Callable[[Any], jax.Array]  # observation -> [B, ..., A] bool


def registered(id: str, *, bank: str = "library", counted: bool = False) -> Program:
    """A registered environment.

    >>> registered("LifeOps-v0").params().bank
    ScenarioBank(12 scenarios, 7,656 bytes)

    Args:
        id: one of `jaxenv.registered()`.
        bank: the shipped `library`, or `generated` scenarios.
        counted: under the wrapper that training uses.
    """
    env, params = jaxenv.make(id)
    made, stepped = functools.partial(with_bank, env, params, bank), EpisodeStatistics(env) if counted else env
    reset = jax.vmap(stepped.reset_env, in_axes=(0, None))
    return Program(made, reset, rows(stepped), lambda observation: observation.action_mask)


def with_bank(env: Environment, params: Any, bank: str) -> Any:
    """The params with the bank of that name: as they are, or with 65,536 generated scenarios, as training has them.

    Training renews its bank by start weights, so that a start is one more read of a table.
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


@dataclasses.dataclass(frozen=True)
class Workload:
    """One function to compile and to call again and again, each call going on where the last one ended."""

    num_envs: int  # B
    env_steps: int  # of one call, over all environments
    params: Callable[[], Any]
    start: Callable[[Key, Any], Any]  # (key, params) -> the first carry; traced
    run: Callable[[Key, Any, Any], tuple[Any, Any]]  # (key, carry, params) -> (carry, results); traced
    # carry -> (state, observation), each with a leading axis B; None where a carry is opaque
    parts: Callable[[Any], tuple[Any, Any]] | None = None
    loop_steps: int = 0  # iterations of the loop whose body is one step of all environments; 0: there are several


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Bytes of one environment."""

    state: int
    observation: int

    @property
    def floor(self) -> int:
        """The least memory traffic of a step: read the state, write the next state and the observation."""
        return 2 * self.state + self.observation


def sizes(workload: Workload, carry: Any) -> Sizes | None:
    """Of the environments of a workload, if its carry shows them; from arrays or shapes."""
    if workload.parts is None:
        return None
    state, observation = workload.parts(carry)
    return Sizes(bytes_per_env(state), bytes_per_env(observation))


def steps_of(program: Program, num_envs: int, *, steps: int = STEPS) -> Workload:
    """A scan over a batch with automatic reset and uniformly random legal actions.

    State and observation are carried and returned, so nothing can be optimized away; rewards and ends are added up by
    environment and summed after the scan, since a sum over the batch inside a step stalls a GPU.

    >>> from train.benchmark.workload import registered
    >>> work = steps_of(registered("LifeOps-v0"), 4, steps=2)
    >>> carry = jax.eval_shape(work.start, jax.random.key(0), jax.eval_shape(work.params))
    >>> work.env_steps, sizes(work, carry).state > 50
    (8, True)
    """

    def start(key: Key, params: Any) -> Any:
        observation, state = program.reset(jax.random.split(key, num_envs), params)
        return observation, state, sample_uniform(key, program.mask(observation))

    def step(carry: Any, key: Key, params: Any) -> tuple[Any, tuple[jax.Array, jax.Array]]:
        # The next action is picked ahead and carried: picking is a chain of scalar operations, which XLA would
        # otherwise recompute wherever the action is used.
        _, state, action = carry
        action_key, step_key = jax.random.split(key)
        keys = jax.random.split(step_key, num_envs)
        observation, state, reward, done = program.step(keys, state, action, params)
        return (observation, state, sample_uniform(action_key, program.mask(observation))), (reward, done)

    run = summed_scan(step, steps)
    return Workload(num_envs, num_envs * steps, program.params, start, run, lambda c: (c[1], c[0]), loop_steps=steps)


def summed_scan(
    step: Callable[[Any, Any, Any], tuple[Any, tuple[jax.Array, jax.Array]]], steps: int
) -> Callable[[Key, Any, Any], tuple[Any, Any]]:
    """A scan of (carry, key, params) -> (carry, (reward, done)) that carries the totals by environment."""

    def run(key: Key, carry: Any, params: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, steps)
        reward, done = jax.eval_shape(step, carry, keys[0], params)[1]
        totals = jnp.zeros(reward.shape, jnp.float32), jnp.zeros(done.shape, jnp.int32)

        def add(carry: Any, key: Key) -> tuple[Any, None]:
            inner, (rewards, ends) = carry
            inner, (reward, done) = step(inner, key, params)
            return (inner, (rewards + reward, ends + done)), None

        (carry, totals), _ = lax.scan(add, (carry, totals), keys)
        return carry, jax.tree.map(jnp.sum, totals)

    return run


def copies(num_envs: int, num_bytes: int, *, steps: int = STEPS) -> Workload:
    """The floor under a workload: a scan that reads and writes as many bytes a step as the workload must move.

    Args:
        num_envs: B, environments of that workload.
        num_bytes: that a step of one environment must move (`Sizes.floor`).
        steps: in one call.
    """
    words = max(1, num_envs * num_bytes // 8)  # each word is read and written: 8 bytes

    def run(key: Key, carry: jax.Array, params: Any) -> tuple[jax.Array, None]:
        return lax.scan(lambda x, _: (x + 1, None), carry, length=steps)

    def start(key: Key, params: Any) -> jax.Array:
        return jnp.zeros(words, jnp.int32)

    return Workload(num_envs, num_envs * steps, lambda: None, start, run, loop_steps=steps)


def bytes_per_env(tree: Any) -> int:
    """Bytes of a row of a batch, from arrays or shapes.

    >>> import jax.numpy as jnp
    >>> bytes_per_env({"a": jnp.zeros((8, 3), jnp.int16), "b": jnp.zeros(8, bool)})
    7
    """
    return sum(leaf.size * leaf.dtype.itemsize // leaf.shape[0] for leaf in jax.tree.leaves(tree))
