"""Whole episodes of a policy, step by step, in batches of a fixed size."""

import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.types import Key, Policy, StatePolicy
from jaxenv.evaluation import as_pytree
from jaxenv.wrappers import Vectorize
from train.experience.rollout import by_agent
from train.experience.teacher import asked
from train.networks.layers import Carry
from train.networks.policy import LearnedPolicy, Reader

STEPS = 32  # played by one call


class Steps(struct.PyTreeNode):
    """Steps of trajectories, one agent's part of an episode each: axes [T, R], or [n] once they are in order."""

    observation: Any  # the record in which the action was taken, its mask included
    action: jax.Array  # int32
    reward: jax.Array  # float32
    terminated: jax.Array  # bool
    truncated: jax.Array  # bool
    label: Any = None  # int32, what a teacher would have done; None without one


class Batch(struct.PyTreeNode):
    """E whole episodes of N agents, as NumPy arrays; the R = E * N trajectories lie one after the other."""

    steps: Steps  # [n]
    trajectory: np.ndarray  # [n] int32, 0 .. R - 1, ascending: episode * N + agent
    final_observation: Any  # [R], the record after the last step
    scenario: np.ndarray  # [E] int32, index in the bank


class _Playing(struct.PyTreeNode):
    """E episodes in the middle of being played."""

    state: Any
    observation: Any  # [R]
    final: Any  # [R], after the last step of an episode so far
    carry: Carry
    is_live: jax.Array  # [E] bool


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
        playing, chunks = _start(start_key, policy, params, scenarios, env), []
        for chunk in range(-(-limit // STEPS)):
            playing, *played = _advance(jax.random.fold_in(play_key, chunk), playing, policy, params, teacher, env)
            chunks.append(jax.device_get(played))
            if not bool(playing.is_live.any()):
                break
        yield _in_order(chunks, jax.device_get(playing.final), np.asarray(scenarios), min(at_once, count - first))


@functools.partial(jax.jit, static_argnames="env")
def _start(key: Key, policy: LearnedPolicy, params: Any, scenarios: jax.Array, env: Environment) -> _Playing:
    """The first observations of the scenarios ([E] int32)."""
    size = scenarios.size
    observation, state = Vectorize(env, size).reset(key, params, scenarios)
    rows = by_agent(observation, env.num_agents)
    carry = Reader(policy.network, env, params).initial_carry(size * env.num_agents)
    return _Playing(state, rows, rows, carry, jnp.ones(size, bool))


@functools.partial(jax.jit, static_argnames="env")
def _advance(
    key: Key, playing: _Playing, policy: LearnedPolicy, params: Any, teacher: Any, env: Environment
) -> tuple[_Playing, Steps, jax.Array]:
    """(after the steps, steps [T, R], which were of episodes still running [T, R] bool)."""
    agents, reader = env.num_agents, Reader(policy.network, env, params)
    batch = Vectorize(env, playing.is_live.size)
    teach = None if teacher is None else asked(teacher, env, params)

    def step(now: _Playing, key: Key) -> tuple[_Playing, tuple[Steps, jax.Array]]:
        action_key, env_key = jax.random.split(key)
        distribution, _, carry = reader.act(policy.weights, now.observation, now.carry)
        action = distribution.mode() if policy.greedy else distribution.sample(action_key)
        joint = action if agents == 1 else action.reshape(-1, agents)
        observation, state, reward, *ends, info = batch.step(env_key, now.state, joint, params)
        terminated, truncated = (jnp.repeat(end, agents) for end in ends)
        was_live = jnp.repeat(now.is_live, agents)
        final = jax.vmap(select)(was_live, by_agent(info["final_observation"], agents), now.final)
        # By a key of its own, so that the others are the same without it.
        labels = None if teach is None else teach(jax.random.fold_in(key, 2), now.state).ravel()
        steps = Steps(now.observation, action, reward.ravel(), terminated, truncated, labels)
        following = _Playing(state, by_agent(observation, agents), final, carry, now.is_live & ~(ends[0] | ends[1]))
        return following, (steps, was_live)

    playing, (steps, was_live) = lax.scan(step, playing, jax.random.split(key, STEPS))
    return playing, steps, was_live


def _in_order(chunks: list[Any], final: Any, scenarios: np.ndarray, wanted: int) -> Batch:
    """The steps of the first `wanted` episodes, trajectory by trajectory."""
    steps, was_live = jax.tree.map(lambda *parts: np.swapaxes(np.concatenate(parts), 0, 1), *chunks)
    rows = wanted * (was_live.shape[0] // scenarios.size)
    kept = was_live[:rows]
    trajectory, _ = np.nonzero(kept)
    return Batch(
        steps=jax.tree.map(lambda x: x[:rows][kept], steps),
        trajectory=trajectory.astype(np.int32),
        final_observation=jax.tree.map(lambda x: x[:rows], final),
        scenario=scenarios[:wanted],
    )
