"""Parts that the adapters share: an environment from an id, another suite's spaces, and checks of arguments."""

import functools
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment, spaces
from jaxenv.core.contents import require_valid
from jaxenv.host.companions import optional
from jaxenv.host.names import require_one_of

RENDER_MODES = ("rgb_array", "ansi")

_used_in: list[int] = []  # the process that first made an adapter


def registry() -> Any:
    """The registry, which stands above the wrappers: found by its name, and only when a program needs the ids."""
    return importlib.import_module("jaxenv.registry")


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
        id_or_env = registry().build(id_or_env)
    if not isinstance(id_or_env, Environment):
        raise TypeError(f"expected an id such as 'LifeOps-v0' or a jaxenv.Environment, got {id_or_env!r}")
    if params is None:
        return id_or_env, id_or_env.default_params
    require_valid(params)
    return id_or_env, params


def one_agent(
    id_or_env: str | Environment, params: Any, adapter: str, render_mode: str | None = None, num_envs: int = 1
) -> tuple[Environment, Any]:
    """The same as `resolve`, with the params on the device, for an adapter that has no room for several agents.

    Raises:
        ValueError: also if the environment has more than one, if `render` does not know the mode, or without episodes.
        RuntimeError: in a forked process.
    """
    if render_mode is not None:
        require_one_of(render_mode, RENDER_MODES, f"{adapter}(render_mode={render_mode!r}): no such mode")
    check_num_envs(num_envs, adapter)
    check_not_forked(adapter)
    env, params = resolve(id_or_env, params)
    check_one_agent(env, adapter)
    return env, jax.device_put(params)


def their_spaces(suite: str) -> Any:
    """The module of spaces of Gymnax or JaxMARL."""
    return optional(f"{suite.lower()}.environments.spaces", f"a space of {suite}")


def as_their_space(suite: Any, space: spaces.Space) -> Any:
    """The equivalent space of another suite, whose classes `Discrete`, `Box` and `Dict` are attributes of `suite`."""
    match space:
        case spaces.Discrete():
            return suite.Discrete(space.n)
        case spaces.Box():
            return suite.Box(space.low, space.high, space.shape, np.dtype(space.dtype).type)
        case spaces.Record():
            return suite.Dict({name: as_their_space(suite, inner) for name, inner in space.fields})
        case _:
            raise TypeError(f"{suite.__name__} has no space like {space!r}")


def extend_make(suite: str, makers: dict[str, Callable[..., Any]]) -> None:
    """Replaces a suite's `make` by one that also builds the ids of `makers` that the suite does not have."""
    package, registration = (optional(name, f"register_{suite}") for name in (suite, f"{suite}.registration"))
    added = {id: maker for id, maker in makers.items() if id not in registration.registered_envs}
    if not added:
        return
    theirs = registration.make

    @functools.wraps(theirs)
    def make(env_id: str, **env_kwargs: Any) -> Any:
        return (added[env_id] if env_id in added else functools.partial(theirs, env_id))(**env_kwargs)

    package.make = registration.make = make
    registration.registered_envs.extend(added)


def check_one_agent(env: Environment, adapter: str) -> None:
    """Rejects an environment of several agents."""
    if env.num_agents > 1:
        raise ValueError(f"wrappers.{adapter} has one agent and {env.name} has {env.num_agents}; see wrappers.JaxMARL")


def check_not_forked(adapter: str) -> None:
    """Rejects a process that was forked from one that used JAX, where a call of JAX would never return."""
    _used_in[:] = _used_in or [os.getpid()]
    if _used_in != [os.getpid()]:
        raise RuntimeError(
            f"{adapter} hangs in a process forked from one that uses JAX: give AsyncVectorEnv context='spawn', or take "
            "GymnasiumVector, whose step is one compiled call for all episodes"
        )


def check_num_envs(num_envs: int, adapter: str) -> None:
    """Rejects an empty batch."""
    if num_envs < 1:
        raise ValueError(f"{adapter}(num_envs={num_envs}): expected at least 1")


def check_actions(actions: Any, env: Environment, shape: tuple[int, ...] = ()) -> np.ndarray:
    """The actions as int32 of `shape`.

    Raises:
        ValueError: for another shape, or numbers outside the catalogue.
    """
    actions = np.asarray(actions)
    if actions.shape != shape or actions.dtype.kind not in "iu":
        got = f"{actions.dtype} of shape {actions.shape}"
        raise ValueError(f"actions of {env.name}: expected integers of shape {shape}, got {got}")
    if actions.min() < 0 or actions.max() >= env.num_actions:
        wrong = actions[(actions < 0) | (actions >= env.num_actions)].flat[0]
        raise ValueError(f"actions of {env.name}: expected 0 to {env.num_actions - 1}, got {wrong}")
    return actions.astype(np.int32)


def check_scenario(options: Mapping[str, Any] | None, params: Any, shape: tuple[int, ...] = ()) -> np.ndarray | None:
    """The option `scenario`, an index of the bank (or one for each episode), as int32 of `shape`; None if not given.

    Raises:
        ValueError: for another option, or an index that the bank does not have.
    """
    for name in options or {}:
        require_one_of(name, ("scenario",), f"reset(options=...): unknown option {name!r}")
    given = (options or {}).get("scenario")
    if given is None:
        return None
    scenario, size = np.asarray(given), params.bank.size
    is_index = scenario.dtype.kind in "iu" and scenario.shape in ((), shape)
    if not is_index or scenario.min() < 0 or scenario.max() >= size:
        raise ValueError(f"reset(options=...): scenario is an index of the bank, 0 to {size - 1}, got {given!r}")
    return np.broadcast_to(scenario, shape).astype(np.int32)
