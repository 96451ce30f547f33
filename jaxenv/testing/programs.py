"""Rules about the program, for which nothing is played: values, traces, shapes and dtypes."""

import dataclasses
import re
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.testing.trial import Trial, action_shape
from jaxenv.testing.verdict import aval, broken

ALWAYS_IN_INFO = ("reward_parts", "invalid_action", "terminated", "truncated", "final_observation")
TRACING_ERRORS = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError)
NUMBERS = (bool, int, float, np.ndarray, np.generic, jax.Array)


def value(trial: Trial) -> None:
    """A frozen dataclass whose twin is equal with the same hash."""
    env: Any = trial.env
    name = type(env).__name__
    if not dataclasses.is_dataclass(env) or not type(env).__dataclass_params__.frozen:  # pyright: ignore
        broken(f"{name} is not a frozen dataclass")
    twin: Any = dataclasses.replace(env)  # pyright: ignore
    try:
        same_hash = hash(twin) == hash(env)
    except TypeError as error:
        broken(f"hash of {name} fails: {error}")
    if twin != env or not same_hash:
        broken(f"two {name} of the same fields differ in {'hash' if twin == env else '=='}")


def params_are_traced(trial: Trial) -> None:
    """No number of params is a static field, and none is taken as a Python value."""
    for name in _static_numbers(trial.params, "params"):
        broken(f"{name} is a static field")
    try:
        _abstract_turn(trial, traced_params=True)
    except TRACING_ERRORS as error:
        try:
            _abstract_turn(trial, traced_params=False)
        except TRACING_ERRORS:
            return  # not because of params: the rule `jit` tells it
        broken(f"a number of params is taken as a Python value {_where(error)}")


def jit(trial: Trial) -> None:
    """Everything can be traced."""
    try:
        _abstract_turn(trial, traced_params=True)
    except TRACING_ERRORS as error:
        broken(f"a traced array is taken as a Python value {_where(error)}: {str(error).splitlines()[0]}")


def avals(trial: Trial) -> None:
    """Reset and step give the same structures, shapes, dtypes and weak types."""
    first, mask, action = _abstract_reset(trial)
    unreset = jax.eval_shape(trial.env.step_env, trial.key, first[1], action, trial.params)
    _same_avals("step_env", first, unreset)  # before `step`, which may heal a weak type and hide where it came from
    after = _abstract_step(trial)
    _same_avals("step", first, after)
    expected = {
        "the reward": (after[2], jnp.float32, action.shape),
        "terminated": (after[3], bool, ()),
        "truncated": (after[4], bool, ()),
        "the mask": (mask, bool, (*action.shape, trial.env.num_actions)),
    }
    for name, (leaf, dtype, shape) in expected.items():
        wanted = aval(jax.ShapeDtypeStruct(shape, dtype))
        if aval(leaf) != wanted:
            broken(f"{name} is {aval(leaf)} and not {wanted}")


def info(trial: Trial) -> None:
    """The five names that every step tells, of the right kind."""
    (observation, _), _, action = _abstract_reset(trial)
    told = _abstract_step(trial)[5]
    missing = [name for name in ALWAYS_IN_INFO if name not in told]
    if missing:
        broken(f"info has no {', '.join(missing)}")
    flag = aval(jax.ShapeDtypeStruct(action.shape, bool))
    if aval(told["invalid_action"]) != flag:
        broken(f"info['invalid_action'] is {aval(told['invalid_action'])} and not {flag}, one flag an action")
    if jax.tree.map(aval, told["final_observation"]) != jax.tree.map(aval, observation):
        broken("info['final_observation'] is not of the observation's structure, shapes and dtypes")
    if not jax.tree.leaves(told["reward_parts"]):
        broken("info['reward_parts'] names no part")


def same_program(trial: Trial) -> None:
    """Traced twice, reset and step are the same program."""
    (first, constants), (second, others) = _program(trial), _program(trial)
    for one, other in zip(first.splitlines(), second.splitlines(), strict=False):
        if one != other:
            broken(f"traced twice, the program differs: `{one.strip()[:100]}` became `{other.strip()[:100]}`")
    if len(first) != len(second) or not all(map(np.array_equal, constants, others)):
        broken("traced twice, the program has other constants")


def _abstract_turn(trial: Trial, traced_params: bool) -> None:
    """Traces what an environment writes, with params as tracers or as they are."""
    env = trial.env

    def turn(key: Any, params: Any) -> Any:
        _, state = env.reset_env(key, params)
        action = jnp.zeros(action_shape(env.action_mask(state, params)), jnp.int32)
        after = env.step_env(key, state, action, params)
        return after, env.is_truncated(after[1], params)

    if traced_params:
        jax.eval_shape(turn, trial.key, trial.params)
    else:
        jax.eval_shape(lambda key: turn(key, trial.params), trial.key)


def _abstract_reset(trial: Trial) -> tuple[Any, Any, Any]:
    """Shapes and dtypes of (what `reset` returns, the mask, an action)."""
    first = jax.eval_shape(trial.env.reset_env, trial.key, trial.params)
    mask = jax.eval_shape(trial.env.action_mask, first[1], trial.params)
    return first, mask, jax.ShapeDtypeStruct(action_shape(mask), jnp.int32)


def _abstract_step(trial: Trial) -> Any:
    """Shapes and dtypes of the six values of a first step."""
    (_, state), _, action = _abstract_reset(trial)
    return jax.eval_shape(trial.env.step, trial.key, state, action, trial.params)


def _same_avals(step: str, first: Any, after: Any) -> None:
    """Observation and state are of one kind after `reset` and after `step`."""
    for what, born, later in zip(("observation", "state"), first, after[:2], strict=True):
        if jax.tree.structure(born) != jax.tree.structure(later):
            broken(f"the {what} of {step} has another structure than that of reset")
        leaves = zip(jax.tree_util.tree_leaves_with_path(born), jax.tree.leaves(later), strict=True)
        for (path, one), other in leaves:
            if aval(one) != aval(other):
                broken(f"{what}{jax.tree_util.keystr(path)} is {aval(one)} in reset and {aval(other)} in {step}")


def _program(trial: Trial) -> tuple[str, list[Any]]:
    """(text, constants) of reset and step, traced anew; addresses of functions are left out of the text."""
    env = trial.env

    def whole(key: Any, state: Any, action: Any, params: Any) -> Any:
        after = env.step_env(key, state, action, params)
        return env.reset_env(key, params), after, env.is_truncated(state, params), env.action_mask(state, params)

    (_, state), _, action = _abstract_reset(trial)
    traced = jax.make_jaxpr(whole)(trial.key, state, action, trial.params)
    return re.sub(r"0x[0-9a-f]+", "", str(traced.jaxpr)), traced.consts


def _static_numbers(tree: Any, name: str) -> Iterator[str]:
    """Dotted names of the numbers that a pytree of records holds as static fields."""
    if isinstance(tree, Mapping):
        for key, branch in tree.items():
            yield from _static_numbers(branch, f"{name}[{key!r}]")
    elif dataclasses.is_dataclass(tree):
        for field in dataclasses.fields(tree):
            branch, inner = getattr(tree, field.name), f"{name}.{field.name}"
            if field.metadata.get("pytree_node", True):
                yield from _static_numbers(branch, inner)
            elif isinstance(branch, NUMBERS):
                yield inner


def _where(error: Exception) -> str:
    """The last line outside JAX that an error came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/jax/" not in frame.filename]
    return f"in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}"
