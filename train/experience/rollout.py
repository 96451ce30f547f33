"""Collecting experience: E environments of N agents for T steps, in one scan.

Each agent is a row: a batch has B = E * N rows, with the agents of an environment next to each other, and the learner
sees rows alone. So agents share their weights, and a single agent is the case N = 1.

Observations are kept as the records that the environment returns, which are up to 45 times smaller than a network's
features of them; features are computed where they are used. Between two rollouts no observation is kept, since the
state contains it.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.masking import sample_uniform
from jaxenv.core.types import ActionMask, Info, Key
from jaxenv.lowering import draws
from jaxenv.lowering.batches import vary_alike
from jaxenv.wrappers import EpisodeStatistics, EpisodeSummary, Vectorize, summarize
from train.networks.layers import Carry
from train.networks.outputs import MaskedCategorical
from train.networks.policy import Reader
from train.once import compiled_once
from train.settings.groups import Rollout

MAX_STAGGER = 1000  # steps over which a run's first episodes are spread, where the time limit is longer
CHUNKS = 32  # the final observations of truncated episodes are valued in chunks of B / CHUNKS rows


Explore = Callable[[MaskedCategorical, ActionMask], MaskedCategorical]
Teacher = Callable[[Key, Any], jax.Array]  # (key, states of E environments) -> [E] or [E, N] int32


class RolloutState(struct.PyTreeNode):
    """E environments between two steps."""

    state: Any  # of `EpisodeStatistics(env)`, with a leading axis E
    is_counted: jax.Array  # [E] bool, False in the first episode, which random actions began
    carry: Carry = None  # [B, H] float32, the network's memory of each agent's episode; None without memory


class Transition(struct.PyTreeNode):
    """One step of B agents, or T of them with a leading axis."""

    observation: Any  # the record in which the action was taken, its mask included; leading axes [T, B]
    action: jax.Array  # [T, B] int32
    log_prob: jax.Array  # [T, B] float32
    value: jax.Array  # [T, B] float32, V(observation)
    reward: jax.Array  # [T, B] float32
    terminated: jax.Array  # [T, B] bool
    truncated: jax.Array  # [T, B] bool
    # [T, B] float32, V(last observation of the episode); read only where truncated. None if that is not bootstrapped.
    final_value: jax.Array | None
    following: Any = None  # the record after the step, before any reset; leading axes [T, B]. None unless it is kept.
    taught: Any = None  # [T, B] int32, the teacher's action; None without one
    # [T, B], for a curriculum alone: the scenario (int32), and the return of the episode up to this step (float32).
    scenario: Any = None
    episode_return: Any = None

    @property
    def ended(self) -> jax.Array:
        """[T, B] bool: whether the episode ended with this step."""
        return self.terminated | self.truncated

    @property
    def is_first(self) -> jax.Array:
        """[T, B] bool: whether the step is of the first episode of its row, its last step included."""
        return jnp.cumsum(self.ended, axis=0) - self.ended == 0


class EpisodeTotals(struct.PyTreeNode):
    """Sums over finished episodes and their count, rather than means: there may be none."""

    episodes: EpisodeSummary  # count, return_sum, length_sum; returns are undiscounted and unscaled
    terminated: jax.Array  # [] int32, episodes that terminated rather than hit the time limit


@functools.partial(compiled_once, static_argnames=("env", "num_envs"))
def initial_state(key: Key, env_params: Any, *, env: Environment, num_envs: int) -> RolloutState:
    """E environments in the middle of their first episodes, each at a random step; nothing is remembered of them.

    If all started at clock 0, environments with episodes of equal length would stay synchronized, and each update
    would see only one stretch of the episode. So each first plays 0 to L - 1 random legal actions, where L is the time
    limit, or `MAX_STAGGER` if that is less.
    """
    counting = EpisodeStatistics(env)
    reset_key, spread_key, play_key = jax.random.split(key, 3)
    start = jax.vmap(counting.init, (0, None, None))(draws.split(reset_key, num_envs), env_params, None)
    limit = jnp.minimum(env_params.max_steps_in_episode, MAX_STAGGER)
    steps = jax.random.randint(spread_key, (num_envs,), 0, limit)

    def turn(key: Key, state: Any, action: jax.Array) -> Any:
        turn_key, reset_key = draws.split(key)
        return counting.transition_or_reset(turn_key, reset_key, state, action, env_params)[1]

    def advance(step: jax.Array, state: Any) -> Any:
        action_key, env_key = jax.random.split(jax.random.fold_in(play_key, step))
        action = sample_uniform(action_key, jax.vmap(counting.action_mask, (0, None))(state, env_params))
        following = jax.vmap(turn)(draws.split(env_key, num_envs), state, action)
        return jax.vmap(select)(step < steps, vary_alike(following), state)

    state = lax.fori_loop(0, jnp.max(steps), advance, vary_alike(start))
    return RolloutState(state, jnp.zeros(num_envs, bool))


def collect(
    key: Key,
    weights: Any,
    envs: RolloutState,
    reader: Reader,
    sizes: Rollout,
    *,
    explore: Explore | None = None,
    teacher: Teacher | None = None,
    keeps_following: bool = False,
    with_scenarios: bool = False,
) -> tuple[RolloutState, Transition, jax.Array, EpisodeTotals]:
    """T steps of B agents with sampled actions.

    Args:
        key: random key.
        weights: of the network.
        envs: E environments.
        reader: the network, and the environment that it acts in.
        sizes: E, T, and whether truncated episodes are valued.
        explore: (policy, masks [B, A]) -> the distribution that actions are drawn from; by default the policy itself.
        teacher: whose actions are recorded beside the learner's.
        keeps_following: keep the record after each step, from which truncated episodes can be valued later.
        with_scenarios: whether transitions contain their scenarios and the returns so far.

    Returns:
        (environments after the steps, transitions [T, B], value of the last observation [B] float32, totals of the
        finished episodes).
    """
    env, params = reader.env, reader.params
    batch, agents = Vectorize(EpisodeStatistics(env), sizes.num_envs), env.num_agents

    def observe(envs: RolloutState) -> Any:
        return by_agent(jax.vmap(EpisodeStatistics(env).observe, (0, None))(envs.state, params), agents)

    def step(so_far: tuple[RolloutState, EpisodeTotals], key: Key) -> tuple[Any, Transition]:
        envs, totals = so_far
        action_key, env_key = jax.random.split(key)
        observation = observe(envs)
        policy, critic, carry = reader.act(weights, observation, envs.carry)
        if explore is not None:
            policy = explore(policy, observation.action_mask)
        action = policy.sample(action_key)
        joint = action if agents == 1 else action.reshape(-1, agents)
        _, state, reward, terminated, truncated, info = batch.step(env_key, envs.state, joint, params)
        row_terminated, row_truncated = jnp.repeat(terminated, agents), jnp.repeat(truncated, agents)
        following, final_value = by_agent(info["final_observation"], agents), None
        if sizes.bootstrap_truncated and not keeps_following:
            final_value = values_where(row_truncated, following, carry, weights, reader)  # remembered until then
        transition = Transition(
            observation=observation,
            action=action,
            log_prob=policy.log_prob(action),
            value=critic.value,
            reward=reward.ravel(),
            terminated=row_terminated,
            truncated=row_truncated,
            final_value=final_value,
            following=following if keeps_following else None,
        )
        if teacher is not None:  # by a key of its own, so that the others are the same without it
            transition = transition.replace(taught=teacher(jax.random.fold_in(key, 2), envs.state.env_state).ravel())
        if with_scenarios:
            scenario = jax.vmap(EpisodeStatistics(env).scenario_index)(envs.state)
            returns = info["episode"].episode_return.ravel()
            transition = transition.replace(scenario=jnp.repeat(scenario, agents), episode_return=returns)
        totals = jax.tree.map(jnp.add, totals, finished(info, envs.is_counted))
        if carry is not None:
            carry = jnp.where((row_terminated | row_truncated)[:, None], 0.0, carry)
        return (RolloutState(state, envs.is_counted | terminated | truncated, carry), totals), transition

    keys = jax.random.split(key, sizes.num_steps)
    (envs, totals), transitions = lax.scan(step, (envs, _no_totals(envs)), keys)
    last_value = reader.value(weights, observe(envs), envs.carry)
    return envs, transitions, last_value, jax.tree.map(lambda x: jnp.sum(x, axis=0), totals)


def finished(info: Info, is_counted: jax.Array) -> EpisodeTotals:
    """The totals of one step of E environments, by environment: each array [E], to be summed when all steps are done.

    On a GPU a sum over the whole batch in every step would cost as much as the step.
    """
    parts = {name: info[name] for name in ("terminated", "truncated", "episode")}
    episodes = jax.vmap(summarize)(parts, is_counted)
    return EpisodeTotals(episodes, (info["terminated"] & is_counted).astype(jnp.int32))


def values_where(wanted: jax.Array, observation: Any, carry: Carry, weights: Any, reader: Reader) -> jax.Array:
    """[B] float32: V(observation) where `wanted` ([B] bool), 0 elsewhere.

    Wanted rows are gathered and valued in chunks until none is left. That is exact for any number of them, and the
    critic only does the work for the few episodes that end in a step. Under `jax.vmap` all wait for the longest.
    """
    size = max(1, wanted.size // CHUNKS)

    def chunk(so_far: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        left, values = so_far
        (index,) = jnp.nonzero(left, size=size, fill_value=wanted.size)  # indices beyond the batch are dropped below
        few = jax.tree.map(lambda leaf: leaf.at[index].get(mode="clip"), (observation, carry))
        found = reader.value(weights, *few)
        return left.at[index].set(False, mode="drop"), values.at[index].set(found, mode="drop")

    nothing = jnp.zeros(wanted.shape, jnp.float32)
    return lax.while_loop(lambda so_far: jnp.any(so_far[0]), chunk, (wanted, nothing))[1]


def by_agent(observation: Any, agents: int) -> Any:
    """Observations with leading axes [E, N], or [E] for a single agent, as rows [B]."""
    if agents == 1:
        return observation
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), observation)


def observation_shapes(env: Environment, params: Any) -> Any:
    """The shapes and dtypes of the observations of the N agents of one environment, as rows [N]."""

    def reset(key: Key, params: Any) -> Any:
        return by_agent(Vectorize(env, 1).reset(key, params)[0], env.num_agents)

    return jax.eval_shape(reset, jax.random.key(0), params)


def _no_totals(envs: RolloutState) -> EpisodeTotals:
    """Totals of no episodes, each array [E], the returns [E, N] for N agents."""
    zero = jnp.zeros(envs.is_counted.shape, jnp.int32)
    return EpisodeTotals(EpisodeSummary(zero, jnp.zeros_like(envs.state.episode.episode_return), zero), zero)
