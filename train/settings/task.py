"""The environment and params of a run: built from settings, and described by name and value.

Saved runs and policies carry the description. A run resumed with other reward weights would be another run, and a
policy for two agents does not act for four.
"""

import ast
import contextlib
import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
from jaxenv.core import Environment
from jaxenv.core.contents import require_valid
from jaxenv.host.names import did_you_mean_one_of, short
from jaxenv.registry import arguments
from train.settings.config import Config

PLAIN = (bool, int, float, str)


def make(config: Config) -> tuple[Environment, Any]:
    """The registered environment and the params that the settings describe.

    Raises:
        ValueError: for an unknown environment, argument or number, and for a field that the environment has but its
            constructor cannot set to that value.
    """
    takes, static = arguments(config.env), {}
    for name, value in config.env_args.items():
        group, _, entry = name.partition(".")
        before: Any = static.get(group, takes.get(group))
        if group in takes and not entry:
            static[group] = _checked(before, value, name)
        elif entry and hasattr(before, entry):
            static[group] = dataclasses.replace(before, **{entry: _checked(getattr(before, entry), value, name)})
    env, params = jaxenv.make(config.env, **static)
    fields = describe_arguments(env)
    for name, value in config.env_args.items():
        if name not in fields:
            raise ValueError(
                f"{config.env} takes no argument {name!r}.{did_you_mean_one_of(name, _argument_names(takes))}"
            )
        if fields[name] != value:
            raise ValueError(f"{config.env} has {name} {fields[name]} and cannot be made with {value}")
    return env, with_numbers(params, config.params)


def complete(config: Config, env: Environment, env_params: Any) -> Config:
    """The settings with `env_args` and `params` filled in from an environment and params made elsewhere."""
    return dataclasses.replace(config, **describe(env, env_params))


def describe(env: Environment, params: Any) -> dict[str, dict[str, Any]]:
    """The settings `env_args` and `params` that describe an environment and params.

    A field of the environment that only sets the default of a number of its params is listed under `params` alone. The
    bank and the data that its scenarios share are left out, since a run may use others.
    """
    arguments, numbers = describe_arguments(env), describe_params(params)
    return {"env_args": {name: value for name, value in arguments.items() if name not in numbers}, "params": numbers}


def describe_arguments(record: Any, prefix: str = "") -> dict[str, Any]:
    """Dotted name -> value of each plain field of an environment, and of its nested records without arrays."""
    plain = {}
    for field in dataclasses.fields(record):
        name, value = f"{prefix}{field.name}", getattr(record, field.name)
        if isinstance(value, PLAIN):
            plain[name] = value
        elif isinstance(value, tuple) and all(isinstance(entry, PLAIN) for entry in value):
            plain[name] = list(value)
        elif dataclasses.is_dataclass(value) and jax.tree_util.all_leaves([value]):  # no tree, such as params
            plain |= describe_arguments(value, f"{name}.")
    return plain


def describe_params(params: Any) -> dict[str, Any]:
    """Dotted name -> number, or digest of an array, for all of the params but the bank."""
    return {name: _to_json(leaf) for name, leaf in _leaves(params)}


def numbers(params: Any) -> dict[str, Any]:
    """Dotted name -> value of the scalars in params, which `with_numbers` may change."""
    return {name: value for name, value in describe_params(params).items() if not isinstance(value, str)}


def with_numbers(params: Any, changed: Mapping[str, Any]) -> Any:
    """Params with some of their numbers changed; arrays, which appear as digests, stay.

    Raises:
        ValueError: for an unknown name, a fraction where a whole number is expected, and a number that the params'
            own `validate` refuses.
    """
    if not changed:
        return params
    known = describe_params(params)
    for name, value in changed.items():
        if name not in known:
            raise ValueError(f"params have no number {name!r}.{did_you_mean_one_of(name, numbers(params))}")
        if not isinstance(known[name], str):
            _checked(known[name], value, name)
    leaves = [
        _converted(name, changed[name], leaf) if not isinstance(changed.get(name, ""), str) else leaf
        for name, leaf in _leaves(params)
    ]
    inner = jax.tree.unflatten(jax.tree.structure(_without_bank(params)), leaves)
    require_valid(inner)
    return inner.replace(bank=params.bank) if hasattr(params, "bank") else inner


def parse_arguments(words: Sequence[str]) -> dict[str, Any]:
    """The arguments in `NAME=VALUE` words of a command line, with numbers parsed; a ValueError if `=` is missing."""
    arguments = {}
    for word in words:
        name, has_value, value = word.partition("=")
        if not has_value:
            raise ValueError(f"--env-args {word}: expected NAME=VALUE, such as num_agents=2 or limits.channels=9")
        arguments[name] = value
        with contextlib.suppress(ValueError, SyntaxError):
            arguments[name] = ast.literal_eval(value)
    return arguments


def _checked(default: Any, value: Any, name: str) -> Any:
    """The value of an argument or number; a ValueError if its type differs from the default's."""
    if dataclasses.is_dataclass(default):
        raise ValueError(f"{name}={value!r}: expected one of its fields, such as {_argument_names({name: default})[0]}")
    kinds = (int, float) if isinstance(default, float) else (type(default),)
    if isinstance(default, PLAIN) and type(value) not in kinds:
        raise ValueError(f"{name}={value!r}: expected a value such as {default!r}")
    return tuple(value) if isinstance(value, list) else value


def _converted(name: str, value: Any, leaf: Any) -> jax.Array:
    """A number in the type of the one that it replaces; a ValueError if that cannot hold it."""
    dtype = jnp.asarray(leaf).dtype
    try:
        return jnp.asarray(value, dtype)
    except OverflowError:
        raise ValueError(f"{name}={short(str(value))}: expected a number that {dtype} holds") from None


def _argument_names(takes: Mapping[str, Any]) -> list[str]:
    """The arguments that an environment takes, as the command line names them."""
    return [
        f"{name}.{field.name}" if field else name
        for name, default in takes.items()
        for field in (dataclasses.fields(default) if dataclasses.is_dataclass(default) else [None])
    ]


def _without_bank(params: Any) -> Any:
    return params.replace(bank=None) if hasattr(params, "bank") else params


def _leaves(params: Any) -> list[tuple[str, Any]]:
    """(dotted name, leaf) for all of the params but the bank."""
    leaves = jax.tree_util.tree_leaves_with_path(_without_bank(params))
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def _to_json(leaf: Any) -> Any:
    """A number in its shortest form, so 0.05 and not 0.05000000074505806; for an array its dtype, shape and digest."""
    array = np.asarray(jnp.asarray(leaf))
    if array.ndim:
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
        return f"{array.dtype}{list(array.shape)} {digest}"
    if not np.issubdtype(array.dtype, np.floating):
        return array.item()
    return float(str(array)) if math.isfinite(array) else str(array)
