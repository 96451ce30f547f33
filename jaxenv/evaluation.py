"""Evaluation: the first episode of every scenario of a bank, in one compiled program."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax
from jax.tree_util import Partial

from jaxenv.core import Environment
from jaxenv.core.contents import require_valid
from jaxenv.core.types import AnyPolicy, Key


class Evaluation(struct.PyTreeNode):
    """The results of S scenarios in the order of the bank, R episodes of each."""

    returns: jax.Array  # [S, R] float32, undiscounted
    lengths: jax.Array  # [S, R] int32, steps
    terminated: jax.Array  # [S, R] bool, ended naturally
    truncated: jax.Array  # [S, R] bool, reached the time limit
    succeeded: jax.Array  # [S, R] bool, ended in success; False if `info` does not report it
    statistics: Any = None  # `info["statistics"]` of the last step, leading axes [S, R]; None if not reported

    def figures(self) -> dict[str, float]:
        """Statistics of the policy, by name: `statistics.pooled()` over all episodes; empty if there is no such method.

        >>> import jaxenv
        >>> from jaxenv import baselines
        >>> env, params = jaxenv.make("TeamsClone-v0")
        >>> found = jaxenv.evaluate(baselines.for_environment(env)["Rule-based"], env, params).figures()
        >>> list(found)
        ['messages', 'mentions answered', 'response time', 'coverage', 'valid actions']
        >>> found["valid actions"]
        1.0
        """
        return self.statistics.pooled() if hasattr(self.statistics, "pooled") else {}


def evaluate(
    policy: AnyPolicy,
    env: Environment,
    params: Any,
    *,
    key: Key | None = None,
    repetitions: int = 1,
    max_steps: int | None = None,
) -> Evaluation:
    """Plays every scenario of `params.bank` from start to end; params without a bank count as one scenario.

    Several agents all use the same policy, each on its own observation, and a return is the mean of theirs.

    >>> import jax.numpy as jnp, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> def reject(key, observation, params):
    ...     return jnp.int32(1)
    >>> result = jaxenv.evaluate(reject, env, params)
    >>> result.returns.shape, int(result.lengths.max())
    ((12, 1), 8)

    Args:
        policy: (key, observation, params) -> action on one observation: a baseline, any function, or a trained
            `NetworkPolicy`, which takes the most probable action, or samples with `policy.replace(greedy=False)`;
            a `StatefulPolicy`; or a `StatePolicy`, which is shown the true state. New weights of a policy that is a
            pytree do not recompile.
        env: the environment.
        params: its params, with the bank to play.
        key: random key for policies and environments; `jax.random.key(0)` by default.
        repetitions: R, episodes of each scenario; one is enough if nothing is random, a sampled policy needs many.
        max_steps: an episode that has not ended by then is stopped, neither terminated nor truncated; by default
            `params.max_steps_in_episode`, by which every episode should have ended.

    Raises:
        TypeError: for a policy that is neither a function nor a pytree.
        ValueError: for params that their `validate` refuses.
    """
    require_valid(params)
    key = jax.random.key(0) if key is None else key
    cap = jnp.int32(params.max_steps_in_episode if max_steps is None else max_steps)
    return _play_all(env, repetitions, type(policy), as_pytree(policy), params, key, cap)


def as_pytree(policy: Any) -> Any:
    """A policy that a compiled function takes as an argument: a function as a pytree without leaves."""
    if not jax.tree_util.all_leaves([policy]):
        return policy
    if not callable(policy):
        raise TypeError(f"policy {policy!r}: expected a function or a pytree, such as a flax.struct.PyTreeNode")
    return Partial(policy)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _play_all(
    env: Environment, repetitions: int, kind: type, policy: Any, params: Any, key: Key, max_steps: jax.Array
) -> Evaluation:
    """Every episode, S · R side by side, with results [S, R, ...]."""
    del kind  # an argument, since the tree structures of two classes with equal fields compare as equal
    number = params.bank.size if hasattr(params, "bank") else 1
    scenarios = jnp.arange(number, dtype=jnp.int32).repeat(repetitions)
    keys = jax.random.split(key, scenarios.size)

    def play(key: Key, scenario: jax.Array) -> Evaluation:
        reset_key, play_key = jax.random.split(key)
        return play_from(env, policy, params, max_steps, play_key, env.init(reset_key, params, scenario))

    flat = jax.vmap(play)(keys, scenarios)
    return jax.tree.map(lambda x: x.reshape(-1, repetitions, *x.shape[1:]), flat)


def play_from(env: Environment, policy: Any, params: Any, max_steps: jax.Array, key: Key, state: Any) -> Evaluation:
    """Plays an episode from a state that has not ended, with the memory that a policy begins with.

    Nothing is added after its end, however long others of a batch continue.
    """
    start, act = in_state(policy, env)

    def is_running(carry: tuple[Any, Any, Key, Evaluation]) -> jax.Array:
        so_far = carry[-1]
        return ~(so_far.terminated | so_far.truncated) & (so_far.lengths < max_steps)

    def step(carry: tuple[Any, Any, Key, Evaluation]) -> tuple[Any, Any, Key, Evaluation]:
        state, memory, key, so_far = carry
        key, policy_key, env_key = jax.random.split(key, 3)
        action, memory = act(policy_key, state, params, memory)
        state, reward, terminated, info = env.transition(env_key, state, action, params)
        so_far = Evaluation(
            returns=so_far.returns + jnp.mean(reward),
            lengths=so_far.lengths + 1,
            terminated=terminated,
            truncated=env.is_truncated(state, params),
            succeeded=jnp.asarray(info.get("success", False)),
            statistics=info.get("statistics"),
        )
        return state, memory, key, so_far

    no = jnp.bool_(False)
    first = (state, start, key, Evaluation(jnp.float32(0), jnp.int32(0), no, no, no, statistics=None))
    shapes = jax.eval_shape(step, first)[-1]  # zeros before the first step
    zeros = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)
    # Under vmap a while loop runs until all episodes are done and leaves finished ones unchanged.
    *_, played = lax.while_loop(is_running, step, (*first[:-1], zeros))
    return played


def in_state(policy: Any, env: Environment) -> tuple[Any, Callable[..., tuple[jax.Array, Any]]]:
    """(initial carry of all agents, (key, state, params, carry) -> (action, carry))."""
    if hasattr(policy, "act_on_state"):
        if hasattr(policy, "initial_carry"):
            return policy.initial_carry(), policy.act_on_state
        return (), lambda key, state, params, carry: (policy.act_on_state(key, state, params), carry)

    def act_without_carry(key: Key, observation: Any, params: Any, carry: Any) -> tuple[jax.Array, Any]:
        return policy(key, observation, params), carry

    start, act = (policy.initial_carry(), policy.act) if hasattr(policy, "act") else ((), act_without_carry)
    agents = env.num_agents
    if agents == 1:
        return start, lambda key, state, params, carry: act(key, env.observe(state, params), params, carry)

    def act_all(key: Key, state: Any, params: Any, carry: Any) -> tuple[jax.Array, Any]:
        observation, keys = env.observe(state, params), jax.random.split(key, agents)
        return jax.vmap(act, in_axes=(0, 0, None, 0))(keys, observation, params, carry)

    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (agents, *jnp.shape(leaf))), start), act_all
