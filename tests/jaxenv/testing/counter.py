"""A minimal correct environment: count up or down to a number that the agent does not see."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, ScenarioBank, spaces

TOP = 4
STEPS = jnp.array([0, 1, -1, 2], jnp.int32)  # of the actions


class Target(struct.PyTreeNode):
    """A scenario."""

    target: jax.Array  # [] int32, 1..TOP, hidden


class Parts(struct.PyTreeNode):
    """The terms of the reward, each [] float32."""

    step: jax.Array
    met: jax.Array
    invalid_action: jax.Array


class Params(struct.PyTreeNode):
    """The params of the counter."""

    bank: ScenarioBank  # of Target
    max_steps_in_episode: Any  # [] int32
    step_penalty: Any  # [] float32


class State(struct.PyTreeNode):
    """The count."""

    scenario: jax.Array  # [] int32
    at: jax.Array  # [] int32, 0..TOP
    clock: jax.Array  # [] int32
    met: jax.Array  # [] bool


class Observation(struct.PyTreeNode):
    """Everything but the target."""

    at: jax.Array  # [] int32
    share: jax.Array  # [] float32, of the steps left
    action_mask: jax.Array  # [A] bool


@dataclasses.dataclass(frozen=True)
class Counter(Environment):
    """Split into methods, so that each broken counter overrides one."""

    name: str = "Counter-v0"
    num_actions: int = 4

    @property
    def default_params(self):
        bank = ScenarioBank(Target(target=jnp.arange(1, TOP + 1, dtype=jnp.int32)))
        return Params(bank=bank, max_steps_in_episode=jnp.int32(7), step_penalty=jnp.float32(-0.1))

    def init(self, key, params, scenario):
        index = params.bank.sample(key) if scenario is None else jnp.asarray(scenario, jnp.int32)
        return State(scenario=index, at=jnp.int32(0), clock=jnp.int32(0), met=jnp.bool_(False))

    def transition(self, key, state, action, params):
        legal = self.legal(state, params)[action]
        after = self.play(key, state, action, legal, params)
        parts = Parts(
            step=jnp.asarray(params.step_penalty, jnp.float32),
            met=after.met.astype(jnp.float32),
            invalid_action=jnp.where(legal, 0.0, -0.5).astype(jnp.float32),
        )
        info = {"reward_parts": parts, "invalid_action": ~legal}
        return after, self.reward(key, parts, after), after.met, info

    def play(self, key, state, action, legal, params):
        at = state.at + jnp.where(legal, STEPS[action], 0)
        met = at == params.bank[state.scenario].target
        return state.replace(at=at, clock=state.clock + 1, met=met)

    def reward(self, key, parts, after):
        return parts.step + parts.met + parts.invalid_action

    def legal(self, state, params):
        to = state.at + STEPS
        return ((to >= 0) & (to <= TOP)) | state.met | self.is_truncated(state, params)

    def observe(self, state, params):
        left = jnp.maximum(params.max_steps_in_episode - state.clock, 0)
        share = left / params.max_steps_in_episode
        return Observation(at=state.at, share=share, action_mask=self.action_mask(state, params))

    def flatten(self, observation, params):
        return jnp.stack([observation.at.astype(jnp.float32), observation.share], axis=-1)

    def is_truncated(self, state, params):
        return state.clock >= params.max_steps_in_episode

    def action_mask(self, state, params):
        return self.legal(state, params)

    def observation_space(self, params=None):
        return spaces.Record.of(
            Observation,
            {
                "at": spaces.Box(0, TOP, (), jnp.int32),
                "share": spaces.Box(0, 1, ()),
                "action_mask": spaces.Box(0, 1, (self.num_actions,), bool),
            },
        )

    def state_space(self, params=None):
        counts = {"scenario": TOP - 1, "at": TOP, "clock": 100}
        boxes = {name: spaces.Box(0, most, (), jnp.int32) for name, most in counts.items()}
        return spaces.Record.of(State, {**boxes, "met": spaces.Box(0, 1, (), bool)})


def dear_counter():
    """(environment, params): every step costs twice as much."""
    env = Counter()
    params = env.default_params
    return env, params.replace(step_penalty=2 * params.step_penalty)


class Warns(Counter):
    """A counter that warns about its params."""

    def warnings(self, params):
        return (f"a step costs {params.step_penalty}",)


def scramble_targets(key, state, params):
    """Draws again what the agent does not see: every target."""
    targets = jax.random.randint(key, (TOP,), 1, TOP + 1, jnp.int32)
    return state, params.replace(bank=ScenarioBank(Target(target=targets)))


@dataclasses.dataclass(frozen=True)
class Counters(Environment):
    """N counters with one clock and a shared end: observations, masks, actions and rewards have a leading axis N."""

    name: str = "Counters-v0"
    num_agents: int = 2
    one: Counter = Counter()

    @property
    def num_actions(self):
        return self.one.num_actions

    @property
    def default_params(self):
        return self.one.default_params

    def init(self, key, params, scenario):
        keys = jax.random.split(key, self.num_agents)
        return jax.vmap(lambda key: self.one.init(key, params, scenario))(keys)

    def transition(self, key, state, action, params):
        keys = jax.random.split(key, self.num_agents)
        transition = jax.vmap(self.one.transition, in_axes=(0, 0, 0, None))
        state, reward, met, info = transition(keys, state, action, params)
        return state, reward, met.any(), info

    def observe(self, state, params):
        observation = jax.vmap(self.one.observe, in_axes=(0, None))(state, params)
        return observation.replace(action_mask=self.action_mask(state, params))

    def flatten(self, observation, params):
        return self.one.flatten(observation, params)

    def is_truncated(self, state, params):
        return self.one.is_truncated(state, params).any()

    def action_mask(self, state, params):
        return jax.vmap(self.one.action_mask, in_axes=(0, None))(state, params) | state.met.any()

    def observation_space(self, params=None):
        return _stacked(self.one.observation_space(params), self.num_agents)

    def state_space(self, params=None):
        return _stacked(self.one.state_space(params), self.num_agents)


def _stacked(record, count):
    """The space of `count` records, stacked."""
    boxes = {name: dataclasses.replace(box, shape=(count, *box.shape)) for name, box in record.fields}
    return spaces.Record.of(record.cls, boxes)
