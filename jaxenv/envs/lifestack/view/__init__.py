"""LifeStack shown: a crisis as a graph of facts and routes with its gauges, and the effects of a step in words.

Hidden facts and future events appear in no picture and in no line.
"""

import functools
from collections.abc import Sequence
from typing import Any

from jaxenv.envs.lifestack import LifeStack, Params, State
from jaxenv.envs.lifestack.actions import NUM_VERBS
from jaxenv.envs.lifestack.view import gauges, graph, text
from jaxenv.envs.lifestack.view.layout import layout_of
from jaxenv.envs.lifestack.view.snapshot import Crisis, names_of, read
from jaxenv.envs.lifestack.view.snapshot import Names as Names
from jaxenv.rendering.view import Given, Scene, View, from_all, legal_mask, observe, remembered, scenario_of, scenes_of

SIZE = (900.0, 560.0)  # points


@remembered
def shown(env: LifeStack, state: State, params: Params, names: Given) -> Crisis:
    """A state in plain Python."""
    scenario = scenario_of(params, state)
    return read(observe(env, state, params), state, scenario, names_of(scenario, names))


def scenes(env: LifeStack, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode in the same layout; see `View`."""
    crises = [shown(env, state, params, names) for state in states]
    layout, history = functools.cache(lambda: layout_of(crises[0])), gauges.history_of(crises)  # a text needs no layout
    return scenes_of(
        crises,
        text,
        lambda crisis, canvas: graph.draw(layout(), crisis, canvas),
        functools.partial(gauges.draw, history),
        lambda crisis, canvas: gauges.draw_whole(history, layout(), crisis, canvas),
        size=SIZE,
    )


def describe_actions(env: LifeStack, state: State, params: Params, names: Given) -> list[str]:
    """The meaning of each action in a state; see `View`."""
    given = names_of(scenario_of(params, state), names)
    return [text.describe_action(given, *entry) for entry in env.catalogue.table.tolist()]


def describe_step(env: LifeStack, before: State, after: State, action: Any, params: Params, names: Given) -> list[str]:
    """The effects of a step; see `View`."""
    was, now = (shown(env, state, params, names) for state in (before, after))
    return text.describe_step(was, now, _attempted(env, before, int(action), params))


def _attempted(env: LifeStack, state: State, action: int, params: Params) -> int | None:
    """The route whose last outstanding verb a legal action does, None without one."""
    if not (0 <= action < env.num_actions and legal_mask(env, state, params)[action]):
        return None
    activity, route, _ = env.catalogue.table[action].tolist()
    required, marks = scenario_of(params, state).routes.required[route], state.marks[route]
    return route if activity < NUM_VERBS and int(required) == int(marks) | 1 << activity else None


VIEW = View(scenes, from_all(describe_actions), describe_actions=describe_actions, describe_step=describe_step)
