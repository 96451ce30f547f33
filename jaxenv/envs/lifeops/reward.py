"""The reward of one step, a row for each term: its weight in each preset, and the paid quantity.

The rules are docs/rules/lifeops.md, section 5.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxenv.core.printing import Compact
from jaxenv.core.terms import Weight, coefficient, parts_type, preset, term
from jaxenv.envs.lifeops.actions import ACCEPT, BLOCK_FOCUS, PROPOSE, REJECT, RESCHEDULE, SCHEDULES, does
from jaxenv.envs.lifeops.dynamics import Turn
from jaxenv.envs.lifeops.types import FOCUS, MONDAY, Event, Persona, Scenario


class Step(NamedTuple):
    """The inputs of the reward terms."""

    turn: Turn
    persona: Persona
    event: Event  # of the action
    weekday: jax.Array  # [] int8
    accepts: jax.Array  # [] bool, and so on: a legal action of this verb
    rejects: jax.Array
    proposes: jax.Array
    reschedules: jax.Array
    focuses: jax.Array
    meets: jax.Array  # [] bool, a request that is no focus time gets or is offered a time
    broken_wishes: jax.Array  # [] int32, 0..3

    @classmethod
    def of(cls, turn: Turn, scenario: Scenario) -> "Step":
        """The inputs that follow from a turn."""
        verbs = (ACCEPT, REJECT, PROPOSE, RESCHEDULE, BLOCK_FOCUS)
        did = (turn.legal & (turn.move.verb == verb) for verb in verbs)
        event, persona = turn.move.event, scenario.persona
        meets = turn.legal & does(turn.move.verb, SCHEDULES) & (event.kind != FOCUS)
        units = preference_units(event, persona)
        return cls(turn, persona, event, scenario.weekday, *did, meets=meets, broken_wishes=units)


def _focus_reward(w: "RewardWeights", step: Step) -> jax.Array:
    minutes = step.turn.progress.astype(jnp.float32)
    return (w.focus_reward + w.focus_reward_per_minute * minutes) * step.persona.focus_weight


def _schedule_bonus(w: "RewardWeights", step: Step) -> jax.Array:
    low = w.feasible_schedule_bonus_low_importance
    return jnp.where(step.event.importance >= 2, w.feasible_schedule_bonus, low)


def _capped(rate: Weight, cap: Weight, minutes: jax.Array) -> jax.Array:
    """[] float32: rate · minutes, its size at most `cap`."""
    return jnp.clip(rate * minutes.astype(jnp.float32), -cap, cap)


class RewardWeights(Compact):
    """The coefficients of the reward, each a [] float32 (or a Python float); zero switches a term off."""

    overlap_penalty: Weight = term(lambda step: step.turn.overlaps, doc="each of O", classic=-5.0, shaped=-3.0)
    travel_penalty: Weight = term(
        lambda step: (step.turn.travel_issues, step.persona.travel_weight),
        doc="each of T, times the travel weight",
        classic=-4.0,
        shaped=-2.0,
    )
    handled_request_bonus: Weight = term(
        lambda step: (step.turn.legal, ~step.focuses), doc="any of the four request actions", shaped=0.5
    )
    rejected_important_penalty: Weight = term(
        lambda step: (step.rejects, step.event.importance >= 3),
        doc="reject, importance >= 3",
        classic=-4.0,
        shaped=-3.0,
    )
    rejected_low_importance_bonus: Weight = term(
        lambda step: (step.rejects, step.event.importance < 3), doc="reject, importance < 3", shaped=0.5
    )
    preference_penalty: Weight = term(
        lambda step: (step.broken_wishes, step.persona.preference_weight, step.meets, step.broken_wishes > 0),
        doc="accept, reschedule or propose of a meeting-like event (at its new time): each of its units, times the "
        "preference weight",
        classic=-2.0,
        shaped=-1.5,
    )
    preference_bonus: Weight = term(
        lambda step: (step.meets, step.broken_wishes == 0), doc="the same with units = 0", shaped=1.0
    )
    focus_reward: Weight = term(
        lambda step: (step.focuses, step.turn.progress > 0),
        weight=_focus_reward,
        doc="focus, p > 0; times the focus weight",
        classic=1.0,
        shaped=3.0,
    )
    focus_reward_per_minute: Weight = coefficient(
        doc="of `focus_reward`: added for each minute of p", classic=0.02, shaped=0.02
    )
    wasted_focus_penalty: Weight = term(
        lambda step: (step.focuses, step.turn.progress == 0),
        doc="focus, p = 0 (a legal action never has it)",
        classic=-0.5,
        shaped=-0.5,
    )
    feasible_schedule_bonus: Weight = term(
        lambda step: (step.accepts | step.reschedules, step.turn.clean_with_event),
        weight=_schedule_bonus,
        doc="accept or reschedule, and O = 0 and T = 0",
        shaped=4.0,
    )
    feasible_schedule_bonus_low_importance: Weight = coefficient(
        doc="of `feasible_schedule_bonus`: in its place if importance < 2", shaped=2.0
    )
    feasible_proposal_bonus: Weight = term(
        lambda step: (step.proposes, step.turn.clean_with_event),
        doc="propose, and the calendar with the proposal in it has O = 0 and T = 0",
        shaped=2.0,
    )
    inflexible_reschedule_penalty: Weight = term(
        lambda step: (step.reschedules | step.proposes, ~step.turn.flexible),
        doc="reschedule or propose of a request with `flexible` false",
        shaped=-5.0,
    )
    cascade_penalty: Weight = term(
        lambda step: (step.accepts, step.event.importance <= 1, step.turn.shadows),
        doc="accept, importance <= 1, and its own time shadows a previewed request (below); at most once a step",
        shaped=-3.0,
    )
    monday_cancellation_penalty: Weight = term(
        lambda step: (step.accepts, step.weekday == MONDAY, step.event.importance <= 2),
        doc="the weekday is Monday, accept, importance <= 2",
        shaped=-4.0,
    )
    deadline_pressure_per_minute: Weight = term(
        lambda step: (),
        part="deadline_pressure_penalty",
        weight=lambda w, step: _capped(
            w.deadline_pressure_per_minute, w.deadline_pressure_cap, step.turn.urgent_minutes_left
        ),
        doc="every step, as `deadline_pressure_penalty`: each of U, the minutes left after the step over tasks with "
        "`due_in_days` <= 1",
        shaped=-0.01,
    )
    deadline_pressure_cap: Weight = coefficient(doc="the greatest size of `deadline_pressure_penalty`", shaped=2.0)
    truncation_goal_miss_penalty: Weight = term(
        lambda step: (step.turn.out_of_time, step.turn.minutes_left > 0),
        doc="the time limit is reached and minutes are left",
        shaped=-4.0,
    )
    task_progress_per_minute: Weight = term(
        lambda step: (),
        part="task_progress_bonus",
        weight=lambda w, step: _capped(w.task_progress_per_minute, w.task_progress_cap, step.turn.progress),
        doc="as `task_progress_bonus`: each minute by which the minutes left fell",
        shaped=0.01,
    )
    task_progress_cap: Weight = coefficient(doc="the greatest size of `task_progress_bonus`", shaped=2.0)
    invalid_action: Weight = term(
        lambda step: ~step.turn.legal, doc="the action was not legal", classic=-1.0, shaped=-1.0
    )


CLASSIC: RewardWeights = preset(RewardWeights, "classic")
SHAPED: RewardWeights = preset(RewardWeights, "shaped")
RewardParts = parts_type(RewardWeights)


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
