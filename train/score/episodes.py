"""Whole episodes of a policy, step by step, in batches of a fixed size."""

import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key, Policy, StatePolicy
from jaxenv.evaluation import as_pytree
from jaxenv.wrappers import EpisodeStatistics, Vectorize
from train.experience.rollout import RolloutState, Transition, collect
from train.experience.teacher import asked
from train.networks.policy import LearnedPolicy, Reader
from train.settings.groups import Rollout

STEPS = 32  # played by one call


class Batch(struct.PyTreeNode):
    """E whole episodes of N agents, as NumPy arrays; the R = E * N trajectories lie one after the other."""

    steps: Transition  # [n], with the records that follow, and without the network's outputs
    trajectory: np.ndarray  # [n] int32, 0 .. R - 1, ascending: episode * N + agent
    final_observation: Any  # [R], the record after the last step
    scenario: np.ndarray  # [E] int32, index in the bank


def play(
    policy: LearnedPolicy,
    env: Environment,
    params: Any,
    count: int,
    *,
    key: Key,
    at_once: int = 64,
    teacher: Policy | StatePolicy | None = None,
) -> Iterator[Batch]:
    """Plays `count` episodes, of the scenarios of the bank in turns, and gives them as they are done.

    No more than `at_once` episodes are in memory. An episode that has not ended by the limit of the params, where the
    environment should have cut it, is left soon after that, without an end.

    Args:
        policy: acts for every agent, greedily or not.
        env: the environment.
        params: its params, with or without a bank.
        count: episodes.
        key: random key of actions and episodes.
        at_once: E, episodes side by side.
        teacher: a policy without memory, which is asked in every state and does not act.
    """
    teacher = None if teacher is None else as_pytree(teacher)
    bank = params.bank.size if hasattr(params, "bank") else 1
    limit = int(params.max_steps_in_episode)
    for first in range(0, count, at_once):
        scenarios = jnp.asarray((first + np.arange(at_once)) % bank, jnp.int32)
        start_key, play_key = jax.random.split(jax.random.fold_in(key, first))
        envs, chunks = start(start_key, policy, params, scenarios, env), []
        for chunk in range(-(-limit // STEPS)):
            envs, *played = _advance(jax.random.fold_in(play_key, chunk), envs, policy, params, teacher, env)
            chunks.append(jax.device_get(played))
            if bool(envs.is_counted.all()):
                break
        yield _in_order(chunks, np.asarray(scenarios), min(at_once, count - first))


@functools.partial(jax.jit, static_argnames="env")
def start(key: Key, policy: LearnedPolicy, params: Any, scenarios: jax.Array, env: Environment) -> RolloutState:
    """Environments at the start of the scenarios ([E] int32)."""
    size = scenarios.size
    _, state = Vectorize(EpisodeStatistics(env), size).reset(key, params, scenarios)
    carry = Reader(policy.network, env, params).initial_carry(size * env.num_agents)
    return RolloutState(state, jnp.zeros(size, bool), carry)


@functools.partial(jax.jit, static_argnames="env")
def _advance(
    key: Key, envs: RolloutState, policy: LearnedPolicy, params: Any, teacher: Any, env: Environment
) -> tuple[RolloutState, Transition, jax.Array]:
    """(after the steps, steps [T, R], which were of episodes still running [T, R] bool)."""
    size, reader = envs.is_counted.size, Reader(policy.network, env, params)
    sizes = Rollout(num_envs=size, num_steps=STEPS, minibatch_size=size, bootstrap_truncated=False)
    teach = None if teacher is None else asked(teacher, env, params)
    greedy = (lambda distribution, mask: distribution.or_uniform(mask, 0.0)) if policy.greedy else None  # never uniform
    like = {"explore": greedy, "teacher": teach, "keeps_following": True}
    after, steps, *_ = collect(key, policy.weights, envs, reader, sizes, **like)
    was_live = steps.is_first & ~jnp.repeat(envs.is_counted, env.num_agents)[None]
    return after, steps.replace(log_prob=None, value=None), was_live


def _in_order(chunks: list[Any], scenarios: np.ndarray, wanted: int) -> Batch:
    """The steps of the first `wanted` episodes, trajectory by trajectory."""
    steps, was_live = jax.tree.map(lambda *parts: np.swapaxes(np.concatenate(parts), 0, 1), *chunks)
    rows = wanted * (was_live.shape[0] // scenarios.size)
    kept = was_live[:rows]
    trajectory, _ = np.nonzero(kept)
    steps = jax.tree.map(lambda x: x[:rows][kept], steps)
    last = np.searchsorted(trajectory, np.arange(rows), side="right") - 1
    return Batch(
        steps=steps.replace(following=None),
        trajectory=trajectory.astype(np.int32),
        final_observation=jax.tree.map(lambda x: x[last], steps.following),
        scenario=scenarios[:wanted],
    )
