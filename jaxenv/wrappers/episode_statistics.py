"""Return and length of each episode, and their sums over a batch with the count of what was summed."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import spaces
from jaxenv.core.environment import select
from jaxenv.core.types import Info, Key
from jaxenv.wrappers.wrapper import Wrapper


class Episode(struct.PyTreeNode):
    """An episode so far."""

    episode_return: jax.Array  # [] float32 ([N] for N agents), undiscounted
    length: jax.Array  # [] int32, steps

    def plus(self, reward: jax.Array) -> "Episode":
        """The episode after one more step."""
        return Episode(self.episode_return + reward, self.length + 1)


class StatisticsState(struct.PyTreeNode):
    """The wrapped state and the episode so far."""

    env_state: Any
    episode: Episode


class EpisodeSummary(struct.PyTreeNode):
    """Sums over finished episodes; add two with `+`."""

    count: jax.Array  # [] int32, finished episodes
    return_sum: jax.Array  # [] float32 ([N])
    length_sum: jax.Array  # [] int32

    def __add__(self, other: "EpisodeSummary") -> "EpisodeSummary":
        """The summary of both."""
        return jax.tree.map(jnp.add, self, other)

    def means(self) -> dict[str, float | None]:
        """Host side: mean return and length over the finished episodes, None where none has finished."""
        count = int(self.count)
        if count == 0:
            return {"episodes": 0, "return": None, "length": None}
        mean_return = float(np.asarray(self.return_sum, np.float64).mean()) / count
        return {"episodes": count, "return": mean_return, "length": int(self.length_sum) / count}


def summarize(info: Info, where: jax.Array | bool = True) -> EpisodeSummary:
    """The episodes that ended in a batch of steps.

    Args:
        info: `step`'s, with any leading axes.
        where: [...] bool, which episodes to count.
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
    """Adds `info["episode"]` (an `Episode`), complete at the step that tells an end; sum it with `summarize`."""

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> StatisticsState:
        """The first state of an episode of which nothing is counted yet."""
        return StatisticsState(env_state=self.env.init(key, params, scenario), episode=self._empty)

    def transition(
        self, key: Key, state: StatisticsState, action: jax.Array, params: Any
    ) -> tuple[StatisticsState, jax.Array, jax.Array, Info]:
        """The wrapped turn, counted."""
        env_state, reward, terminated, info = self.env.transition(key, state.env_state, action, params)
        episode = state.episode.plus(reward)
        return StatisticsState(env_state, episode), reward, terminated, {**info, "episode": episode}

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: StatisticsState, action: jax.Array, params: Any
    ) -> tuple[StatisticsState, StatisticsState, jax.Array, jax.Array, jax.Array, Info]:
        """The wrapped turn and reset, counted."""
        last, after, reward, terminated, truncated, info = self.env.transition_or_reset(
            turn_key, reset_key, state.env_state, action, params
        )
        episode = state.episode.plus(reward)
        next_episode = select(terminated | truncated, self._empty, episode)
        states = StatisticsState(last, episode), StatisticsState(after, next_episode)
        return *states, reward, terminated, truncated, {**info, "episode": episode}

    def observe(self, state: StatisticsState, params: Any) -> Any:
        """The wrapped observation."""
        return self.env.observe(state.env_state, params)

    def is_truncated(self, state: StatisticsState, params: Any) -> jax.Array:
        """The wrapped time limit."""
        return self.env.is_truncated(state.env_state, params)

    def action_mask(self, state: StatisticsState, params: Any) -> jax.Array:
        """The wrapped legal actions."""
        return self.env.action_mask(state.env_state, params)

    def scenario_index(self, state: StatisticsState) -> jax.Array:
        """The scenario of the wrapped state."""
        return self.env.scenario_index(state.env_state)

    def state_space(self, params: Any = None) -> spaces.Record:
        """The wrapped space, and numbers without bounds."""
        most = float(jnp.finfo(jnp.float32).max)
        episode = {
            "episode_return": spaces.Box(-most, most, self._agents, jnp.float32),
            "length": spaces.Box(0, 2**31 - 2, (), jnp.int32),
        }
        return spaces.Record.of(
            StatisticsState,
            {"env_state": self.env.state_space(params), "episode": spaces.Record.of(Episode, episode)},
        )

    @property
    def _empty(self) -> Episode:
        """An episode before its first step."""
        return Episode(jnp.zeros(self._agents, jnp.float32), jnp.int32(0))

    @property
    def _agents(self) -> tuple[int, ...]:
        """The shape of a reward."""
        return (self.num_agents,) if self.num_agents > 1 else ()
