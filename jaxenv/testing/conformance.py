"""check_environment: the contract of `jaxenv.core.Environment` as rules that fail with their name.

A batch of episodes is played once with random actions, illegal ones among them; the rules then read that record.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment, masking
from jaxenv.core.types import Key

BATCH = 8  # episodes side by side
TOLERANCE = 1e-5  # of floats, relative or absolute
ILLEGAL_SHARE = 0.1  # of the actions are drawn without looking at the mask


class ConformanceError(AssertionError):
    """A rule of the contract is broken; the message begins with the rule's name."""


class Record(struct.PyTreeNode):
    """What was played: every field with leading axes [steps, BATCH]."""

    key: Any  # the step's key
    state: Any  # before the step
    observation: Any  # before the step
    action: Any
    mask: Any  # `env.action_mask` before the step
    accepts: Any  # [steps, BATCH, A] bool: what the engine did not refuse, tried for every action
    unreset: Any  # (observation, state, reward, terminated, info) of `step_env`
    unreset_mask: Any  # `env.action_mask` after `step_env`
    truncated: Any  # `env.is_truncated` after `step_env`
    result: Any  # the six values of `step`
    fresh: Any  # (observation, state) of the reset that `step` would make


def check_environment(
    env: Environment,
    params: Any,
    *,
    key: Key | None = None,
    steps: int = 32,
    perturb_hidden: Callable[[Key, Any, Any], tuple[Any, Any]] | None = None,
) -> None:
    """Plays `env` and checks every rule of the contract.

    Args:
        env: an environment, wrapped or not.
        params: its params.
        key: of the actions and episodes; `jax.random.key(0)` if left out.
        steps: how many steps each of the eight episodes side by side takes, over several resets.
        perturb_hidden: (key, state, params) -> (state, params) that look the same to the agent; with it, the rule
            `hidden is silent` is checked too.

    Raises:
        ConformanceError: at the first rule that is broken, with its name, what was found and what was expected.
    """
    key = jax.random.key(0) if key is None else key
    play_key, hidden_key = jax.random.split(key)
    _check_value(env)
    _check_avals(env, params)
    record = jax.device_get(_play(env, params, play_key, steps))
    for rule in (
        _check_spaces,
        _check_mask,
        _check_reward,
        _check_finite,
        _check_reset,
    ):
        rule(env, params, record)
    _check_single(env, params, record)
    _check_params_are_traced(env, params, record)
    if perturb_hidden is not None:
        _check_hidden(env, params, record, hidden_key, perturb_hidden)


def _play(env: Environment, params: Any, key: Key, steps: int) -> Record:
    """Random episodes, played by `step` and by `step_env` from the same states."""

    def refused(key: Key, state: Any, action: jax.Array) -> jax.Array:
        return jnp.any(env.transition(key, state, action, params)[3]["invalid_action"])

    def one_step(carry: tuple[Any, Any], key: Key) -> tuple[tuple[Any, Any], Record]:
        observation, state = carry
        action_key, any_key, mix_key, step_key = jax.random.split(key, 4)
        mask = env.action_mask(state, params)
        legal = masking.sample_uniform(action_key, mask)
        blind = jax.random.randint(any_key, (), 0, env.num_actions, dtype=jnp.int32)
        action = jnp.where(jax.random.uniform(mix_key) < ILLEGAL_SHARE, blind, legal)
        turn_key, reset_key = jax.random.split(step_key)
        unreset = env.step_env(turn_key, state, action, params)
        result = env.step(step_key, state, action, params)
        every = jnp.arange(env.num_actions, dtype=jnp.int32)
        record = Record(
            key=jax.random.key_data(step_key),
            state=state,
            observation=observation,
            action=action,
            mask=mask,
            accepts=~jax.vmap(lambda a: refused(turn_key, state, a))(every),
            unreset=unreset,
            unreset_mask=env.action_mask(unreset[1], params),
            truncated=env.is_truncated(unreset[1], params),
            result=result,
            fresh=env.reset_env(reset_key, params),
        )
        return (result[0], result[1]), record

    @jax.jit
    def play(key: Key, params: Any) -> Record:
        reset_key, steps_key = jax.random.split(key)
        start = jax.vmap(env.reset_env, in_axes=(0, None))(jax.random.split(reset_key, BATCH), params)
        keys = jax.random.split(steps_key, (steps, BATCH))
        return jax.lax.scan(jax.vmap(one_step), start, keys)[1]

    return play(key, params)


