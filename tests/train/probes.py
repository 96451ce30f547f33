"""Environments with known answers: every probe is a small table, so that all of them share one compiled program."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, ScenarioBank, spaces
from train.settings.config import Config, Hyper, Network, Rollout, Scenarios

STATES, ACTIONS = 3, 3
FOREVER = 1_000_000
SMALL = Config(
    env="Table-v0",
    total_steps=32 * 8 * 20,
    rollout=Rollout(num_envs=32, num_steps=8, epochs=4, minibatches=4, updates_per_superstep=2),
    hyper=Hyper(learning_rate=5e-3, entropy_coef=0.01),
    network=Network(hidden=(16,)),
    training=Scenarios(scenarios="library"),  # the banks of the probes say where an episode begins
    tensorboard=False,
)
GENERATED = dataclasses.replace(SMALL, training=Scenarios())  # begins an episode anywhere
ONE_HOT = np.eye(STATES)


class Start(struct.PyTreeNode):
    """A scenario: where an episode begins."""

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
    """The process that its params tell; the clock is not observed."""

    name: str = "Table-v0"
    num_actions: int = ACTIONS
    traces: ClassVar[list] = []  # of `flatten`: it grows when a program is traced anew

    @property
    def default_params(self):
        return PROBES["one step"]

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

    def action_space(self, params=None):
        return spaces.Discrete(self.num_actions)

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
    """The params of a process; what is given broadcasts to [S, A], states without a role stay unvisited."""
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


# A chain: state 0, then 1, then 2, then the end; a reward at the end alone.
CHAIN = table(rewards=column([0, 0, 1]), following=column([1, 2, 0]), ends=column([False, False, True]))

PROBES = {
    "one step": table(rewards=1.0),
    "observation": table(starts=(0, 1), rewards=column([1, -1, 0])),
    "discounting": CHAIN,
    "action": table(rewards=[[0, 1, 0]]),
    "action x observation": table(starts=(0, 1), rewards=[[1, -1, -1], [-1, 1, -1], [0, 0, 0]]),
    "time limit": table(observations=np.ones((STATES, STATES)), rewards=1.0, ends=False, limit=5),
    "mask": table(rewards=[[0, 0.5, 1]], legal=[[True, True, False]]),
}
GAMMAS = {name: 0.5 if name == "discounting" else 0.8 for name in PROBES}

# name -> value of each state that is visited, and the best action in it where it matters.
VALUES = {
    "one step": {0: 1.0},
    "observation": {0: 1.0, 1: -1.0},
    "discounting": {0: 0.25, 1: 0.5, 2: 1.0},
    "action": {0: 1.0},
    "action x observation": {0: 1.0, 1: 1.0},
    "time limit": {0: 1.0 / (1.0 - GAMMAS["time limit"])},
    "mask": {0: 0.5},
}
BEST_ACTIONS = {"action": {0: 1}, "action x observation": {0: 0, 1: 1}, "mask": {0: 1}}
