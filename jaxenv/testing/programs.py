"""Rules about the program: values, traces, shapes and dtypes, the same bits again."""

import dataclasses
import re
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.testing.rule import Broken, aval, require_equal, rule
from jaxenv.testing.run import CheckRun

ALWAYS_IN_INFO = ("reward_parts", "invalid_action", "terminated", "truncated", "final_observation")
TRACING_ERRORS = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError)
NUMBERS = (bool, int, float, np.ndarray, np.generic, jax.Array)


@rule(
    mistake="a list or an array is a field, or eq=False makes jit compile again for every instance",
    is_precondition=True,
)
def value(run: CheckRun) -> None:
    """An environment is a frozen dataclass, equal and hashable by its fields."""
    env: Any = run.env
    name = type(env).__name__
    if not dataclasses.is_dataclass(env) or not type(env).__dataclass_params__.frozen:  # pyright: ignore
        raise Broken(f"{name} is not a frozen dataclass")
    twin: Any = dataclasses.replace(env)  # pyright: ignore
    try:
        same_hash = hash(twin) == hash(env)
    except TypeError as error:
        raise Broken(f"hash of {name} fails: {error}") from error
    if twin != env or not same_hash:
        raise Broken(f"two {name} of the same fields differ in {'hash' if twin == env else '=='}")


@rule(
    mistake="a field is pytree_node=False, or `if`, `int` or `range` is applied to a number of params",
    is_precondition=True,
)
def params_are_traced(run: CheckRun) -> None:
    """Every number of params is a traced leaf."""
    for name in _static_numbers(run.params, "params"):
        raise Broken(f"{name} is a static field")
    error = _tracing_error(run, run.params)
    if error and not _tracing_error(run):  # otherwise params are not the cause: see the rule `jit`
        raise Broken(f"a number of params is used as a Python value {_where(error)}")


@rule(
    mistake="a Python `if` or a NumPy function is applied to a traced array: use jnp.where and jnp",
    is_precondition=True,
)
def jit(run: CheckRun) -> None:
    """Reset and step can be traced."""
    error = _tracing_error(run, run.params)
    if error:
        raise Broken(f"a traced array is used as a Python value {_where(error)}: {str(error).splitlines()[0]}")


@rule(mistake="a Python number gives an array of weak type or another dtype: write jnp.int32(0)", is_precondition=True)
def avals(run: CheckRun) -> None:
    """Reset and step give the same shapes, dtypes and weak types, so that a scan can carry them."""
    first, mask, action = _abstract_reset(run)
    unreset = jax.eval_shape(run.env.step_env, run.key, first[1], action, run.params)
    _same_avals("step_env", first, unreset)  # before `step`, which may remove a weak type and hide its source
    after = _abstract_step(run)
    _same_avals("step", first, after)
    expected = {
        "the reward": (after[2], jnp.float32, action.shape),
        "terminated": (after[3], bool, ()),
        "truncated": (after[4], bool, ()),
        "the mask": (mask, bool, (*action.shape, run.env.num_actions)),
    }
    for name, (leaf, dtype, shape) in expected.items():
        wanted = aval(jax.ShapeDtypeStruct(shape, dtype))
        if aval(leaf) != wanted:
            raise Broken(f"{name} is {aval(leaf)}, expected {wanted}")


@rule(
    mistake="transition returns an info without reward_parts (float32 terms that sum to the reward) or invalid_action "
    "([] bool, [N] for N agents); step adds the others, unless it is overridden"
)
def info(run: CheckRun) -> None:
    """Info has reward_parts, invalid_action, terminated, truncated and final_observation."""
    (observation, _), _, action = _abstract_reset(run)
    step_info = _abstract_step(run)[5]
    missing = [name for name in ALWAYS_IN_INFO if name not in step_info]
    if missing:
        raise Broken(f"info has no {', '.join(missing)}")
    flag = aval(jax.ShapeDtypeStruct(action.shape, bool))
    found = aval(step_info["invalid_action"])
    if found != flag:
        raise Broken(f"info['invalid_action'] is {found}, expected {flag}, a flag for each action")
    if jax.tree.map(aval, step_info["final_observation"]) != jax.tree.map(aval, observation):
        raise Broken("info['final_observation'] differs from the observation in structure, shapes or dtypes")
    if not jax.tree.leaves(step_info["reward_parts"]):
        raise Broken("info['reward_parts'] is empty")


