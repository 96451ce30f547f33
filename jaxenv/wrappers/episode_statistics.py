"""Return and length of each episode, and their sums over the finished episodes of a batch."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import spaces
from jaxenv.core.environment import select
from jaxenv.core.types import Info, Key, TurnResult
from jaxenv.wrappers.wrapper import Wrapper


class EpisodeSoFar(struct.PyTreeNode):
    """Totals of an episode so far."""

    episode_return: jax.Array  # [] float32 ([N] for N agents), undiscounted
    length: jax.Array  # [] int32, steps

    def plus(self, reward: jax.Array) -> "EpisodeSoFar":
        """The totals after one more step."""
        return EpisodeSoFar(self.episode_return + reward, self.length + 1)


class StatisticsState(struct.PyTreeNode):
    """The wrapped state and the totals of its episode so far."""

    env_state: Any
    episode: EpisodeSoFar


class EpisodeSummary(struct.PyTreeNode):
    """Sums over finished episodes; add two with `+`."""

    count: jax.Array  # [] int32, finished episodes
    return_sum: jax.Array  # [] float32 ([N])
    length_sum: jax.Array  # [] int32

    def __add__(self, other: "EpisodeSummary") -> "EpisodeSummary":
        """The sums over the episodes of both."""
        return jax.tree.map(jnp.add, self, other)

    def means(self) -> dict[str, float | None]:
        """Mean return and length over the finished episodes, None if there are none (host side)."""
        count = int(self.count)
        if count == 0:
            return {"episodes": 0, "return": None, "length": None}
        mean_return = float(np.asarray(self.return_sum, np.float64).mean()) / count
        return {"episodes": count, "return": mean_return, "length": int(self.length_sum) / count}


def summarize(info: Info, where: jax.Array | bool = True) -> EpisodeSummary:
    """Sums up the episodes that ended in a batch of steps.

    >>> import jax, jax.numpy as jnp, jaxenv
    >>> from jaxenv.wrappers.episode_statistics import EpisodeSoFar
    >>> totals = EpisodeSoFar(episode_return=jnp.array([4.0, 1.5, 2.0]), length=jnp.array([6, 2, 3]))
    >>> info = {"terminated": jnp.array([True, False, False]), "truncated": jnp.array([False, False, True])}
    >>> jaxenv.wrappers.summarize({**info, "episode": totals}).means()
    {'episodes': 2, 'return': 3.0, 'length': 4.5}

    Args:
        info: from `step` of `EpisodeStatistics`, with any leading axes.
        where: [...] bool, which environments to count.
    """
    done = (info["terminated"] | info["truncated"]) & where
    episode = info["episode"]
    axes = tuple(range(done.ndim))
    finished = done.reshape(done.shape + (1,) * (episode.episode_return.ndim - done.ndim))
    return EpisodeSummary(
        count=jnp.sum(done, dtype=jnp.int32),
        return_sum=jnp.sum(jnp.where(finished, episode.episode_return, 0.0), axis=axes),
        length_sum=jnp.sum(jnp.where(done, episode.length, 0), dtype=jnp.int32),
    )


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics(Wrapper):
    """Adds `info["episode"]`, the totals of the episode, complete at its last step; `summarize` sums them up.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.EpisodeStatistics(env)
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> *_, info = env.step(jax.random.key(1), state, 0, params)
    >>> int(info["episode"].length), float(info["episode"].episode_return)
    (1, -5.0)
    """

    def inner(self, state: StatisticsState) -> Any:
        """The wrapped environment's state, without the totals."""
        return state.env_state

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> StatisticsState:
        """The wrapped environment's first state, and totals of zero."""
        return StatisticsState(env_state=self.env.init(key, params, scenario), episode=self._empty)

    def determinize(self, key: Key, state: StatisticsState, params: Any) -> tuple[StatisticsState, Any]:
        """A world of the wrapped environment, with the same totals."""
        env_state, params = self.env.determinize(key, state.env_state, params)
        return state.replace(env_state=env_state), params

    def transition(
        self, key: Key, state: StatisticsState, action: jax.Array, params: Any
    ) -> TurnResult[StatisticsState]:
        """The wrapped environment's transition, added to the totals."""
        env_state, reward, terminated, info = self.env.transition(key, state.env_state, action, params)
        episode = state.episode.plus(reward)
        return StatisticsState(env_state, episode), reward, terminated, {**info, "episode": episode}

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: StatisticsState, action: jax.Array, params: Any
    ) -> tuple[StatisticsState, StatisticsState, jax.Array, jax.Array, jax.Array, Info]:
        """The wrapped environment's transition and reset, added to the totals or setting them to zero."""
        last, after, reward, terminated, truncated, info = self.env.transition_or_reset(
            turn_key, reset_key, state.env_state, action, params
        )
        episode = state.episode.plus(reward)
        next_episode = select(terminated | truncated, self._empty, episode)
        states = StatisticsState(last, episode), StatisticsState(after, next_episode)
        return *states, reward, terminated, truncated, {**info, "episode": episode}

    def state_space(self, params: Any = None) -> spaces.Record:
        """The wrapped environment's space, and unbounded totals."""
        most = float(jnp.finfo(jnp.float32).max)
        total = spaces.Box(-most, most, self.action_shape, jnp.float32)
        length = spaces.Box(0, 2**31 - 2, (), jnp.int32)
        episode = spaces.Record.of(EpisodeSoFar, {"episode_return": total, "length": length})
        return spaces.Record.of(StatisticsState, {"env_state": self.env.state_space(params), "episode": episode})

    @property
    def _empty(self) -> EpisodeSoFar:
        """The totals before the first step."""
        return EpisodeSoFar(jnp.zeros(self.action_shape, jnp.float32), jnp.int32(0))
