"""LifeOps shown: a day as an agenda with its queue and work, and its actions in words."""

import functools
from collections.abc import Sequence

import jax

from jaxenv.envs.lifeops import LifeOps, Params, State
from jaxenv.envs.lifeops.actions import Move, every_move
from jaxenv.envs.lifeops.view import panels, text
from jaxenv.envs.lifeops.view.snapshot import Names as Names
from jaxenv.envs.lifeops.view.snapshot import names_of, read
from jaxenv.rendering.view import Given, Scene, View, from_all, remembered, scenario_of, scenes_of, to_host


def scenes(env: LifeOps, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode as agendas of the same hours; see `View`."""
    scenario = scenario_of(params, states[0])
    days = [read(state, scenario, int(params.departure_min), names_of(scenario, names)) for state in states]
    agenda = functools.partial(panels.draw_agenda, panels.span_of(days))
    return scenes_of(days, text, agenda, panels.draw_open)


def describe_actions(env: LifeOps, state: State, params: Params, names: Given) -> list[str]:
    """The meaning of each action in a state; see `View`."""
    given, moves = names_of(scenario_of(params, state), names), moves_of(env, state, params)
    columns = (moves.verb.tolist(), moves.event.start.tolist(), moves.event.end.tolist())
    return [text.describe_action(*move, int(state.handled), given) for move in zip(*columns, strict=True)]


@remembered
def moves_of(env: LifeOps, state: State, params: Params) -> Move:
    """The decoded action of each entry of the catalogue, [A] NumPy arrays."""
    return to_host(_moves(env, state, params))


@functools.partial(jax.jit, static_argnums=0)
def _moves(env: LifeOps, state: State, params: Params) -> Move:
    scenario = params.bank[state.scenario]
    return every_move(env.catalogue, scenario.requests.at(state.handled), scenario.persona)


VIEW = View(scenes=scenes, describe_action=from_all(describe_actions), describe_actions=describe_actions)
