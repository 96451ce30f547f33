"""Observations and masks: the only module that selects the parts of the state that an agent sees."""

import jax
import jax.numpy as jnp

from jaxenv.core.fields import taken
from jaxenv.core.types import ActionMask
from jaxenv.envs.lifeops import actions
from jaxenv.envs.lifeops.actions import Catalogue, Move
from jaxenv.envs.lifeops.dynamics import Change, insertions, leaves_clean
from jaxenv.envs.lifeops.types import ABSENT, FOCUS, VISIBLE_REQUESTS, Event, Observation, Params, Scenario, State
from jaxenv.lowering.lookup import read


def current_mask(catalogue: Catalogue, state: State, scenario: Scenario) -> ActionMask:
    """[A] bool: the legal entries of a live state, all True once the day is over or out of time."""
    has_request = state.handled < scenario.num_requests
    has_work = jnp.any(state.minutes_left > 0)
    request = scenario.requests.at(state.handled)
    ended = ~(has_request | has_work) | (state.clock >= scenario.max_steps)
    return actions.legal_mask(catalogue, request, has_request, has_work) | ended


def observe(catalogue: Catalogue, state: State, params: Params) -> Observation:
    """The observation of a state."""
    scenario = params.bank[state.scenario]
    event_exists = state.calendar.start != ABSENT
    left = scenario.num_requests - state.handled
    offsets = jnp.arange(VISIBLE_REQUESTS, dtype=jnp.int8)
    request_exists = offsets < left

    def visible(column: jax.Array) -> jax.Array:
        return jnp.where(request_exists, column, jnp.zeros((), column.dtype))

    requests, flexible = jax.tree.map(visible, read((scenario.requests, scenario.flexible), state.handled + offsets))

    return Observation(
        calendar=state.calendar.replace(start=jnp.where(event_exists, state.calendar.start, 0)),
        event_exists=event_exists,
        requests=requests,
        flexible=flexible,
        request_exists=request_exists,
        requests_left=left,
        tasks=scenario.tasks.replace(minutes=state.minutes_left),
        **taken(scenario, "persona", "travel", "max_steps", "weekday"),
        **taken(state, "overlaps", "tight_legs", "clock"),
        action_mask=current_mask(catalogue, state, scenario),
    )


def sorted_calendar(observation: Observation) -> Event:
    """The observed calendar with absent slots marked, as the dynamics take it."""
    start = jnp.where(observation.event_exists, observation.calendar.start, ABSENT)
    return observation.calendar.replace(start=start)


def consequences(catalogue: Catalogue, observation: Observation, params: Params) -> tuple[Move, Change]:
    """(Move, Change) of every entry in the observed day, each field [A]."""
    o = observation
    moves = actions.every_move(catalogue, o.requests.at(jnp.int32(0)), o.persona)
    return moves, insertions(sorted_calendar(o), o.travel, o.persona.home, params.departure_min, moves.event)


BLOCKED_HOURS = ((0, 540), (1200, 1380))  # minutes, half-open: no meetings


def feasible_mask(catalogue: Catalogue, state: State, params: Params) -> ActionMask:
    """[A] bool: the legal entries after which the whole calendar has neither overlaps nor travel issues.

    Handled requests that are no focus time also stay out of the blocked hours; a proposal is judged as if it were
    scheduled; rejecting always stays. Where nothing is left, the legal entries.
    """
    scenario = params.bank[state.scenario]
    legal, request = current_mask(catalogue, state, scenario), scenario.requests.at(state.handled)
    moves = actions.every_move(catalogue, request, scenario.persona)
    change = insertions(state.calendar, scenario.travel, scenario.persona.home, params.departure_min, moves.event)
    clean = leaves_clean(state, change)
    in_blocked = jnp.zeros_like(legal)
    for blocked_from, blocked_until in BLOCKED_HOURS:
        in_blocked |= (moves.event.start < blocked_until) & (blocked_from < moves.event.end)
    is_meeting = moves.event.kind != FOCUS
    keep = (clean & ~(in_blocked & is_meeting)) | ~actions.does(moves.verb, actions.SCHEDULES)
    feasible = legal & keep
    return jnp.where(jnp.any(feasible), feasible, legal)
