"""Collecting experience: E environments of N agents for T steps, in one scan.

An agent is a row: a batch has B = E * N of them, the agents of an environment side by side, and all that is learned is
learned by row. So agents share their weights, and one agent is the case N = 1.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics, Vectorize, summarize
from train.config import Rollout
from train.metrics import Ended
from train.networks import PureNetwork


class Envs(struct.PyTreeNode):
    """E environments between two steps, and what their B agents see."""

    state: Any  # of `EpisodeStatistics(env)`, with a leading axis E
    observation: Any  # what the network reads of it, each array with a leading axis B
    mask: jax.Array  # [B, A] bool


class Transition(struct.PyTreeNode):
    """One step of B agents, or T of them with a leading axis."""

    observation: Any  # what the network reads of the one in which the action was taken, leading axes [T, B]
    mask: jax.Array  # [T, B, A] bool, its legal actions
    action: jax.Array  # [T, B] int32
    log_prob: jax.Array  # [T, B] float32
    value: jax.Array  # [T, B] float32, of `observation`
    reward: jax.Array  # [T, B] float32
    terminated: jax.Array  # [T, B] bool
    truncated: jax.Array  # [T, B] bool
    final_value: jax.Array  # [T, B] float32, of the episode's last observation; read only where truncated


@functools.partial(jax.jit, static_argnames=("env", "network", "num_envs"))
def reset(key: Key, env_params: Any, *, env: Environment, network: PureNetwork, num_envs: int) -> Envs:
    """E fresh environments, each with a scenario drawn from the bank."""
    observation, state = Vectorize(EpisodeStatistics(env), num_envs).reset(key, env_params)
    return Envs(state, *read(network, env, observation, env_params))


def collect(
    key: Key, weights: Any, envs: Envs, env_params: Any, *, env: Environment, network: PureNetwork, config: Rollout
) -> tuple[Envs, Transition, Ended]:
    """T steps of B agents under the sampled policy: (environments after them, [T, B] steps, ended episodes)."""
    batch, agents = Vectorize(EpisodeStatistics(env), config.num_envs), env.num_agents

    def step(envs: Envs, key: Key) -> tuple[Envs, tuple[Transition, Ended]]:
        action_key, env_key = jax.random.split(key)
        policy, value = network.apply(weights, envs.observation, envs.mask)
        action = policy.sample(action_key)
        joint = action if agents == 1 else action.reshape(-1, agents)
        observation, state, reward, terminated, truncated, info = batch.step(env_key, envs.state, joint, env_params)
        transition = Transition(
            observation=envs.observation,
            mask=envs.mask,
            action=action,
            log_prob=policy.log_prob(action),
            value=value,
            reward=reward.ravel(),
            terminated=jnp.repeat(terminated, agents),
            truncated=jnp.repeat(truncated, agents),
            final_value=final_value(info["final_observation"], jnp.repeat(truncated, agents)),
        )
        following = Envs(state, *read(network, env, observation, env_params))
        return following, (transition, Ended(summarize(info), jnp.sum(terminated, dtype=jnp.int32)))

    def final_value(final_observation: Any, truncated: jax.Array) -> jax.Array:
        # Only a cut episode asks for V of its last observation, so only a step with one computes it: at most one more
        # pass of the critic per step, exact, and no second array of observations [T, B, ...].
        def compute() -> jax.Array:
            features, _ = read(network, env, final_observation, env_params)
            return network.apply(weights, features, method="value")

        nothing = jnp.zeros(truncated.shape, jnp.float32)
        if not config.bootstrap_truncated:
            return nothing
        return lax.cond(jnp.any(truncated), compute, lambda: nothing)

    envs, (transitions, ended) = lax.scan(step, envs, jax.random.split(key, config.num_steps))
    return envs, transitions, jax.tree.map(lambda x: jnp.sum(x, axis=0), ended)


def read(network: PureNetwork, env: Environment, observation: Any, env_params: Any) -> tuple[Any, jax.Array]:
    """What the network reads of E observations, and their masks, by agent: (each array [B, ...], [B, A] bool)."""
    rows = observation
    if env.num_agents > 1:
        rows = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), observation)
    return jax.vmap(lambda one: network.read(env, one, env_params))(rows), rows.action_mask
