"""Collecting experience: E environments of N agents for T steps, in one scan.

Each agent is a row: a batch has B = E * N rows, with the agents of an environment next to each other, and the learner
sees rows alone. So agents share their weights, and a single agent is the case N = 1.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.masking import sample_uniform
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics, EpisodeSummary, Vectorize, summarize
from train.networks.network import PureNetwork
from train.settings.config import Rollout

MAX_STAGGER = 1000  # steps over which a run's first episodes are spread, where the time limit is longer
CHUNKS = 32  # the final observations of truncated episodes are valued in chunks of B / CHUNKS rows


class RolloutState(struct.PyTreeNode):
    """E environments between two steps, and what their B agents observe."""

    state: Any  # of `EpisodeStatistics(env)`, with a leading axis E
    is_counted: jax.Array  # [E] bool, False in the first episode, which random actions began
    observation: Any  # the network's features of it, each array with a leading axis B
    mask: jax.Array  # [B, A] bool


class Transition(struct.PyTreeNode):
    """One step of B agents, or T of them with a leading axis."""

    observation: Any  # features of the observation in which the action was taken, leading axes [T, B]
    mask: jax.Array  # [T, B, A] bool, its legal actions
    action: jax.Array  # [T, B] int32
    log_prob: jax.Array  # [T, B] float32
    value: jax.Array  # [T, B] float32, V(observation)
    reward: jax.Array  # [T, B] float32
    terminated: jax.Array  # [T, B] bool
    truncated: jax.Array  # [T, B] bool
    final_value: jax.Array  # [T, B] float32, V(last observation of the episode); read only where truncated


class EpisodeTotals(struct.PyTreeNode):
    """Sums over finished episodes and their count, rather than means: there may be none."""

    episodes: EpisodeSummary  # count, return_sum, length_sum; returns are undiscounted and unscaled
    terminated: jax.Array  # [] int32, episodes that terminated rather than hit the time limit


@functools.partial(jax.jit, static_argnames=("env", "network", "num_envs"))
def initial_state(key: Key, env_params: Any, *, env: Environment, network: PureNetwork, num_envs: int) -> RolloutState:
    """E environments in the middle of their first episodes, each at a random step.

    If all started at clock 0, environments with episodes of equal length would stay synchronized, and each update
    would see only one stretch of the episode. So each first plays 0 to L - 1 random legal actions, where L is the time
    limit, or `MAX_STAGGER` if that is less.
    """
    batch = Vectorize(EpisodeStatistics(env), num_envs)
    reset_key, spread_key, play_key = jax.random.split(key, 3)
    observation, state = batch.reset(reset_key, env_params)
    limit = jnp.minimum(env_params.max_steps_in_episode, MAX_STAGGER)
    steps = jax.random.randint(spread_key, (num_envs,), 0, limit)

    def advance(step: jax.Array, episodes: tuple[Any, Any]) -> tuple[Any, Any]:
        observation, state = episodes
        action_key, env_key = jax.random.split(jax.random.fold_in(play_key, step))
        action = sample_uniform(action_key, observation.action_mask)
        following = batch.step(env_key, state, action, env_params)[:2]
        return jax.vmap(select)(step < steps, following, episodes)

    observation, state = lax.fori_loop(0, jnp.max(steps), advance, (observation, state))
    return RolloutState(state, jnp.zeros(num_envs, bool), *read(network, env, observation, env_params))


def collect(
    key: Key,
    weights: Any,
    envs: RolloutState,
    env_params: Any,
    *,
    env: Environment,
    network: PureNetwork,
    config: Rollout,
) -> tuple[RolloutState, Transition, EpisodeTotals]:
    """T steps of B agents with sampled actions: (state after them, transitions [T, B], totals of finished episodes)."""
    batch, agents = Vectorize(EpisodeStatistics(env), config.num_envs), env.num_agents

    def step(envs: RolloutState, key: Key) -> tuple[RolloutState, tuple[Transition, EpisodeTotals]]:
        action_key, env_key = jax.random.split(key)
        policy, value = network.apply(weights, envs.observation, envs.mask)
        action = policy.sample(action_key)
        joint = action if agents == 1 else action.reshape(-1, agents)
        observation, state, reward, terminated, truncated, info = batch.step(env_key, envs.state, joint, env_params)
        row_truncated = jnp.repeat(truncated, agents)
        final_value = jnp.zeros_like(value)
        if config.bootstrap_truncated:
            final_value = values_where(
                row_truncated, info["final_observation"], weights, env_params, env=env, network=network
            )
        transition = Transition(
            observation=envs.observation,
            mask=envs.mask,
            action=action,
            log_prob=policy.log_prob(action),
            value=value,
            reward=reward.ravel(),
            terminated=jnp.repeat(terminated, agents),
            truncated=row_truncated,
            final_value=final_value,
        )
        num_terminated = jnp.sum(terminated & envs.is_counted, dtype=jnp.int32)
        totals = EpisodeTotals(summarize(info, where=envs.is_counted), num_terminated)
        is_counted = envs.is_counted | terminated | truncated
        following = RolloutState(state, is_counted, *read(network, env, observation, env_params))
        return following, (transition, totals)

    envs, (transitions, totals) = lax.scan(step, envs, jax.random.split(key, config.num_steps))
    return envs, transitions, jax.tree.map(lambda x: jnp.sum(x, axis=0), totals)


def values_where(
    wanted: jax.Array, observation: Any, weights: Any, env_params: Any, *, env: Environment, network: PureNetwork
) -> jax.Array:
    """[B] float32: V(observation) where `wanted` ([B] bool), 0 elsewhere.

    Wanted rows are gathered and valued in chunks until none is left. That is exact for any number of them, and the
    critic only does the work for the few episodes that end in a step. Under `jax.vmap` all wait for the longest.
    """
    size = max(1, wanted.size // CHUNKS)
    rows = by_agent(observation, env)

    def chunk(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, values = carry
        (index,) = jnp.nonzero(left, size=size, fill_value=wanted.size)  # indices beyond the batch are dropped below
        few = jax.tree.map(lambda leaf: leaf.at[index].get(mode="clip"), rows)
        features = jax.vmap(lambda one: network.read(env, one, env_params))(few)
        found = network.apply(weights, features, method="value")
        return left.at[index].set(False, mode="drop"), values.at[index].set(found, mode="drop")

    nothing = jnp.zeros(wanted.shape, jnp.float32)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), chunk, (wanted, nothing))[1]


def read(network: PureNetwork, env: Environment, observation: Any, env_params: Any) -> tuple[Any, jax.Array]:
    """Features and masks of E observations by agent: (each array [B, ...], [B, A] bool)."""
    rows = by_agent(observation, env)
    return jax.vmap(lambda one: network.read(env, one, env_params))(rows), rows.action_mask


def by_agent(observation: Any, env: Environment) -> Any:
    """Observations with leading axes [E, N], or [E] for a single agent, as rows [B]."""
    if env.num_agents == 1:
        return observation
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), observation)
