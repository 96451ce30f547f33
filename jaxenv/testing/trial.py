"""What the rules look at: an environment, its params, and a record of random play, illegal actions among it."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, spaces
from jaxenv.core.types import Key

BATCH = 8  # episodes side by side
ILLEGAL_SHARE = 0.1  # of the actions are taken without a look at the mask
PATIENCE = 1000  # steps more, if no episode has ended by then

PerturbHidden = Callable[[Key, Any, Any], tuple[Any, Any]]
"""(key, state, params) -> (state, params) that look the same to the agent and differ in what it must not see."""


class Record(struct.PyTreeNode):
    """What was played: NumPy arrays with leading axes [steps, BATCH]; [...] is [N] for N agents, else nothing."""

    key: Any  # raw data of the step's key
    state: Any  # before the step
    observation: Any  # before the step
    action: Any  # [...] int32
    mask: Any  # [..., A] bool, `env.action_mask` before the step
    accepts: Any  # [..., A] bool, not told as invalid: every action tried in the place of the one taken
    inside: Any  # name of an observed, stored or taken value -> [] bool, whether its space contains it
    unreset: Any  # (observation, state, reward, terminated, info) of `step_env`
    truncated: Any  # [] bool, `env.is_truncated` after `step_env`
    mask_after: Any  # [..., A] bool, `env.action_mask` after `step_env`
    result: Any  # the six values of `step`
    fresh: Any = None  # (observation, state) of the reset that `step` would make

    @property
    def done(self) -> Any:
        """[steps, BATCH] bool: the episode ended, by `step_env` and `is_truncated`."""
        return self.unreset[3] | self.truncated


@dataclasses.dataclass
class Trial:
    """One environment before the rules; what they share is made when the first of them asks for it."""

    env: Environment
    params: Any
    key: Key
    steps: int
    perturb_hidden: PerturbHidden | None

    @functools.cached_property
    def played(self) -> tuple[Record, Any]:
        """What `play` returns."""
        return play(self.env, self.params, self.key, self.steps)

    @property
    def record(self) -> Record:
        """Random play, compiled once, with params of its own for each episode."""
        return self.played[0]

    @functools.cached_property
    def alone(self) -> "Alone":
        """One episode by itself."""
        return Alone(self.env, self.params)


class Alone:
    """`env.step` without a batch; `traces` counts how often it was traced."""

    def __init__(self, env: Environment, params: Any) -> None:
        self.traces = 0
        self._env, self._params = env, params
        self._step = jax.jit(self._traced_step)

    def __call__(self, record: Record, step: int, episode: int, state: Any = None, action: Any = None) -> Any:
        """The six values of a step of the record, or of another state or action in its place."""
        state = jax.tree.map(lambda leaf: leaf[step, episode], record.state) if state is None else state
        action = record.action[step, episode] if action is None else action
        key = jax.random.wrap_key_data(jnp.asarray(record.key[step, episode]))
        state, action = jax.tree.map(jnp.asarray, (state, action))
        return jax.device_get(self._step(key, state, action, self._params))

    def _traced_step(self, key: Key, state: Any, action: jax.Array, params: Any) -> Any:
        self.traces += 1
        return self._env.step(key, state, action, params)


def play(env: Environment, params: Any, key: Key, steps: int) -> tuple[Record, Any]:
    """Plays `BATCH` episodes for `steps` steps, and on to the first end if there was none.

    Returns:
        (record, its first row played once more by the same program, without `fresh`).
    """
    reset = jax.jit(jax.vmap(env.reset_env))
    turn = jax.jit(jax.vmap(functools.partial(_turn, env)))
    params = jax.tree.map(lambda leaf: np.broadcast_to(jnp.asarray(leaf), (BATCH, *jnp.shape(leaf))), params)
    keys = jax.random.split(key, (1 + steps + PATIENCE, BATCH))
    halves = jax.vmap(jax.vmap(jax.random.split))(keys)  # of the key of a step: for the turn, for a reset
    dice = np.random.default_rng(np.asarray(jax.random.key_data(key)))

    observation, state = reset(keys[0], params)
    mask_shape = jax.eval_shape(jax.vmap(env.action_mask), state, params).shape
    rows, again, ended = [], None, False
    for step in range(1, len(keys)):
        taste = dice.random(mask_shape, np.float32)
        blind = dice.random(mask_shape[:-1]) < ILLEGAL_SHARE
        arguments = (keys[step], halves[step, :, 0], taste, blind, observation, state, params)
        row = turn(*arguments)
        again = jax.device_get(turn(*arguments)) if step == 1 else again
        observation, state = row.result[:2]
        ended = ended or bool(row.done.any())
        if step <= steps or ended:
            rows.append(jax.device_get(row.replace(fresh=reset(halves[step, :, 1], params))))
        if step >= steps and ended:
            break
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows), again


def action_shape(mask: Any) -> tuple[int, ...]:
    """The shape of an action, from a mask's: (N,) for N agents, else ()."""
    return mask.shape[:-1]


def _turn(
    env: Environment, key: Key, turn_key: Key, taste: Any, blind: Any, observation: Any, state: Any, params: Any
) -> Record:
    """One turn of one episode, by `step` and by `step_env` from the same state.

    Each agent does what it has most taste for ([..., A] float32) among what is legal, or if blind ([...] bool) at all.
    """
    mask = env.action_mask(state, params)
    action = jnp.argmax(jnp.where(mask | blind[..., None], taste, -1.0), axis=-1).astype(jnp.int32)
    unreset = env.step_env(turn_key, state, action, params)
    members = {
        **_inside("observation", env.observation_space(params), observation),
        **_inside("state", env.state_space(params), state),
        **_inside("action", env.action_space(params), action),
    }
    return Record(
        key=jax.random.key_data(key),
        state=state,
        observation=observation,
        action=action,
        mask=mask,
        accepts=_accepts(env, turn_key, state, action, params),
        inside=members,
        unreset=unreset,
        truncated=env.is_truncated(unreset[1], params),
        mask_after=env.action_mask(unreset[1], params),
        result=env.step(key, state, action, params),
    )


def _accepts(env: Environment, key: Key, state: Any, action: jax.Array, params: Any) -> jax.Array:
    """[..., A] bool: each action of each agent, tried while the other agents do what they did."""

    def accepted(agent: jax.Array, choice: jax.Array) -> jax.Array:
        joint = action.ravel().at[agent].set(choice).reshape(action.shape)
        info = env.transition(key, state, joint, params)[3]
        return ~jnp.ravel(info["invalid_action"])[agent]

    choices = jnp.arange(env.num_actions, dtype=jnp.int32)
    table = jax.vmap(jax.vmap(accepted, (None, 0)), (0, None))(jnp.arange(action.size), choices)
    return table.reshape(*action.shape, env.num_actions)


def _inside(name: str, space: spaces.Space, value: Any) -> dict[str, jax.Array]:
    """Dotted name -> [] bool, for every field of a record that its space contains it."""
    if not isinstance(space, spaces.Record) or not isinstance(value, space.cls):
        return {name: space.contains(value)}
    members = {}
    for field, inner in space.fields:
        members |= _inside(f"{name}.{field}", inner, getattr(value, field))
    return members
