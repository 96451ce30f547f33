"""What the rules look at: an environment, its params, and a record of random play, illegal actions among it."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, masking, spaces
from jaxenv.core.types import ActionMask, Key

BATCH = 8  # episodes side by side
ILLEGAL_SHARE = 0.1  # of the actions are drawn without a look at the mask
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
    def done(self) -> np.ndarray:
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
    def record(self) -> Record:
        """Random play, compiled once, with params of its own for each episode."""
        return play(self.env, self.params, self.key, self.steps)

    @functools.cached_property
    def alone(self) -> "Alone":
        """One episode by itself."""
        return Alone(self.env, self.params)


class Alone:
    """`env.step` without a batch, called with a new twin of the environment each time; `traces` counts its traces."""

    def __init__(self, env: Environment, params: Any) -> None:
        self.traces = 0
        self._env, self._params = env, params
        self._step = jax.jit(self._traced_step, static_argnums=0)

    def __call__(self, record: Record, step: int, episode: int, state: Any = None, action: Any = None) -> Any:
        """The six values of a step of the record, or of another state or action in its place."""
        state = jax.tree.map(lambda leaf: leaf[step, episode], record.state) if state is None else state
        action = record.action[step, episode] if action is None else action
        key = jax.random.wrap_key_data(jnp.asarray(record.key[step, episode]))
        state, action = jax.tree.map(jnp.asarray, (state, action))
        return jax.device_get(self._step(_twin(self._env), key, state, action, self._params))

    def _traced_step(self, env: Environment, key: Key, state: Any, action: jax.Array, params: Any) -> Any:
        self.traces += 1
        return env.step(key, state, action, params)


def play(env: Environment, params: Any, key: Key, steps: int) -> Record:
    """Plays `BATCH` episodes for `steps` steps, and on to the first end if there was none."""
    reset = jax.jit(jax.vmap(env.reset_env))
    turn = jax.jit(jax.vmap(functools.partial(_turn, env)))
    params = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (BATCH, *jnp.shape(leaf))), params)

    start_key, steps_key = jax.random.split(key)
    observation, state = reset(jax.random.split(start_key, BATCH), params)
    rows, ended = [], False
    for step, step_key in enumerate(jax.random.split(steps_key, steps + PATIENCE)):
        keys = jax.random.split(step_key, BATCH)
        row = turn(keys, observation, state, params)
        observation, state = row.result[:2]
        ended = ended or bool(row.done.any())
        if step < steps or ended:
            reset_keys = jax.vmap(jax.random.split)(jax.random.wrap_key_data(row.key))[:, 1]
            rows.append(jax.device_get(row.replace(fresh=reset(reset_keys, params))))
        if step + 1 >= steps and ended:
            break
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def action_shape(mask: Any) -> tuple[int, ...]:
    """The shape of an action, from a mask's: (N,) for N agents, else ()."""
    return mask.shape[:-1]


def _turn(env: Environment, key: Key, observation: Any, state: Any, params: Any) -> Record:
    """One turn of one episode, by `step` and by `step_env` from the same state."""
    action_key, step_key = jax.random.split(key)
    turn_key, _ = jax.random.split(step_key)
    mask = env.action_mask(state, params)
    action = _draw(action_key, mask)
    unreset = env.step_env(turn_key, state, action, params)
    members = {
        **_inside("observation", env.observation_space(params), observation),
        **_inside("state", env.state_space(params), state),
        **_inside("action", env.action_space(params), action),
    }
    return Record(
        key=jax.random.key_data(step_key),
        state=state,
        observation=observation,
        action=action,
        mask=mask,
        accepts=_accepts(env, turn_key, state, action, params),
        inside=members,
        unreset=unreset,
        truncated=env.is_truncated(unreset[1], params),
        mask_after=env.action_mask(unreset[1], params),
        result=env.step(step_key, state, action, params),
    )


def _draw(key: Key, mask: ActionMask) -> jax.Array:
    """A legal action for each agent, seldom one drawn blindly: [...] int32 for a mask [..., A]."""
    legal_key, blind_key, which_key = jax.random.split(key, 3)
    rows = mask.reshape(-1, mask.shape[-1])
    legal = jax.vmap(masking.sample_uniform)(jax.random.split(legal_key, len(rows)), rows)
    blind = jax.random.randint(blind_key, legal.shape, 0, mask.shape[-1], dtype=jnp.int32)
    draw = jnp.where(jax.random.uniform(which_key, legal.shape) < ILLEGAL_SHARE, blind, legal)
    return draw.reshape(action_shape(mask))


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


def _twin(env: Any) -> Any:
    """An environment of the same fields."""
    return dataclasses.replace(env)
