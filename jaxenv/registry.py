"""The registry: a dictionary from ids to the functions that build their environments."""

import inspect
from collections.abc import Callable
from typing import Any

from jaxenv.core import Environment
from jaxenv.envs import FAMILIES
from jaxenv.host.names import require_one_of

_FACTORIES: dict[str, Callable[..., Environment]] = {id: build for each in FAMILIES for id, build in each.ids.items()}


def make(id: str, **static: Any) -> tuple[Environment, Any]:
    """Builds a registered environment and its default params.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params, scenario=3)
    >>> observation, state, reward, terminated, truncated, info = env.step(jax.random.key(1), state, 0, params)
    >>> float(reward), bool(terminated)
    (-5.0, False)

    Args:
        id: one of `registered()`.
        **static: arguments of its constructor that change a shape, such as `limits`.

    Returns:
        (environment, params); change a number by `params.replace(...)`, which never recompiles.

    Raises:
        ValueError: if the id is unknown; the message names the nearest one.
    """
    env = build(id, **static)
    return env, env.default_params


def build(id: str, **static: Any) -> Environment:
    """The environment of `make` without its params, whose bank takes a moment to read.

    >>> from jaxenv import registry
    >>> registry.build("TeamsClone-MultiAgent-v0").num_agents
    4

    Raises:
        ValueError: if the id is unknown; the message names the nearest one.
        TypeError: for an argument that its constructor does not have.
    """
    factory = _factory(id)
    try:
        inspect.signature(factory).bind(**static)
    except TypeError as error:
        takes = ", ".join(inspect.signature(factory).parameters) or "none"
        raise TypeError(
            f"{id}: {error}; its arguments: {takes}. Numbers, such as the weights of the reward, are in its params: "
            "params.replace(...)"
        ) from None
    return factory(**static)


def arguments(id: str) -> dict[str, Any]:
    """The arguments of `make` for a registered environment besides the id: argument -> default.

    >>> from jaxenv import registry
    >>> registry.arguments("TeamsClone-MultiAgent-v0")["num_agents"]
    4

    Raises:
        ValueError: if the id is unknown; the message names the nearest one.
    """
    return {name: parameter.default for name, parameter in inspect.signature(_factory(id)).parameters.items()}


def summary(id: str) -> str:
    """The first line of the docstring of a registered environment's factory, without the id.

    >>> from jaxenv import registry
    >>> registry.summary("LifeOps-v0")
    '16 actions and the reward of the classic rules.'
    """
    first = (inspect.getdoc(_factory(id)) or "").partition("\n")[0]
    return first.removeprefix(f"`{id}`: ")


def _factory(id: str) -> Callable[..., Environment]:
    require_one_of(id, _FACTORIES, f"no environment {id!r}")
    return _FACTORIES[id]


def registered() -> tuple[str, ...]:
    """All ids, in the order of registration.

    >>> import jaxenv
    >>> jaxenv.registered()[:3]
    ('LifeOps-v0', 'LifeOps-Shaped-v0', 'LifeStack-v0')
    """
    return tuple(_FACTORIES)


def register(id: str, factory: Callable[..., Environment]) -> None:
    """Registers your own environment; `factory(**static)` returns it.

    >>> import jaxenv
    >>> from jaxenv.envs.lifeops import Limits, classic
    >>> jaxenv.register("Docs-LongDay-v0", lambda: classic(Limits(events=40)))
    >>> env, params = jaxenv.make("Docs-LongDay-v0")
    >>> env.limits.events
    40

    Raises:
        ValueError: if the id is taken.
        TypeError: if the factory is not callable.
    """
    if id in _FACTORIES:
        raise ValueError(f"the id {id!r} is taken; a changed environment gets a new version, {id[:-1]}…")
    if not callable(factory):
        raise TypeError(f"the factory of {id!r} must be a function that returns an environment, got {factory!r}")
    _FACTORIES[id] = factory
