"""LifeOps shown: a day as an agenda with its queue and work, and its actions in words."""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from jaxenv.envs.lifeops import LifeOps, Params, Scenario, State
from jaxenv.envs.lifeops.actions import ACCEPT, BLOCK_FOCUS, PROPOSE, REJECT, RESCHEDULE
from jaxenv.envs.lifeops.dynamics import decode_and_validate
from jaxenv.rendering.lifeops import agenda, desk, text
from jaxenv.rendering.lifeops.day import clock, read
from jaxenv.rendering.lifeops.names import names_of
from jaxenv.rendering.view import Scene, View

WORDS = {
    ACCEPT: "accept {request}",
    REJECT: "reject {request}",
    RESCHEDULE: "move {request} to {start}",
    PROPOSE: "propose {start} for {request}",
    BLOCK_FOCUS: "focus {start}–{end}",
}


def scenes(env: LifeOps, states: Sequence[State], params: Params, document: Any) -> list[Scene]:
    """The states of one episode as agendas of the same hours; see `view.View`."""
    del env
    scenario = _scenario(params, states[0])
    names = names_of(scenario, document)
    days = [read(state, scenario, int(params.departure_min), names) for state in states]
    span = agenda.span_of(days)
    return [
        Scene(
            title=text.title(day),
            moment=text.moment(day),
            text=text.body(day),
            main=functools.partial(agenda.draw, day, span),
            side=functools.partial(desk.draw, day),
        )
        for day in days
    ]


def words(env: LifeOps, state: State, action: Any, params: Params, document: Any) -> str:
    """What an action means in a state; see `view.View`."""
    if not 0 <= action < env.num_actions:
        return f"action {action}, which does not exist"
    scenario = _scenario(params, state)
    move, legal = jax.device_get(_decode_and_validate(env.catalogue, state, scenario, action))
    requests, handled = names_of(scenario, document).requests, int(state.handled)
    said = WORDS[int(move.verb)].format(
        request=requests[handled] if handled < len(requests) else "no request",
        start=clock(int(move.event.start)),
        end=clock(int(move.event.end)),
    )
    return said if legal else f"{said}, not legal"


def _scenario(params: Params, state: State) -> Scenario:
    """The scenario of a state, on the host."""
    return jax.device_get(params.bank[int(state.scenario)])


_decode_and_validate = jax.jit(decode_and_validate, static_argnums=0)

VIEW = View(scenes=scenes, words=words)
