"""The registry: one dictionary from an id to the function that builds its environment."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from jaxenv.core import Environment
from jaxenv.envs import lifeops, lifestack, teamsclone

_FACTORIES: dict[str, Callable[..., Environment]] = {
    "LifeOps-v0": lifeops.classic,
    "LifeOps-Shaped-v0": lifeops.shaped,
    "LifeStack-v0": lifestack.LifeStack,
    "TeamsClone-v0": teamsclone.classic,
    "TeamsClone-Mentions-v0": teamsclone.mentions,
    "TeamsClone-MultiTask-v0": teamsclone.multi_task,
    "TeamsClone-MultiAgent-v0": teamsclone.multi_agent,
}


def make(id: str, **static: Any) -> tuple[Environment, Any]:
    """Builds a registered environment and its default params.

    Args:
        id: a name of `registered()`.
        **static: what its constructor takes, such as `limits`; anything that changes a shape.

    Returns:
        (environment, params); a changed number is `params.replace(...)` and never recompiles.

    Raises:
        ValueError: for an unknown id; the message names the nearest one.
    """
    env = _factory(id)(**static)
    return env, env.default_params


def arguments(id: str) -> dict[str, Any]:
    """What `make` takes beside the id: argument -> default, of a registered environment.

    Raises:
        ValueError: for an unknown id; the message names the nearest one.
    """
    return {name: parameter.default for name, parameter in inspect.signature(_factory(id)).parameters.items()}


def _factory(id: str) -> Callable[..., Environment]:
    if id not in _FACTORIES:
        near = difflib.get_close_matches(str(id), _FACTORIES, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"no environment {id!r}.{hint} Registered: {', '.join(_FACTORIES)}.")
    return _FACTORIES[id]


def registered() -> tuple[str, ...]:
    """All ids, in the order of registration."""
    return tuple(_FACTORIES)


def register(id: str, factory: Callable[..., Environment]) -> None:
    """Adds an environment of one's own; `factory(**static)` returns it.

    Raises:
        ValueError: where the id is taken.
        TypeError: where the factory cannot be called.
    """
    if id in _FACTORIES:
        raise ValueError(f"the id {id!r} is taken; a changed environment gets a new version, {id[:-1]}…")
    if not callable(factory):
        raise TypeError(f"the factory of {id!r} is a function that returns an environment, got {factory!r}")
    _FACTORIES[id] = factory
