"""From an environment to the view that shows it: one dictionary, and the door through which states come in."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.envs.lifeops import LifeOps
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.teamsclone import TeamsClone
from jaxenv.rendering import lifeops, lifestack, teamsclone
from jaxenv.rendering.page import page
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import Scene, View

VIEWS: dict[type, View] = {
    LifeOps: lifeops.VIEW,
    LifeStack: lifestack.VIEW,
    TeamsClone: teamsclone.VIEW,
}
"""A row for each environment; `VIEWS[MyEnvironment] = View(scenes, words)` adds one of your own."""


def render(env: Environment, state: Any, params: Any, *, names: Any = None, agent: int = 0) -> Picture:
    """One state as a picture and as text.

    Args:
        env: the environment, wrapped or not.
        state: one of its states, not a batch.
        params: those that it is played with.
        names: what places, people and events are called, which arrays do not know: a library of scenarios
            (anything with `documents` in the order of `params.bank`) or the one document of this state.
        agent: of several, the one whose eyes these are.
    """
    return page(scenes(env, [state], params, names, agent)[0])


def scenes(env: Environment, states: Sequence[Any], params: Any, names: Any = None, agent: int = 0) -> list[Scene]:
    """The states of one episode, on the same scale.

    Raises:
        LookupError: for an environment that has no view.
        ValueError: for a batch of states, and for an agent that there is not.
    """
    bare, view = _view_of(env, agent)
    states = [on_host(env, state, params) for state in states]
    return view.scenes(bare, states, params, _document(names, states[0]))


def words(env: Environment, state: Any, action: Any, params: Any, names: Any = None, agent: int = 0) -> str:
    """What an action means in a state; see `render`."""
    bare, view = _view_of(env, agent)
    state = on_host(env, state, params)
    return view.words(bare, state, np.asarray(action), params, _document(names, state))


def told(
    env: Environment, before: Any, after: Any, action: Any, params: Any, names: Any = None, agent: int = 0
) -> tuple[str, ...]:
    """What a step did, a line each; see `render`."""
    bare, view = _view_of(env, agent)
    before, after = (on_host(env, state, params) for state in (before, after))
    return tuple(view.told(bare, before, after, np.asarray(action), params, _document(names, before)))


def on_host(env: Environment, state: Any, params: Any) -> Any:
    """The state of the unwrapped environment, as NumPy arrays.

    Raises:
        ValueError: for a batch of states.
    """
    bare = getattr(env, "unwrapped", env)
    while hasattr(state, "env_state"):  # what a wrapper adds is not shown
        state = state.env_state
    expected = jax.tree.leaves(_first.eval_shape(bare, jax.random.key(0), params))
    found = jax.tree.leaves(state)
    if [np.shape(leaf) for leaf in found] != [leaf.shape for leaf in expected]:
        raise ValueError(
            f"expected one state of {bare.name}, found other shapes; of a batch take one with "
            "jax.tree.map(lambda x: x[0], state)"
        )
    return jax.device_get(state)


_first = jax.jit(lambda env, key, params: env.init(key, params, 0), static_argnums=0)  # traced once for its shapes


def _view_of(env: Any, agent: int) -> tuple[Any, View]:
    """The unwrapped environment and an agent's view of it, that of a base class included."""
    bare = getattr(env, "unwrapped", env)
    for kind in type(bare).__mro__:
        if kind in VIEWS:
            if not 0 <= agent < bare.num_agents:
                raise ValueError(f"agent={agent}: the agents of {bare.name} are numbered 0 to {bare.num_agents - 1}")
            view = VIEWS[kind]
            return bare, view if view.of_agent is None else view.of_agent(agent)
    shown = ", ".join(kind.__name__ for kind in VIEWS)
    raise LookupError(
        f"there is no picture of a {type(bare).__name__}, only of {shown}; "
        f"jaxenv.rendering.VIEWS[{type(bare).__name__}] = View(scenes, words) adds one"
    )


def _document(names: Any, state: Any) -> Any:
    """The document that names what is in a state, or None."""
    documents = getattr(names, "documents", None)
    return names if documents is None else documents[int(state.scenario)]
