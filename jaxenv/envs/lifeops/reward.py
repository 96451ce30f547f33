"""The reward of one step: named parts, each a coefficient times something that the turn did."""

import functools

import jax
import jax.numpy as jnp

from jaxenv.envs.lifeops.actions import ACCEPT, BLOCK_FOCUS, PROPOSE, REJECT, RESCHEDULE
from jaxenv.envs.lifeops.dynamics import Turn
from jaxenv.envs.lifeops.types import (
    FOCUS,
    MONDAY,
    Event,
    Persona,
    RewardParts,
    RewardWeights,
    Scenario,
)

CLASSIC = RewardWeights(
    overlap_penalty=-5.0,
    travel_penalty=-4.0,
    handled_request_bonus=0.0,
    rejected_important_penalty=-4.0,
    rejected_low_importance_bonus=0.0,
    preference_penalty=-2.0,
    preference_bonus=0.0,
    focus_reward=1.0,
    focus_reward_per_minute=0.02,
    wasted_focus_penalty=-0.5,
    feasible_schedule_bonus=0.0,
    feasible_schedule_bonus_low_importance=0.0,
    feasible_proposal_bonus=0.0,
    inflexible_reschedule_penalty=0.0,
    cascade_penalty=0.0,
    monday_cancellation_penalty=0.0,
    deadline_pressure_per_minute=0.0,
    deadline_pressure_cap=0.0,
    truncation_goal_miss_penalty=0.0,
    task_progress_per_minute=0.0,
    task_progress_cap=0.0,
    invalid_action=-1.0,
)
SHAPED = RewardWeights(
    overlap_penalty=-3.0,
    travel_penalty=-2.0,
    handled_request_bonus=0.5,
    rejected_important_penalty=-3.0,
    rejected_low_importance_bonus=0.5,
    preference_penalty=-1.5,
    preference_bonus=1.0,
    focus_reward=3.0,
    focus_reward_per_minute=0.02,
    wasted_focus_penalty=-0.5,
    feasible_schedule_bonus=4.0,
    feasible_schedule_bonus_low_importance=2.0,
    feasible_proposal_bonus=2.0,
    inflexible_reschedule_penalty=-5.0,
    cascade_penalty=-3.0,
    monday_cancellation_penalty=-4.0,
    deadline_pressure_per_minute=-0.01,
    deadline_pressure_cap=2.0,
    truncation_goal_miss_penalty=-4.0,
    task_progress_per_minute=0.01,
    task_progress_cap=2.0,
    invalid_action=-1.0,
)


def preference_units(event: Event, persona: Persona) -> jax.Array:
    """[] int32, 0..3: how many of the persona's wishes a meeting time breaks (the weight is not included)."""
    window_start, window_end, avoid_before, avoid_after = (
        minutes.astype(jnp.int32)
        for minutes in (persona.window_start, persona.window_end, persona.avoid_before, persona.avoid_after)
    )
    outside = (event.start < window_start) | (event.end > window_end)
    too_early = event.start < avoid_before  # UNSET is below every start
    too_late = event.end > avoid_after  # NO_LIMIT is above every end
    return outside.astype(jnp.int32) + too_early.astype(jnp.int32) + too_late.astype(jnp.int32)


def reward_parts(weights: RewardWeights, turn: Turn, scenario: Scenario) -> RewardParts:
    """The named terms of one step (docs/rules/lifeops.md, section 5)."""
    w, persona, event, verb = weights, scenario.persona, turn.move.event, turn.move.verb

    def paid(amount: jax.Array | float, when: jax.Array) -> jax.Array:
        return jnp.where(when, jnp.asarray(amount, jnp.float32), jnp.float32(0.0))

    accepts, rejects = turn.legal & (verb == ACCEPT), turn.legal & (verb == REJECT)
    proposes, reschedules = turn.legal & (verb == PROPOSE), turn.legal & (verb == RESCHEDULE)
    focuses = turn.legal & (verb == BLOCK_FOCUS)
    meets = (accepts | reschedules | proposes) & (event.kind != FOCUS)
    important = event.importance >= 3
    units = preference_units(event, persona)
    progress = turn.progress.astype(jnp.float32)
    schedule_bonus = jnp.where(
        event.importance >= 2, w.feasible_schedule_bonus, w.feasible_schedule_bonus_low_importance
    )
    return RewardParts(
        overlap_penalty=w.overlap_penalty * turn.overlaps.astype(jnp.float32),
        travel_penalty=w.travel_penalty * turn.travel_issues.astype(jnp.float32) * persona.travel_weight,
        handled_request_bonus=paid(w.handled_request_bonus, turn.legal & (verb != BLOCK_FOCUS)),
        rejected_important_penalty=paid(w.rejected_important_penalty, rejects & important),
        rejected_low_importance_bonus=paid(w.rejected_low_importance_bonus, rejects & ~important),
        preference_penalty=paid(
            w.preference_penalty * units.astype(jnp.float32) * persona.preference_weight,
            meets & (units > 0),
        ),
        preference_bonus=paid(w.preference_bonus, meets & (units == 0)),
        focus_reward=paid(
            (w.focus_reward + w.focus_reward_per_minute * progress) * persona.focus_weight,
            focuses & (turn.progress > 0),
        ),
        wasted_focus_penalty=paid(w.wasted_focus_penalty, focuses & (turn.progress == 0)),
        feasible_schedule_bonus=paid(schedule_bonus, (accepts | reschedules) & turn.clean_with_event),
        feasible_proposal_bonus=paid(w.feasible_proposal_bonus, proposes & turn.clean_with_event),
        inflexible_reschedule_penalty=paid(w.inflexible_reschedule_penalty, (reschedules | proposes) & ~turn.flexible),
        cascade_penalty=paid(w.cascade_penalty, accepts & (event.importance <= 1) & turn.shadows),
        monday_cancellation_penalty=paid(
            w.monday_cancellation_penalty,
            accepts & (scenario.weekday == MONDAY) & (event.importance <= 2),
        ),
        deadline_pressure_penalty=_capped(
            w.deadline_pressure_per_minute, w.deadline_pressure_cap, turn.urgent_minutes_left
        ),
        truncation_goal_miss_penalty=paid(w.truncation_goal_miss_penalty, turn.out_of_time & (turn.minutes_left > 0)),
        task_progress_bonus=_capped(w.task_progress_per_minute, w.task_progress_cap, turn.progress),
        invalid_action=paid(w.invalid_action, ~turn.legal),
    )


def total(parts: RewardParts) -> jax.Array:
    """[] float32: the reward, the parts summed in the order of their fields."""
    return functools.reduce(jnp.add, jax.tree.leaves(parts))


def _capped(rate: jax.Array | float, cap: jax.Array | float, minutes: jax.Array) -> jax.Array:
    """[] float32: rate · minutes, its size at most `cap`."""
    return jnp.clip(rate * minutes.astype(jnp.float32), -cap, cap)