@rule(mistake="Python's or NumPy's random numbers, a clock or a global counter become constants while tracing")
def determinism(run: CheckRun) -> None:
    """The same arguments give the same bits."""
    (first, constants), (second, others) = _program(run), _program(run)
    for one, other in zip(first.splitlines(), second.splitlines(), strict=False):
        if one != other:
            raise Broken(f"traced twice, the program differs: `{one.strip()[:100]}` became `{other.strip()[:100]}`")
    if len(first) != len(second) or not all(map(np.array_equal, constants, others)):
        raise Broken("traced twice, the program has different constants")
    rollout, again = run.rollouts
    row = jax.tree.map(lambda leaf: leaf[0], rollout.replace(reset=None))
    for name in ("step", "step_env", "mask_after", "is_truncated"):
        found, expected = getattr(again, name), getattr(row, name)
        require_equal(f"{name}, called again with the same arguments,", found, expected, where="at step 0", exact=True)


def _tracing_error(run: CheckRun, *traced: Any) -> Exception | None:
    """The error, if any, of tracing the methods that an environment defines; params are tracers where given."""
    env = run.env

    def first_step(key: Any, params: Any = run.params) -> Any:
        _, state = env.reset_env(key, params)
        action = jnp.zeros(env.action_mask(state, params).shape[:-1], jnp.int32)
        after = env.step_env(key, state, action, params)
        return after, env.is_truncated(after[1], params)

    try:
        jax.eval_shape(first_step, run.key, *traced)
    except TRACING_ERRORS as error:
        return error
    return None


def _abstract_reset(run: CheckRun) -> tuple[Any, Any, Any]:
    """Shapes and dtypes of (the results of `reset`, the mask, an action)."""
    first = jax.eval_shape(run.env.reset_env, run.key, run.params)
    mask = jax.eval_shape(run.env.action_mask, first[1], run.params)
    return first, mask, jax.ShapeDtypeStruct(mask.shape[:-1], jnp.int32)


def _abstract_step(run: CheckRun) -> Any:
    """Shapes and dtypes of the six values of a first step."""
    (_, state), _, action = _abstract_reset(run)
    return jax.eval_shape(run.env.step, run.key, state, action, run.params)


def _same_avals(step: str, first: Any, after: Any) -> None:
    """Requires observation and state to be alike after `reset` and after `step`."""
    for what, before, later in zip(("observation", "state"), first, after[:2], strict=True):
        if jax.tree.structure(before) != jax.tree.structure(later):
            raise Broken(f"the {what} of {step} and that of reset differ in structure")
        leaves = zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(later), strict=True)
        for (path, one), other in leaves:
            if aval(one) != aval(other):
                raise Broken(f"{what}{jax.tree_util.keystr(path)} is {aval(one)} in reset and {aval(other)} in {step}")


def _program(run: CheckRun) -> tuple[str, list[Any]]:
    """(text, constants) of reset and step, traced again; the text leaves out the addresses of functions."""
    env = run.env

    def whole(key: Any, state: Any, action: Any, params: Any) -> Any:
        after = env.step_env(key, state, action, params)
        return env.reset_env(key, params), after, env.is_truncated(state, params), env.action_mask(state, params)

    (_, state), _, action = _abstract_reset(run)
    traced = jax.make_jaxpr(whole)(run.key, state, action, run.params)
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
    """The last line outside JAX in the traceback of an error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/jax/" not in frame.filename]
    return f"in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}"
