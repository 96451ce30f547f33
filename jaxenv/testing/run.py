"""Inputs that the rules share: an environment, its params, and a rollout of random actions, illegal ones included."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, spaces
from jaxenv.core.types import Info, Key

BATCH = 8  # episodes side by side
ILLEGAL_SHARE = 0.1  # of the actions ignore the mask
PATIENCE = 1000  # further steps to wait for an episode to end

PerturbHidden = Callable[[Key, Any, Any], tuple[Any, Any]]
"""(key, state, params) -> (state, params) that look the same to the agent and differ in hidden parts."""


class Rollout(struct.PyTreeNode):
    """Random play: NumPy arrays with leading axes [steps, BATCH]; `...` is N for N agents, else nothing."""

    key: Any  # raw data of the step's key
    state: Any  # before the step
    observation: Any  # before the step
    action: Any  # [...] int32
    mask: Any  # [..., A] bool, `env.action_mask` before the step
    accepted: Any  # [..., A] bool, whether the transition accepts each action in place of the one taken; None: no flag
    contained: Any  # name of an observed, stored or taken value -> [] bool, whether its space contains it
    step_env: Any  # (observation, state, reward, terminated, info)
    is_truncated: Any  # [] bool, after `step_env`
    mask_after: Any  # [..., A] bool, `env.action_mask` after `step_env`
    step: Any  # (observation, state, reward, terminated, truncated, info)
    reset: Any = None  # (observation, state) of the reset that `step` would make

    @property
    def done(self) -> Any:
        """[steps, BATCH] bool: the episode ended, by `step_env` and `is_truncated`."""
        return self.step_env[3] | self.is_truncated


@dataclasses.dataclass
class CheckRun:
    """One run of the check; shared values are computed when the first rule needs them."""

    env: Environment
    params: Any
    key: Key
    steps: int
    perturb_hidden: PerturbHidden | None
    traces: int = 0  # how often `single_step` was traced

    @functools.cached_property
    def rollouts(self) -> tuple[Rollout, Any]:
        """The rollout, and its first row computed again by the same program."""
        return roll_out(self.env, self.params, self.key, self.steps)

    @property
    def rollout(self) -> Rollout:
        """Random play, compiled once, with separate params for each episode."""
        return self.rollouts[0]

    def single_step(self, step: int, episode: int, state: Any = None, action: Any = None) -> Any:
        """The six values of one step of the rollout without a batch, or of another state or action in its place."""
        rollout = self.rollout
        state = jax.tree.map(lambda leaf: leaf[step, episode], rollout.state) if state is None else state
        action = rollout.action[step, episode] if action is None else action
        key = jax.random.wrap_key_data(jnp.asarray(rollout.key[step, episode]))
        state, action = jax.tree.map(jnp.asarray, (state, action))
        return jax.device_get(self._step(key, state, action, self.params))

    @functools.cached_property
    def _step(self) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            self.traces += 1
            return self.env.step(*arguments)

        return jax.jit(step)


def roll_out(env: Environment, params: Any, key: Key, steps: int) -> tuple[Rollout, Any]:
    """Plays `BATCH` episodes for `steps` steps, and on until the first one ends if none has.

    Returns:
        (rollout, its first row computed again by the same program, without `reset`).
    """
    reset = jax.jit(jax.vmap(env.reset_env))
    step_both_ways = jax.jit(jax.vmap(functools.partial(_step_both_ways, env)))
    params = jax.tree.map(lambda leaf: np.broadcast_to(jnp.asarray(leaf), (BATCH, *jnp.shape(leaf))), params)
    keys = jax.random.split(key, (1 + steps + PATIENCE, BATCH))
    halves = jax.vmap(jax.vmap(jax.random.split))(keys)  # of each step's key: for the transition, for the reset
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))

    observation, state = reset(keys[0], params)
    mask_shape = jax.eval_shape(jax.vmap(env.action_mask), state, params).shape
    rows, again, ended = [], None, False
    for step in range(1, len(keys)):
        scores = rng.random(mask_shape, np.float32)
        ignores_mask = rng.random(mask_shape[:-1]) < ILLEGAL_SHARE
        arguments = (keys[step], halves[step, :, 0], scores, ignores_mask, observation, state, params)
        row = step_both_ways(*arguments)
        again = jax.device_get(step_both_ways(*arguments)) if step == 1 else again
        observation, state = row.step[:2]
        ended = ended or bool(row.done.any())
        if step <= steps or ended:
            rows.append(jax.device_get(row.replace(reset=reset(halves[step, :, 1], params))))
        if step >= steps and ended:
            break
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows), again


def _step_both_ways(
    env: Environment, key: Key, turn_key: Key, scores: Any, ignores_mask: Any, observation: Any, state: Any, params: Any
) -> Rollout:
    """One step of one episode, by `step` and by `step_env` from the same state.

    Each agent takes the action of the highest score ([..., A] float32) among the legal ones, or among all where
    `ignores_mask` ([...] bool) holds.
    """
    mask = env.action_mask(state, params)
    action = jnp.argmax(jnp.where(mask | ignores_mask[..., None], scores, -1.0), axis=-1).astype(jnp.int32)
    step_env = env.step_env(turn_key, state, action, params)
    leaves = [
        *spaces.leaves("observation", env.observation_space(params), observation),
        *spaces.leaves("state", env.state_space(params), state),
        *spaces.leaves("action", env.action_space(params), action),
    ]
    return Rollout(
        key=jax.random.key_data(key),
        state=state,
        observation=observation,
        action=action,
        mask=mask,
        accepted=_accepted(env, turn_key, state, action, params, step_env[4]),
        contained={name: space.contains(value) for name, space, value in leaves},
        step_env=step_env,
        is_truncated=env.is_truncated(step_env[1], params),
        mask_after=env.action_mask(step_env[1], params),
        step=env.step(key, state, action, params),
    )


def _accepted(env: Environment, key: Key, state: Any, action: jax.Array, params: Any, info: Info) -> jax.Array | None:
    """[..., A] bool: each action of each agent, tried while the other agents keep theirs.

    None where info has no flag for each action, which the rule `info` reports.
    """
    flag: Any = info.get("invalid_action")
    if getattr(flag, "shape", None) != action.shape or flag.dtype != bool:
        return None

    def accepts(agent: jax.Array, choice: jax.Array) -> jax.Array:
        joint = action.ravel().at[agent].set(choice).reshape(action.shape)
        info = env.transition(key, state, joint, params)[3]
        return ~jnp.ravel(info["invalid_action"])[agent]

    choices = jnp.arange(env.num_actions, dtype=jnp.int32)
    table = jax.vmap(jax.vmap(accepts, (None, 0)), (0, None))(jnp.arange(action.size), choices)
    return table.reshape(*action.shape, env.num_actions)
