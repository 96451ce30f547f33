"""The view that shows each environment, and how states reach it: `VIEWS` and `render`."""

import types
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.envs import FAMILIES
from jaxenv.rendering.page import page
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import Given, Scene, View, to_host

VIEWS: dict[type, View | None] = dict.fromkeys(family.environment for family in FAMILIES)
"""Environment class -> its view; `VIEWS[MyEnvironment] = View(scenes, describe_action)` adds one of your own.

None is that of the class's family: its package imports this one, and is imported only when something is shown.
"""


def render(env: Environment, state: Any, params: Any, *, names: Any = None, agent: int = 0) -> Picture:
    """One state as a picture and as text.

    Args:
        env: the environment, wrapped or not.
        state: one of its states, not a batch.
        params: the params that it is played with.
        names: names for places, people and events, which the arrays only number: a library of scenarios in the order
            of `params.bank`, the document of this scenario, or a mapping with the fields of the environment's
            `Names`, such as `jaxenv.envs.lifeops.view.Names`.
        agent: the agent whose view is shown, if there are several.

    Raises:
        LookupError: if the environment has no view.
        ValueError: for a batch of states, an unknown agent, or the names of another scenario.

    Examples:
        >>> import jax, jaxenv
        >>> env, params = jaxenv.make("LifeOps-v0")
        >>> observation, state = env.reset(jax.random.key(0), params, 0)
        >>> picture = render(env, state, params)
        >>> print(picture.text.splitlines()[2])
        Meetings preferably 9:00–16:30, none after 17:30
        >>> picture.save("state.png")  # doctest: +SKIP
    """
    return page(scenes(env, [state], params, names, agent)[0])


def scenes(env: Environment, states: Sequence[Any], params: Any, names: Any = None, agent: int = 0) -> list[Scene]:
    """The states of one episode, on the same scale; see `render`."""
    bare, view = _view_of(env, agent)
    states = [on_host(env, state, params) for state in states]
    return view.scenes(bare, states, params, names_in(bare, states[0], names))


def describe_action(env: Environment, state: Any, action: Any, params: Any, names: Any = None, agent: int = 0) -> str:
    """The meaning of an action in a state; see `render`."""
    bare, view = _view_of(env, agent)
    state = on_host(env, state, params)
    return view.describe_action(bare, state, np.asarray(action), params, names_in(bare, state, names))


def describe_actions(env: Environment, state: Any, params: Any, names: Any = None, agent: int = 0) -> Sequence[str]:
    """The meaning of each entry of the catalogue in a state, legal or not, all at once; see `render`."""
    bare, view = _view_of(env, agent)
    state, every = on_host(env, state, params), range(bare.num_actions)
    given = names_in(bare, state, names)
    if view.describe_actions is None:
        return [view.describe_action(bare, state, np.asarray(action), params, given) for action in every]
    return view.describe_actions(bare, state, params, given)


def describe_step(
    env: Environment, before: Any, after: Any, action: Any, params: Any, names: Any = None, agent: int = 0
) -> tuple[str, ...]:
    """The effects of a step, a line each; see `render`."""
    bare, view = _view_of(env, agent)
    before, after = (on_host(env, state, params) for state in (before, after))
    return tuple(view.describe_step(bare, before, after, np.asarray(action), params, names_in(bare, before, names)))


def names_in(bare: Environment, state: Any, names: Any) -> Given:
    """The names of the scenario of a state (`on_host`), by field of its environment's `Names`; empty for None."""
    if hasattr(names, "documents"):
        return names.names(int(bare.scenario_index(state)))
    if hasattr(names, "names"):
        return names.names()
    return names if isinstance(names, types.MappingProxyType) else dict(names or {})


def number_of(scenario: str, names: Any) -> int:
    """The index of the bank of a scenario, by its id in a library.

    Raises:
        TypeError: if `names` is no library.
        ValueError: if the library has no such id; the message names the nearest one.
    """
    if not hasattr(names, "documents"):
        remedy = f"give its number, library.index({scenario!r}), or names=library to look it up"
        raise TypeError(f"scenario={scenario!r} is no index of params.bank: {remedy}")
    return names.index(scenario)


def on_host(env: Environment, state: Any, params: Any) -> Any:
    """The state of the unwrapped environment, as NumPy arrays.

    Raises:
        ValueError: for a batch of states.
    """
    bare = env.unwrapped
    while hasattr(state, "env_state"):  # additions of wrappers are not shown
        state = state.env_state
    if bare not in _SHAPES:
        _SHAPES[bare] = _shapes(
            jax.eval_shape(lambda key, params: bare.init(key, params, 0), jax.random.key(0), params)
        )
    if _shapes(state) != _SHAPES[bare]:
        raise ValueError(f"expected one state of {bare.name}; of a batch take jax.tree.map(lambda x: x[0], state)")
    return to_host(state)


_SHAPES: dict[Environment, list[tuple[int, ...]]] = {}
"""Environment -> the shapes of its states, which no number in params changes."""


def _shapes(state: Any) -> list[tuple[int, ...]]:
    return [np.shape(leaf) for leaf in jax.tree.leaves(state)]


def _view_of(env: Any, agent: int) -> tuple[Any, View]:
    """The unwrapped environment and an agent's view of it, if need be that of a base class."""
    bare = getattr(env, "unwrapped", env)  # adapters have none
    for kind in type(bare).__mro__:
        if kind in VIEWS:
            if not 0 <= agent < bare.num_agents:
                raise ValueError(f"agent={agent}: the agents of {bare.name} are numbered 0 to {bare.num_agents - 1}")
            view = VIEWS[kind] or next(family.view for family in FAMILIES if family.environment is kind)
            return bare, view if view.of_agent is None else view.of_agent(agent)
    name, available = type(bare).__name__, ", ".join(kind.__name__ for kind in VIEWS)
    raise LookupError(f"rendering does not know {name}, only {available}: VIEWS[{name}] = View(...) adds it")
