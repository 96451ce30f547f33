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
from jaxenv.core.masking import sample_uniform
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics, Vectorize, summarize
from train.config import Rollout
from train.metrics import Ended
from train.networks import PureNetwork

MOST_STAGGERED = 1000  # steps over which a run's first episodes are spread, where the time limit is longer
CHUNKS = 32  # of a batch: so many rows of it are valued at a time, where episodes were cut


class Envs(struct.PyTreeNode):
    """E environments between two steps, and what their B agents see."""

    state: Any  # of `EpisodeStatistics(env)`, with a leading axis E
    is_counted: jax.Array  # [E] bool, False in the first episode, of which random actions have played a part
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
def begin(key: Key, env_params: Any, *, env: Environment, network: PureNetwork, num_envs: int) -> Envs:
    """E environments in the middle of their first episodes, each at a step of its own.

    Environments that all begin at clock 0 stay in step where episodes are of one length, and each update sees one
    stretch of them. So each first plays 0 to L - 1 random legal actions, with L the time limit or `MOST_STAGGERED`.
    """
    batch = Vectorize(EpisodeStatistics(env), num_envs)
    reset_key, spread_key, play_key = jax.random.split(key, 3)
    observation, state = batch.reset(reset_key, env_params)
    limit = jnp.minimum(env_params.max_steps_in_episode, MOST_STAGGERED)
    steps = jax.random.randint(spread_key, (num_envs,), 0, limit)

    def play(step: jax.Array, episodes: tuple[Any, Any]) -> tuple[Any, Any]:
        observation, state = episodes
        action_key, env_key = jax.random.split(jax.random.fold_in(play_key, step))
        action = sample_uniform(action_key, observation.action_mask)
        following = batch.step(env_key, state, action, env_params)[:2]
        goes_on = step < steps

        def select(new: jax.Array, old: jax.Array) -> jax.Array:
            return jnp.where(goes_on.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

        return jax.tree.map(select, following, (observation, state))

    observation, state = lax.fori_loop(0, jnp.max(steps), play, (observation, state))
    return Envs(state, jnp.zeros(num_envs, bool), *read(network, env, observation, env_params))


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
        cut = jnp.repeat(truncated, agents)
        final_value = jnp.zeros_like(value)
        if config.bootstrap_truncated:
            final_value = values_where(cut, info["final_observation"], weights, env_params, env=env, network=network)
        transition = Transition(
            observation=envs.observation,
            mask=envs.mask,
            action=action,
            log_prob=policy.log_prob(action),
            value=value,
            reward=reward.ravel(),
            terminated=jnp.repeat(terminated, agents),
            truncated=cut,
            final_value=final_value,
        )
        ended = Ended(summarize(info, where=envs.is_counted), jnp.sum(terminated & envs.is_counted, dtype=jnp.int32))
        is_counted = envs.is_counted | terminated | truncated
        following = Envs(state, is_counted, *read(network, env, observation, env_params))
        return following, (transition, ended)

    envs, (transitions, ended) = lax.scan(step, envs, jax.random.split(key, config.num_steps))
    return envs, transitions, jax.tree.map(lambda x: jnp.sum(x, axis=0), ended)


def values_where(
    wanted: jax.Array, observation: Any, weights: Any, env_params: Any, *, env: Environment, network: PureNetwork
) -> jax.Array:
    """[B] float32: V of the observations where `wanted` ([B] bool), 0 elsewhere.

    The rows that are wanted are gathered and valued a chunk at a time, until none is left: exact however many there
    are, and the critic's work is that of the few which end in a step. Under `jax.vmap` it goes on for the longest.
    """
    size = max(1, wanted.size // CHUNKS)
    rows = by_agent(observation, env)

    def chunk(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, values = carry
        (index,) = jnp.nonzero(left, size=size, fill_value=wanted.size)  # what is beyond the batch is dropped below
        few = jax.tree.map(lambda leaf: leaf.at[index].get(mode="clip"), rows)
        features = jax.vmap(lambda one: network.read(env, one, env_params))(few)
        found = network.apply(weights, features, method="value")
        return left.at[index].set(False, mode="drop"), values.at[index].set(found, mode="drop")

    nothing = jnp.zeros(wanted.shape, jnp.float32)
    return lax.while_loop(lambda carry: jnp.any(carry[0]), chunk, (wanted, nothing))[1]


def read(network: PureNetwork, env: Environment, observation: Any, env_params: Any) -> tuple[Any, jax.Array]:
    """What the network reads of E observations, and their masks, by agent: (each array [B, ...], [B, A] bool)."""
    rows = by_agent(observation, env)
    return jax.vmap(lambda one: network.read(env, one, env_params))(rows), rows.action_mask


def by_agent(observation: Any, env: Environment) -> Any:
    """Observations with leading axes [E, N], or [E] of one agent, as rows [B]."""
    if env.num_agents == 1:
        return observation
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), observation)
