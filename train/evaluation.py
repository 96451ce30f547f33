"""Evaluation: the first episode of every scenario of a bank, in one compiled program."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax
from jax.tree_util import Partial

from jaxenv.core import Environment
from jaxenv.core.types import Key, Policy


class Evaluation(struct.PyTreeNode):
    """How the episodes went; S scenarios in the order of the bank, R repetitions of each."""

    returns: jax.Array  # [S, R] float32, undiscounted
    lengths: jax.Array  # [S, R] int32, steps
    terminated: jax.Array  # [S, R] bool, came to a natural end
    truncated: jax.Array  # [S, R] bool, ran into the time limit
    succeeded: jax.Array  # [S, R] bool, ended in success; False where the environment's `info` tells none


def evaluate(
    policy: Policy, env: Environment, params: Any, *, key: Key | None = None, repetitions: int = 1
) -> Evaluation:
    """Plays each scenario of `params.bank` from its beginning to its end.

    Args:
        policy: (key, observation, params) -> action on one observation: a baseline, any function, or a trained
            `NetworkPolicy`, which takes the most probable action, or draws one after `policy.replace(greedy=False)`.
            A policy that is a pytree may change its weights without a second compilation.
        env: the environment.
        params: its params, with the bank to be played.
        key: for policies and environments that draw; a fixed one where None.
        repetitions: R, episodes of each scenario; one is enough where nothing is random, a sampled policy wants many.
    """
    key = jax.random.key(0) if key is None else key
    as_tree = Partial(policy) if jax.tree_util.all_leaves([policy]) else policy
    return _play_all(env, repetitions, as_tree, params, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _play_all(env: Environment, repetitions: int, policy: Policy, params: Any, key: Key) -> Evaluation:
    scenarios = jnp.arange(params.bank.size, dtype=jnp.int32).repeat(repetitions)
    keys = jax.random.split(key, scenarios.size)
    flat = jax.vmap(functools.partial(_play, env, policy, params))(keys, scenarios)
    return jax.tree.map(lambda x: x.reshape(-1, repetitions), flat)


def _play(env: Environment, policy: Policy, params: Any, key: Key, scenario: jax.Array) -> Evaluation:
    """One episode; nothing is added after its end, however long its neighbours go on."""
    reset_key, play_key = jax.random.split(key)
    state = env.init(reset_key, params, scenario)
    no = jnp.bool_(False)
    nothing = Evaluation(jnp.float32(0), jnp.int32(0), no, no, no)

    def is_running(carry: tuple[Any, Key, Evaluation]) -> jax.Array:
        _, _, so_far = carry
        return ~(so_far.terminated | so_far.truncated)

    def step(carry: tuple[Any, Key, Evaluation]) -> tuple[Any, Key, Evaluation]:
        state, key, so_far = carry
        key, policy_key, env_key = jax.random.split(key, 3)
        action = policy(policy_key, env.observe(state, params), params)
        state, reward, terminated, info = env.transition(env_key, state, action, params)
        so_far = Evaluation(
            returns=so_far.returns + reward,
            lengths=so_far.lengths + 1,
            terminated=terminated,
            truncated=env.is_truncated(state, params),
            succeeded=jnp.asarray(info.get("success", False)),
        )
        return state, key, so_far

    # Under vmap a while loop runs until all are done and keeps what was done before as it is.
    _, _, played = lax.while_loop(is_running, step, (state, play_key, nothing))
    return played