def _check_value(env: Environment) -> None:
    value: Any = env
    if not dataclasses.is_dataclass(env):
        _fail("value", f"{type(env).__name__} is not a dataclass; an environment is a frozen one")
    twin = dataclasses.replace(value)
    if twin != env or hash(twin) != hash(env):
        _fail("value", "two environments of the same fields are not equal with the same hash; jit would compile twice")


def _check_avals(env: Environment, params: Any) -> None:
    key = jax.random.key(0)
    observation, state = jax.eval_shape(env.reset_env, key, params)
    given = jax.eval_shape(lambda: (key, params))[1]
    after = jax.eval_shape(env.step, key, state, jax.ShapeDtypeStruct((), jnp.int32), given)
    for what, first, then in (("observation", observation, after[0]), ("state", state, after[1])):
        if jax.tree.structure(first) != jax.tree.structure(then):
            _fail("avals", f"the {what} of step has another structure than that of reset")
        for path, born in jax.tree_util.tree_leaves_with_path(first):
            later = dict(jax.tree_util.tree_leaves_with_path(then))[path]
            if _aval(born) != _aval(later):
                _fail("avals", f"{what}{jax.tree_util.keystr(path)} is {_aval(born)} in reset, {_aval(later)} in step")
    if after[2].dtype != jnp.float32:
        _fail("avals", f"the reward is {after[2].dtype}, expected float32")
    for name, flag in (("terminated", after[3]), ("truncated", after[4])):
        if flag.dtype != jnp.bool_ or flag.shape != ():
            _fail("avals", f"{name} is {flag.dtype}{list(flag.shape)}, expected one bool")
    missing = {"reward_parts", "invalid_action", "terminated", "truncated", "final_observation"} - set(after[5])
    if missing:
        _fail("info", f"info has no {', '.join(sorted(missing))}")


def _check_spaces(env: Environment, params: Any, record: Record) -> None:
    for name, space, value in (
        ("observation_space", env.observation_space(params), record.observation),
        ("state_space", env.state_space(params), record.state),
        ("action_space", env.action_space(params), record.action),
    ):
        contains = jax.jit(jax.vmap(jax.vmap(space.contains)))(value)
        if not np.all(contains):
            step, index = np.argwhere(~np.asarray(contains))[0]
            _fail("spaces", f"{name} does not contain what came out at step {step} of episode {index}")


def _check_mask(env: Environment, params: Any, record: Record) -> None:
    seen = np.asarray(record.observation.action_mask)
    if not np.array_equal(seen, record.mask):
        _fail("mask", "observation.action_mask is not env.action_mask(state, params)")
    if not record.mask.any(axis=-1).all():
        _fail("mask", "a live state has no legal action")
    wrong = np.argwhere(record.mask != record.accepts)
    if wrong.size:
        step, index, action = wrong[0]
        claim = "legal" if record.mask[step, index, action] else "illegal"
        _fail("mask", f"action {action} is {claim} by the mask and the engine disagrees (step {step})")
    ended = record.unreset[3] | record.truncated
    if not record.unreset_mask[ended].all():
        _fail("mask", "after the end the mask is not all True")


def _check_reward(env: Environment, params: Any, record: Record) -> None:
    parts = [np.asarray(part, np.float64) for part in jax.tree.leaves(record.unreset[4]["reward_parts"])]
    _require_close("reward parts", "the sum of info['reward_parts']", sum(parts), record.unreset[2])


def _check_finite(env: Environment, params: Any, record: Record) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path((record.state, record.observation, record.result)):
        if np.issubdtype(leaf.dtype, np.floating) and not np.isfinite(leaf).all():
            _fail("finite", f"{jax.tree_util.keystr(path)} holds NaN or an infinity")


