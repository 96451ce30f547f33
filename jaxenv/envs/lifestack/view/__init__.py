"""LifeStack shown: a crisis as a graph of facts and routes with its gauges, and the effects of a step in words.

Hidden facts and future events appear in no picture and in no line.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from jaxenv.envs.lifestack import LifeStack, Params, Scenario, State
from jaxenv.envs.lifestack.actions import Catalogue, Move, decode, find
from jaxenv.envs.lifestack.view import gauges, graph, text
from jaxenv.envs.lifestack.view.layout import layout_of
from jaxenv.envs.lifestack.view.snapshot import Crisis, names_of, read
from jaxenv.envs.lifestack.view.snapshot import Names as Names
from jaxenv.rendering.view import Given, Scene, View, scenario_of, scenes_of

SIZE = (900.0, 560.0)  # points


def scenes(env: LifeStack, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode in the same layout; see `View`."""
    crises = _crises(env, states, params, names)
    layout, history = layout_of(crises[0]), gauges.history_of(crises)
    main, side = functools.partial(graph.draw, layout), functools.partial(gauges.draw, history)
    return scenes_of(crises, text, main, side, functools.partial(gauges.draw_whole, history, layout), size=SIZE)


def describe_action(env: LifeStack, state: State, action: Any, params: Params, names: Given) -> str:
    """The meaning of an action in a state; see `View`."""
    if not 0 <= action < env.num_actions:
        return f"action {action}, which does not exist"
    scenario = scenario_of(params, state)
    phrase = text.describe_action(env.catalogue, int(action), names_of(scenario, names))
    move = jax.device_get(_decode(env.catalogue, state, scenario, action))
    return phrase if move.legal else f"{phrase}, not legal"


def describe_step(env: LifeStack, before: State, after: State, action: Any, params: Params, names: Given) -> list[str]:
    """The effects of a step; see `View`."""
    scenario = scenario_of(params, before)
    move = jax.device_get(_decode(env.catalogue, before, scenario, action))
    required, marks = scenario.routes.required[move.route], before.marks[move.route]
    is_last = move.legal and move.on_route and int(required) == int(marks) | 1 << int(move.activity)
    was, now = _crises(env, [before, after], params, names)
    return text.describe_step(was, now, int(move.route) if is_last else None)


def _crises(env: LifeStack, states: Sequence[State], params: Params, names: Given) -> list[Crisis]:
    """The states read for drawing."""
    scenario = scenario_of(params, states[0])
    called = names_of(scenario, names)
    return [read(jax.device_get(_observe(env, state, params)), state, scenario, called) for state in states]


@functools.partial(jax.jit, static_argnums=0)
def _decode(catalogue: Catalogue, state: State, scenario: Scenario, action: Any) -> Move:
    entry = find(catalogue, action)
    return decode(entry, state, scenario, jax.tree.map(lambda column: column[entry.route], scenario.routes))


_observe = jax.jit(lambda env, state, params: env.observe(state, params), static_argnums=0)

VIEW = View(scenes=scenes, describe_action=describe_action, describe_step=describe_step)
