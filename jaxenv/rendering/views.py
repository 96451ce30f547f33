"""From an environment to the view that shows it: one dictionary, and the door through which states come in."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.envs.lifeops import LifeOps
from jaxenv.envs.lifestack import LifeStack
from jaxenv.rendering import lifeops, lifestack
from jaxenv.rendering.page import page
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import Scene, View

VIEWS: dict[type, View] = {
    LifeOps: lifeops.VIEW,
    LifeStack: lifestack.VIEW,
}
"""A row for each environment; `VIEWS[MyEnvironment] = View(scenes, words)` adds one of your own."""


def render(env: Environment, state: Any, params: Any, *, names: Any = None) -> Picture:
    """One state as a picture and as text.

    Args:
        env: the environment, wrapped or not.
        state: one of its states, not a batch.
        params: those that it is played with.
        names: what places, people and events are called, which arrays do not know: a library of scenarios
            (anything with `documents` in the order of `params.bank`) or the one document of this state.
    """
    return page(scenes(env, [state], params, names)[0])


def scenes(env: Environment, states: Sequence[Any], params: Any, names: Any = None) -> list[Scene]:
    """The states of one episode, on the same scale.

    Raises:
        LookupError: for an environment that has no view.
        ValueError: for a batch of states.
    """
    bare, view = _view_of(env)
    states = [on_host(env, state, params) for state in states]
    return view.scenes(bare, states, params, _document(names, states[0]))


def words(env: Environment, state: Any, action: Any, params: Any, names: Any = None) -> str:
    """What an action means in a state; see `render`."""
    bare, view = _view_of(env)
    state = on_host(env, state, params)
    return view.words(bare, state, np.asarray(action), params, _document(names, state))


def told(env: Environment, before: Any, after: Any, action: Any, params: Any, names: Any = None) -> tuple[str, ...]:
    """What a step did, a line each; see `render`."""
    bare, view = _view_of(env)
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
    expected = jax.tree.leaves(jax.eval_shape(bare.init, jax.random.key(0), params, 0))
    found = jax.tree.leaves(state)
    if [np.shape(leaf) for leaf in found] != [leaf.shape for leaf in expected]:
        raise ValueError(
            f"expected one state of {bare.name}, found other shapes; of a batch take one with "
            "jax.tree.map(lambda x: x[0], state)"
        )
    return jax.device_get(state)


def _view_of(env: Any) -> tuple[Any, View]:
    """The unwrapped environment and its view, that of a base class included."""
    bare = getattr(env, "unwrapped", env)
    for kind in type(bare).__mro__:
        if kind in VIEWS:
            return bare, VIEWS[kind]
    shown = ", ".join(kind.__name__ for kind in VIEWS)
    raise LookupError(
        f"there is no picture of a {type(bare).__name__}, only of {shown}; "
        f"jaxenv.rendering.VIEWS[{type(bare).__name__}] = View(scenes, words) adds one"
    )


def _document(names: Any, state: Any) -> Any:
    """The document that names what is in a state, or None."""
    documents = getattr(names, "documents", None)
    return names if documents is None else documents[int(state.scenario)]
