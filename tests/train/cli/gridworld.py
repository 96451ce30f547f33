"""An environment and a network of a user's own, in a module that nothing else imports."""

import dataclasses

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, spaces

SIZE = 4
MOVES = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Params(struct.PyTreeNode):
    """The numbers of the rules."""

    cost: jax.Array  # of a step
    max_steps_in_episode: jax.Array


class Parts(struct.PyTreeNode):
    """The terms of the reward."""

    arrived: jax.Array  # [] float32
    cost: jax.Array  # [] float32


class Cell(struct.PyTreeNode):
    """Where the walker is."""

    position: jax.Array  # [2] int32
    clock: jax.Array  # [] int32


class Seen(struct.PyTreeNode):
    """What the walker sees."""

    position: jax.Array  # [2] int32
    action_mask: jax.Array  # [4] bool


@dataclasses.dataclass(frozen=True)
class Gridworld(Environment):
    """Walk from a random cell to the last one."""

    name: str = "Gridworld-v0"
    num_actions: int = 4

    @property
    def default_params(self):
        return Params(jnp.float32(0.1), jnp.int32(20))

    def init(self, key, params, scenario):
        return Cell(jax.random.randint(key, (2,), 0, SIZE), jnp.int32(0))

    def transition(self, key, state, action, params):
        position = jnp.clip(state.position + MOVES[action], 0, SIZE - 1)
        arrived = jnp.all(position == SIZE - 1)
        reward = arrived - params.cost
        parts = Parts(arrived.astype(jnp.float32), -params.cost)
        info = {"reward_parts": parts, "invalid_action": jnp.bool_(False)}
        return Cell(position, state.clock + 1), reward, arrived, info

    def observe(self, state, params):
        return Seen(state.position, self.action_mask(state, params))

    def is_truncated(self, state, params):
        return state.clock >= params.max_steps_in_episode

    def action_mask(self, state, params):
        target = state.position[None] + MOVES
        return jnp.all((target >= 0) & (target < SIZE), axis=-1)

    def observation_space(self, params=None):
        fields = {"position": spaces.Box(0, SIZE - 1, (2,), jnp.int32), "action_mask": spaces.Box(0, 1, (4,), bool)}
        return spaces.Record.of(Seen, fields)

    def state_space(self, params=None):
        fields = {"position": spaces.Box(0, SIZE - 1, (2,), jnp.int32), "clock": spaces.Box(0, 20, (), jnp.int32)}
        return spaces.Record.of(Cell, fields)

    def flatten(self, observation, params):
        return jax.nn.one_hot(observation.position, SIZE).ravel()


class Net(nn.Module):
    """Two layers for policy and value."""

    width: int = 32

    @nn.compact
    def __call__(self, features):
        hidden = nn.relu(nn.Dense(self.width)(features))
        return nn.Dense(4)(hidden), nn.Dense(1)(hidden)[..., 0]
