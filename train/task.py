"""What a run is trained on: an environment and its params, built from settings and told by name and value.

Two runs go together only where these agree: a run that is resumed with other weights would be another run, and a policy
for two agents does not act for four.
"""

import ast
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
from jaxenv.registry import arguments
from train.config import Config
from train.presets import nearest

PLAIN = (bool, int, float, str)


def make(config: Config) -> tuple[Environment, Any]:
    """The registered environment and the params that settings name.

    Raises:
        ValueError: for an environment, an argument or a number that there is not, and where the environment is not as
            they say and cannot be made so.
    """
    takes, static = arguments(config.env), {}
    for name, value in config.env_args.items():
        group, _, entry = name.partition(".")
        before: Any = static.get(group, takes.get(group))
        if group in takes and not entry:
            static[group] = _like(before, value, name)
        elif entry and hasattr(before, entry):
            static[group] = dataclasses.replace(before, **{entry: _like(getattr(before, entry), value, name)})
    env, params = jaxenv.make(config.env, **static)
    has = describe_arguments(env)
    for name, value in config.env_args.items():
        if name not in has:
            raise ValueError(f"{config.env} takes no argument {name!r}.{nearest(name, _names(takes))}")
        if has[name] != value:
            raise ValueError(f"{config.env} has {name} {has[name]} and cannot be made with {value}")
    return env, with_numbers(params, config.params)


def described(config: Config, env: Environment, env_params: Any) -> Config:
    """The settings with all that they do not tell of an environment and params, which may come from elsewhere."""
    return dataclasses.replace(config, **describe(env, env_params))


def describe(env: Environment, params: Any) -> dict[str, dict[str, Any]]:
    """`env_args` and `params` of the settings, of an environment and params as they are.

    A field of an environment that is the default of a number of its params is told of the params alone. The bank is not
    told, nor what its scenarios share: it may be another one.
    """
    told, numbers = describe_arguments(env), describe_params(params)
    return {"env_args": {name: value for name, value in told.items() if name not in numbers}, "params": numbers}


def describe_arguments(env: Environment) -> dict[str, Any]:
    """Dotted name -> value of each plain field of an environment, of records in it too but for those of arrays."""
    return _plain_fields(env, "")


def describe_params(params: Any) -> dict[str, Any]:
    """Dotted name -> number, or digest of an array, of all but the bank."""
    return {name: _tell(leaf) for name, leaf in _leaves(params)}


def numbers(params: Any) -> dict[str, Any]:
    """Dotted name -> value of the single numbers of params: what `with_numbers` may change."""
    return {name: value for name, value in describe_params(params).items() if not isinstance(value, str)}


def with_numbers(params: Any, changed: Mapping[str, Any]) -> Any:
    """Params with some of their numbers changed; arrays, which are told by their digests, stay.

    Raises:
        ValueError: for a name that there is not, and for a fraction where a whole number is expected.
    """
    known = describe_params(params)
    for name, value in changed.items():
        if name not in known:
            raise ValueError(f"params have no number {name!r}.{nearest(name, numbers(params))}")
        if not isinstance(known[name], str):
            _like(known[name], value, name)
    leaves = [
        jnp.asarray(changed[name], jnp.asarray(leaf).dtype) if not isinstance(changed.get(name, ""), str) else leaf
        for name, leaf in _leaves(params)
    ]
    inner = jax.tree.unflatten(jax.tree.structure(_without_bank(params)), leaves)
    return inner.replace(bank=params.bank) if hasattr(params, "bank") else inner


def parse_arguments(asked: Sequence[str]) -> dict[str, Any]:
    """`name=value` as the command line takes them, numbers as numbers; a ValueError where there is no `=`."""
    told = {}
    for one in asked:
        name, is_given, value = one.partition("=")
        if not is_given:
            raise ValueError(f"--env-args {one}: expected NAME=VALUE, such as num_agents=2 or limits.channels=9")
        try:
            told[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            told[name] = value
    return told


def _like(default: Any, value: Any, name: str) -> Any:
    """The value of an argument or number, which is to be of the kind of its default; a ValueError where it is not."""
    if dataclasses.is_dataclass(default):
        raise ValueError(f"{name}={value!r}: expected one of its fields, such as {_names({name: default})[0]}")
    kinds = (int, float) if isinstance(default, float) else (type(default),)
    if isinstance(default, PLAIN) and type(value) not in kinds:
        raise ValueError(f"{name}={value!r}: expected a value such as {default!r}")
    return tuple(value) if isinstance(value, list) else value


def _names(takes: Mapping[str, Any]) -> list[str]:
    """The arguments of an environment as they are asked for."""
    return [
        f"{name}.{field.name}" if field else name
        for name, default in takes.items()
        for field in (dataclasses.fields(default) if dataclasses.is_dataclass(default) else [None])
    ]


def _plain_fields(record: Any, prefix: str) -> dict[str, Any]:
    told = {}
    for field in dataclasses.fields(record):
        name, value = f"{prefix}{field.name}", getattr(record, field.name)
        if isinstance(value, PLAIN):
            told[name] = value
        elif isinstance(value, tuple) and all(isinstance(entry, PLAIN) for entry in value):
            told[name] = list(value)
        elif dataclasses.is_dataclass(value) and not _is_tree(value):
            told |= _plain_fields(value, f"{name}.")
    return told


def _is_tree(record: Any) -> bool:
    """Whether a record is one of JAX's, which holds numbers of params."""
    return not jax.tree_util.all_leaves([record])


def _without_bank(params: Any) -> Any:
    return params.replace(bank=None) if hasattr(params, "bank") else params


def _leaves(params: Any) -> list[tuple[str, Any]]:
    """(dotted name, leaf) of all but the bank."""
    leaves = jax.tree_util.tree_leaves_with_path(_without_bank(params))
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def _tell(leaf: Any) -> Any:
    """A number as JSON holds it, as short as it can be told; of an array its dtype, shape and a digest."""
    array = np.asarray(jnp.asarray(leaf))
    if array.ndim:
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
        return f"{array.dtype}{list(array.shape)} {digest}"
    if not np.issubdtype(array.dtype, np.floating):
        return array.item()
    return float(str(array)) if math.isfinite(array) else str(array)
