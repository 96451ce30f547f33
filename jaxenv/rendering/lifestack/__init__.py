"""LifeStack shown: a crisis as a graph of facts and routes with its gauges, and what a step did in words.

What is shown is what the agent knows; hidden facts and what is to come are in no picture and in no line.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from jaxenv.envs.lifestack import LifeStack, Params, Scenario, State
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECT, LOOKING, UPKEEP, VERBS, WAIT, decode
from jaxenv.rendering.lifestack import course, gauges, graph, story, text
from jaxenv.rendering.lifestack.crisis import Crisis
from jaxenv.rendering.lifestack.history import history_of
from jaxenv.rendering.lifestack.layout import layout_of
from jaxenv.rendering.lifestack.names import Names, names_of
from jaxenv.rendering.lifestack.reading import read
from jaxenv.rendering.view import Scene, View

SIZE = (900.0, 560.0)  # points


def scenes(env: LifeStack, states: Sequence[State], params: Params, document: Any) -> list[Scene]:
    """The states of one episode in the same layout; see `view.View`."""
    crises = _crises(env, states, params, document)
    layout, history = layout_of(crises[0]), history_of(crises)
    return [
        Scene(
            title=text.title(crisis),
            moment=text.moment(crisis),
            text=text.body(crisis),
            main=functools.partial(graph.draw, crisis, layout),
            side=functools.partial(gauges.draw, crisis, history),
            whole=functools.partial(course.draw, crisis, history, layout),
            size=SIZE,
        )
        for crisis in crises
    ]


def words(env: LifeStack, state: State, action: Any, params: Params, document: Any) -> str:
    """What an action means in a state; see `view.View`."""
    if not 0 <= action < env.num_actions:
        return f"action {action}, which does not exist"
    scenario = _scenario(params, state)
    said = _said(env, int(action), names_of(scenario, document))
    move = jax.device_get(_decode(env.catalogue, state, scenario, action))
    return said if move.legal else f"{said}, not legal"


def told(env: LifeStack, before: State, after: State, action: Any, params: Params, document: Any) -> list[str]:
    """What a step did; see `view.View`."""
    scenario = _scenario(params, before)
    move = jax.device_get(_decode(env.catalogue, before, scenario, action))
    required, marks = scenario.routes.required[move.route], before.marks[move.route]
    is_last = move.legal and move.on_route and int(required) == int(marks) | 1 << int(move.deed)
    was, now = _crises(env, [before, after], params, document)
    return story.told(was, now, int(move.route) if is_last else None)


def _crises(env: LifeStack, states: Sequence[State], params: Params, document: Any) -> list[Crisis]:
    """The states as facts for people."""
    scenario = _scenario(params, states[0])
    names = names_of(scenario, document)
    return [read(jax.device_get(_observe(env, state, params)), state, scenario, names) for state in states]


def _said(env: LifeStack, action: int, names: Names) -> str:
    """An entry of the catalogue; a slot that the crisis leaves empty is called by number."""
    catalogue = env.catalogue
    deed, route, key = (int(column[action]) for column in (catalogue.deed, catalogue.route, catalogue.key))
    if deed < FIRST_UPKEEP:
        return f"{VERBS[deed]}: {names.routes[route] if route < len(names.routes) else f'no route {route + 1}'}"
    if deed < LOOKING:
        return f"upkeep: {UPKEEP[deed - FIRST_UPKEEP]}"
    fact = names.keys[key] if key < len(names.keys) else f"no fact {key + 1}"
    return f"{INSPECT} {fact}" if deed == LOOKING else WAIT


def _scenario(params: Params, state: State) -> Scenario:
    """The scenario of a state, on the host."""
    return jax.device_get(params.bank[state.scenario])


_decode = jax.jit(decode, static_argnums=0)
_observe = jax.jit(lambda env, state, params: env.observe(state, params), static_argnums=0)

VIEW = View(scenes=scenes, words=words, told=told)
