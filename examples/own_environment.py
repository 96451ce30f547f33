"""An environment of one's own, trained by `train.train`: `python examples/own_environment.py`, seconds.

docs/training.md says what the contract asks for. `jaxenv ppo --env own_environment:Gridworld` trains it too, in this
folder, and `python -m jaxenv.testing own_environment:Gridworld` says what an environment breaks of the contract.
"""

import dataclasses

import jax
import jax.numpy as jnp
from flax import struct

import jaxenv
import train

MOVES = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Params(struct.PyTreeNode):
    """Numbers that may change without a recompilation."""

    cost: float = 0.1
    max_steps_in_episode: int = 20


class Cell(struct.PyTreeNode):
    """The state."""

    at: jax.Array  # [2] int32
    clock: jax.Array  # [] int32, steps so far


class Seen(struct.PyTreeNode):
    """The observation."""

    at: jax.Array  # [2] int32
    action_mask: jax.Array  # [4] bool


@dataclasses.dataclass(frozen=True)
class Gridworld(jaxenv.Environment):
    """Four moves on a square, to its far corner; each step has a cost."""

    name: str = "Gridworld-v0"
    num_actions: int = 4
    size: int = 4

    @property
    def default_params(self):
        return Params()

    def init(self, key, params, scenario):
        return Cell(jax.random.randint(key, (2,), 0, self.size - 1), jnp.int32(0))

    def transition(self, key, state, action, params):
        at = jnp.clip(state.at + MOVES[action], 0, self.size - 1)
        arrived = self.arrived(at)
        parts = {"arrived": arrived.astype(jnp.float32), "cost": -jnp.float32(params.cost)}
        info = {"reward_parts": parts, "invalid_action": ~self.action_mask(state, params)[action]}
        return Cell(at, state.clock + 1), parts["arrived"] + parts["cost"], arrived, info

    def arrived(self, at):
        return jnp.all(at == self.size - 1)

    def observe(self, state, params):
        return Seen(state.at, self.action_mask(state, params))

    def is_truncated(self, state, params):
        return state.clock >= params.max_steps_in_episode

    def action_mask(self, state, params):
        inside = jnp.isin(state.at[None] + MOVES, jnp.arange(self.size)).all(axis=-1)
        return inside | self.arrived(state.at) | self.is_truncated(state, params)

    def observation_space(self, params=None):
        at = jaxenv.spaces.Box(0, self.size - 1, (2,), jnp.int32)
        return jaxenv.spaces.Record.of(Seen, {"at": at, "action_mask": jaxenv.spaces.Box(0, 1, (4,), bool)})

    def state_space(self, params=None):
        at = jaxenv.spaces.Box(0, self.size - 1, (2,), jnp.int32)
        return jaxenv.spaces.Record.of(Cell, {"at": at, "clock": jaxenv.spaces.Box(0, 20, (), jnp.int32)})

    def flatten(self, observation, params):
        return jax.nn.one_hot(observation.at, self.size).ravel()


def main(total_steps: int = 32_768) -> float:
    """Trains, and returns the mean return of the most probable actions; 0.6 is the best, four steps in the mean."""
    env = Gridworld()
    config = train.Config(
        env=env.name,
        total_steps=total_steps,
        rollout=train.Rollout(num_envs=64, minibatch_size=256),
        hyper=train.Hyper(learning_rate=3e-3, gamma=0.95),
        training=train.Scenarios(scenarios="library"),  # there is no generator: episodes start as `init` starts them
    )
    outcome = train.train(env, env.default_params, config, show_progress=False)
    mean_return = float(train.evaluate(outcome.policy, env, env.default_params, repetitions=100).returns.mean())
    print(f"return {mean_return:.2f}")
    return mean_return


if __name__ == "__main__":
    main()
