"""LifeOps shown: a day as an agenda with its queue and work, and its actions in words."""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from jaxenv.envs.lifeops import LifeOps, Params, State
from jaxenv.envs.lifeops.dynamics import decode_and_validate
from jaxenv.envs.lifeops.view import panels, text
from jaxenv.envs.lifeops.view.snapshot import Names as Names
from jaxenv.envs.lifeops.view.snapshot import names_of, read
from jaxenv.rendering.view import Given, Scene, View, scenario_of, scenes_of


def scenes(env: LifeOps, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode as agendas of the same hours; see `View`."""
    scenario = scenario_of(params, states[0])
    days = [read(state, scenario, int(params.departure_min), names_of(scenario, names)) for state in states]
    agenda = functools.partial(panels.draw_agenda, panels.span_of(days))
    return scenes_of(days, text, agenda, panels.draw_open)


def describe_action(env: LifeOps, state: State, action: Any, params: Params, names: Given) -> str:
    """The meaning of an action in a state; see `View`."""
    if not 0 <= action < env.num_actions:
        return f"action {action}, which does not exist"
    scenario = scenario_of(params, state)
    move, legal = jax.device_get(_decode_and_validate(env.catalogue, state, scenario, action))
    phrase = text.describe_action(move, int(state.handled), names_of(scenario, names))
    return phrase if legal else f"{phrase}, not legal"


_decode_and_validate = jax.jit(decode_and_validate, static_argnums=0)

VIEW = View(scenes=scenes, describe_action=describe_action)