def _check_reset(env: Environment, params: Any, record: Record) -> None:
    observation, state, reward, terminated, truncated, info = record.result
    if not np.array_equal(terminated, record.unreset[3]) or not np.array_equal(truncated, record.truncated):
        _fail("ends", "step tells other ends than step_env and is_truncated")
    done = terminated | truncated
    _require_close("reward", "the reward of step", reward, record.unreset[2])
    _require_equal("final observation", info["final_observation"], record.unreset[0])

    def expected(fresh: np.ndarray, old: np.ndarray) -> np.ndarray:
        return np.where(done.reshape(done.shape + (1,) * (fresh.ndim - 2)), fresh, old)

    after = jax.tree.map(expected, record.fresh, tuple(record.unreset[:2]))
    _require_equal("automatic reset", (observation, state), after)


def _check_single(env: Environment, params: Any, record: Record) -> None:
    """One episode, stepped alone and without a batch, repeats the batch; it compiles once."""
    traces = 0

    def counted_step(key: Key, state: Any, action: jax.Array, params: Any) -> Any:
        nonlocal traces
        traces += 1
        return env.step(key, state, action, params)

    step = jax.jit(counted_step)
    length = min(len(record.action), 8)
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf[0, 0]), record.state)
    for t in range(length):
        key = jax.random.wrap_key_data(jnp.asarray(record.key[t, 0]))
        arguments = (key, state, jnp.asarray(record.action[t, 0]), params)
        result = step(*arguments)
        if t == 0:
            _require_equal("determinism", jax.device_get(step(*arguments)), jax.device_get(result), exact=True)
        batched = jax.tree.map(lambda leaf, t=t: leaf[t, 0], record.result)
        _require_equal("vmap equals a loop", jax.device_get(result), batched)
        state = result[1]
    if traces != 1:
        _fail("compiles once", f"step was traced {traces} times in {length} steps")


def _check_params_are_traced(env: Environment, params: Any, record: Record) -> None:
    """`vmap` over a stack of two params gives what one gives."""
    two = jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * 2), params)
    key = jax.random.wrap_key_data(jnp.asarray(record.key[0, 0]))
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf[0, 0]), record.state)
    action = jnp.asarray(record.action[0, 0])
    both = jax.jit(jax.vmap(env.step, in_axes=(None, None, None, 0)))(key, state, action, two)
    single = jax.tree.map(lambda leaf: leaf[0, 0], record.result)
    for i in range(2):
        one = jax.tree.map(lambda leaf, i=i: leaf[i], jax.device_get(both))
        _require_equal("params are traced", one, single)


def _check_hidden(
    env: Environment, params: Any, record: Record, key: Key, perturb: Callable[[Key, Any, Any], tuple[Any, Any]]
) -> None:
    def look(key: Key, state: Any) -> Any:
        return env.observe(*perturb(key, state, params))

    count = record.action.size
    states = jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[2:]), record.state)
    seen = jax.jit(jax.vmap(look))(jax.random.split(key, count), states)
    expected = jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[2:]), record.observation)
    _require_equal("hidden is silent", jax.device_get(seen), expected, exact=True)


def _aval(leaf: Any) -> str:
    """Shape, dtype and weak type as one word."""
    weak = " (weak)" if getattr(leaf, "weak_type", False) else ""
    return f"{leaf.dtype}{list(leaf.shape)}{weak}"


def _require_equal(rule: str, found: Any, expected: Any, exact: bool = False) -> None:
    """Integers and flags to the bit, floats to the tolerance."""
    for (path, leaf), wanted in zip(jax.tree_util.tree_leaves_with_path(found), jax.tree.leaves(expected), strict=True):
        where = jax.tree_util.keystr(path)
        if np.issubdtype(np.asarray(leaf).dtype, np.floating) and not exact:
            _require_close(rule, where, leaf, wanted)
        elif not np.array_equal(leaf, wanted):
            _fail(rule, f"{where} differs: {np.asarray(leaf).ravel()[:8]} is not {np.asarray(wanted).ravel()[:8]}")


def _require_close(rule: str, where: str, found: Any, expected: Any) -> None:
    if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE):
        worst = np.abs(np.asarray(found, np.float64) - np.asarray(expected, np.float64)).max()
        _fail(rule, f"{where} is off by up to {worst:.3g}")


def _fail(rule: str, message: str) -> None:
    raise ConformanceError(f"{rule}: {message}")
