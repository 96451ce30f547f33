"""Resolves the argument of an adapter, an id or an environment, to an environment with params."""

import importlib
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.contents import require_valid


def resolve(id_or_env: str | Environment, params: Any = None) -> tuple[Environment, Any]:
    """The environment of an id, or the one given, and `params` or its own.

    >>> env, params = resolve("LifeOps-v0")
    >>> env.name, resolve(env, params) == (env, params)
    ('LifeOps-v0', True)

    Raises:
        ValueError: if the id is unknown, the message names the nearest one; for params that their `validate` refuses.
        TypeError: if it is neither an id nor an environment.
    """
    if isinstance(id_or_env, str):
        # Not an import statement: the registry stands above the wrappers.
        id_or_env = importlib.import_module("jaxenv.registry").build(id_or_env)
    if not isinstance(id_or_env, Environment):
        raise TypeError(f"expected an id such as 'LifeOps-v0' or a jaxenv.Environment, got {id_or_env!r}")
    if params is None:
        return id_or_env, id_or_env.default_params
    require_valid(params)
    return id_or_env, params


def one_agent(id_or_env: str | Environment, params: Any, adapter: str) -> tuple[Environment, Any]:
    """The same as `resolve`, with the params on the device, for an adapter that has no room for several agents.

    Raises:
        ValueError: also if the environment has more than one.
    """
    env, params = resolve(id_or_env, params)
    if env.num_agents > 1:
        raise ValueError(f"wrappers.{adapter} has one agent and {env.name} has {env.num_agents}; see wrappers.JaxMARL")
    return env, jax.device_put(params)
