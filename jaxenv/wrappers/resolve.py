"""What an adapter is given, an id or an environment, as an environment with params."""

import importlib
from typing import Any

from jaxenv.core import Environment


def resolve(id_or_env: str | Environment, params: Any = None) -> tuple[Environment, Any]:
    """The environment of an id, or the one given, and `params` or its own.

    >>> env, params = resolve("LifeOps-v0")
    >>> env.name, resolve(env, params) == (env, params)
    ('LifeOps-v0', True)

    Raises:
        ValueError: if the id is unknown; the message names the nearest one.
        TypeError: if it is neither an id nor an environment.
    """
    if isinstance(id_or_env, str):
        # Not an import statement: the registry stands above the wrappers.
        id_or_env = importlib.import_module("jaxenv.registry").make(id_or_env)[0]
    if not isinstance(id_or_env, Environment):
        raise TypeError(f"expected an id such as 'LifeOps-v0' or a jaxenv.Environment, got {id_or_env!r}")
    return id_or_env, id_or_env.default_params if params is None else params


def require_one_agent(env: Environment, adapter: str) -> None:
    """Rejects an environment of several agents.

    Raises:
        ValueError: if `env` has more than one agent.
    """
    if env.num_agents > 1:
        raise ValueError(f"wrappers.{adapter} has one agent and {env.name} has {env.num_agents}; see wrappers.JaxMARL")
