"""An optional mask that no rule enforces: the legal actions that leave a feasible day."""

import jax
import jax.numpy as jnp

from jaxenv.core.types import ActionMask
from jaxenv.envs.lifeops import actions
from jaxenv.envs.lifeops.actions import Catalogue
from jaxenv.envs.lifeops.dynamics import insertions, leaves_clean
from jaxenv.envs.lifeops.types import FOCUS, Scenario, State

BLOCKED_HOURS = ((0, 540), (1200, 1380))  # minutes, half-open: no meetings


def feasible_mask(
    catalogue: Catalogue,
    state: State,
    scenario: Scenario,
    departure_min: jax.Array | int,
    legal: ActionMask,
) -> ActionMask:
    """[A] bool: the legal entries after which the whole calendar has neither overlaps nor travel issues.

    Handled requests that are no focus time also stay out of the blocked hours; a proposal is judged as if it were
    scheduled; rejecting always stays. Where nothing is left, the legal entries.
    """
    request = scenario.requests.at(state.handled)
    moves = actions.every_move(catalogue, request, scenario.persona)
    change = insertions(state.calendar, scenario.travel, scenario.persona.home, departure_min, moves.event)
    clean = leaves_clean(state, change)
    in_blocked = jnp.zeros_like(legal)
    for blocked_from, blocked_until in BLOCKED_HOURS:
        in_blocked |= (moves.event.start < blocked_until) & (blocked_from < moves.event.end)
    is_meeting = moves.event.kind != FOCUS
    keep = (clean & ~(in_blocked & is_meeting)) | ~actions.does(moves.verb, actions.SCHEDULES)
    feasible = legal & keep
    return jnp.where(jnp.any(feasible), feasible, legal)
