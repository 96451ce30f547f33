"""A workload: a compiled function of (key, carry, params) that takes a fixed number of environment steps."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxenv.core.types import Key
from train.benchmark.programs import Program, bytes_per_env, pick

STEPS = 128  # of each environment in one call


@dataclasses.dataclass(frozen=True)
class Workload:
    """One function to compile and to call again and again, each call going on where the last one ended."""

    name: str
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

    >>> from train.benchmark.programs import registered
    >>> work = steps_of(registered("LifeOps-v0"), 4, steps=2)
    >>> carry = jax.eval_shape(work.start, jax.random.key(0), jax.eval_shape(work.params))
    >>> work.env_steps, sizes(work, carry).state > 50
    (8, True)
    """

    def start(key: Key, params: Any) -> Any:
        observation, state = program.reset(jax.random.split(key, num_envs), params)
        return observation, state, pick(key, program.mask(observation))

    def step(carry: Any, key: Key, params: Any) -> tuple[Any, tuple[jax.Array, jax.Array]]:
        # The next action is picked ahead and carried: picking is a chain of scalar operations, which XLA would
        # otherwise recompute wherever the action is used.
        _, state, action = carry
        action_key, step_key = jax.random.split(key)
        keys = jax.random.split(step_key, num_envs)
        observation, state, reward, done = program.step(keys, state, action, params)
        return (observation, state, pick(action_key, program.mask(observation))), (reward, done)

    run = summed_scan(step, steps)
    return Workload(
        program.name, num_envs, num_envs * steps, program.params, start, run, lambda c: (c[1], c[0]), loop_steps=steps
    )


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

    return Workload(
        "copy", num_envs, num_envs * steps, lambda: None, lambda key, _: jnp.zeros(words, jnp.int32), run, None, steps
    )
