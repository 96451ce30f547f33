"""Environments that are small tables, so that every answer is known and all of them share one compiled program."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, ScenarioBank

STATES, ACTIONS = 3, 3
FOREVER = 1_000_000
ONE_HOT = np.eye(STATES)


class Start(struct.PyTreeNode):
    """A scenario: where an episode starts."""

    at: jax.Array  # [] int32


class TableParams(struct.PyTreeNode):
    """A finite decision process."""

    bank: ScenarioBank  # of Start
    observations: jax.Array  # [S, F] float32
    legal: jax.Array  # [S, A] bool
    rewards: jax.Array  # [S, A] float32
    following: jax.Array  # [S, A] int32
    ends: jax.Array  # [S, A] bool
    max_steps_in_episode: jax.Array  # [] int32


class TableState(struct.PyTreeNode):
    """Where the process is."""

    scenario: jax.Array  # [] int32
    at: jax.Array  # [] int32
    clock: jax.Array  # [] int32


class TableObservation(struct.PyTreeNode):
    """A row of the table."""

    vector: jax.Array  # [F] float32
    action_mask: jax.Array  # [A] bool


@dataclasses.dataclass(frozen=True)
class Table(Environment):
    """The decision process in its params; the clock is not observed."""

    name: str = "Table-v0"
    num_actions: int = ACTIONS
    traces: ClassVar[list] = []  # of `flatten`: it grows whenever a program is traced

    @property
    def default_params(self):
        return table(rewards=1.0)

    def init(self, key, params, scenario):
        index = params.bank.sample(key) if scenario is None else jnp.asarray(scenario, jnp.int32)
        clock = jnp.where(index >= 0, 0, 1)  # of weak type, unlike later
        return TableState(scenario=index, at=params.bank[index].at, clock=clock)

    def transition(self, key, state, action, params):
        cell = (state.at, action)
        after = state.replace(at=params.following[cell], clock=state.clock + jnp.int32(1))
        return after, params.rewards[cell], params.ends[cell], {"invalid_action": ~params.legal[cell]}

    def observe(self, state, params):
        return TableObservation(params.observations[state.at], params.legal[state.at])

    def is_truncated(self, state, params):
        return state.clock >= params.max_steps_in_episode

    def action_mask(self, state, params):
        return params.legal[state.at]

    def observation_space(self, params=None):
        raise NotImplementedError

    def state_space(self, params=None):
        raise NotImplementedError

    def flatten(self, observation, params):
        self.traces.append(observation)
        return observation.vector

    def generate(self, key, difficulty):
        return Start(at=jax.random.randint(key, (), 0, STATES))


def table(
    *,
    starts=(0,),
    observations=ONE_HOT,
    legal=True,
    rewards=0.0,
    following=0,
    ends=True,
    limit=FOREVER,
) -> TableParams:
    """The params of a process; arguments broadcast to [S, A], and states without a role stay unvisited."""
    cells = (STATES, ACTIONS)

    def fill(cell, dtype):
        return jnp.asarray(np.broadcast_to(np.asarray(cell, dtype), cells))

    return TableParams(
        bank=ScenarioBank(Start(at=jnp.resize(jnp.asarray(starts, jnp.int32), 4))),
        observations=jnp.asarray(observations, jnp.float32),
        legal=fill(legal, bool),
        rewards=fill(rewards, np.float32),
        following=fill(following, np.int32),
        ends=fill(ends, bool),
        max_steps_in_episode=jnp.int32(limit),
    )


def column(values):
    """[S] -> [S, 1]: the same for every action."""
    return np.asarray(values)[:, None]


@dataclasses.dataclass(frozen=True)
class Pair(Table):
    """Two agents, each in a process of its own: agent n starts in state n; only the time limit ends an episode."""

    num_agents: int = 2

    def init(self, key, params, scenario):
        return TableState(scenario=jnp.int32(0), at=jnp.arange(2, dtype=jnp.int32), clock=jnp.int32(0))

    def transition(self, key, state, action, params):
        cells = (state.at, action)
        after = state.replace(at=params.following[cells], clock=state.clock + jnp.int32(1))
        return after, params.rewards[cells], jnp.bool_(False), {"invalid_action": ~params.legal[cells]}
