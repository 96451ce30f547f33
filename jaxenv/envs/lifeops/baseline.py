"""The rule-based planners of LifeOps, Heuristic and Careful (docs/rules/lifeops.md, section 7)."""

import functools

import jax
import jax.numpy as jnp

from jaxenv.core import masking
from jaxenv.core.types import Key, Policy
from jaxenv.envs.lifeops.actions import ACCEPT, BLOCK_FOCUS, REJECT, RESCHEDULE, Catalogue
from jaxenv.envs.lifeops.dynamics import leaves_clean
from jaxenv.envs.lifeops.env import LifeOps
from jaxenv.envs.lifeops.observe import consequences, sorted_calendar
from jaxenv.envs.lifeops.types import DAY_END, Event, Observation, Params

ONE_BLOCK = 30  # minutes; a task with more work left gets a long focus block


def baselines(env: LifeOps) -> dict[str, Policy]:
    """Heuristic and Careful for the catalogue of `env`."""
    return {
        "Heuristic": functools.partial(heuristic, env.catalogue),
        "Careful": functools.partial(careful, env.catalogue),
    }


def heuristic(catalogue: Catalogue, key: Key, observation: Observation, params: Params) -> jax.Array:
    """Accepts requests that fit and rejects the rest; then blocks the least harmful focus time, in catalogue order."""
    del key
    moves, change = consequences(catalogue, observation, params)
    focus = observation.action_mask & (moves.verb == BLOCK_FOCUS)
    block = masking.lexicographic_argmin(focus, change.overlaps, change.tight_legs + change.home_leg)
    accept, reject = catalogue.first(ACCEPT), catalogue.first(REJECT)
    answer = jnp.where(leaves_clean(observation, change)[accept], accept, reject)
    return jnp.where(observation.request_exists[0], answer, block)


def careful(catalogue: Catalogue, key: Key, observation: Observation, params: Params) -> jax.Array:
    """Accepts requests that fit, moves important ones to times that fit and leave room for work, rejects the rest.

    It reschedules only if the remaining free focus blocks cover as much work as now, or all minutes left.
    It chooses focus time by least harm, then by the length that the current task needs.
    """
    del key
    moves, change = consequences(catalogue, observation, params)
    clean = leaves_clean(observation, change)

    calendar = sorted_calendar(observation)
    minutes_left = observation.tasks.minutes
    cover_now = focus_cover(catalogue, calendar, None)
    cover_then = jax.vmap(lambda event: focus_cover(catalogue, calendar, event))(moves.event)
    keeps_room = cover_then >= jnp.minimum(jnp.sum(minutes_left, dtype=jnp.int32), cover_now)
    move = observation.action_mask & (moves.verb == RESCHEDULE) & clean & keeps_room
    important = observation.requests.importance[0] >= 3
    moved = jnp.argmax(move).astype(jnp.int32)
    accept, reject = catalogue.first(ACCEPT), catalogue.first(REJECT)
    answer = jnp.where(clean[accept], accept, jnp.where(important & jnp.any(move), moved, reject))

    current_task = minutes_left[jnp.argmax(minutes_left > 0)]
    wanted = jnp.where(current_task > ONE_BLOCK, max(catalogue.focus_durations), ONE_BLOCK)
    focus = observation.action_mask & (moves.verb == BLOCK_FOCUS)
    issues = change.tight_legs + change.home_leg
    misfit = (moves.duration != wanted).astype(jnp.int32)
    block = masking.lexicographic_argmin(focus, change.overlaps, issues, misfit)
    return jnp.where(observation.request_exists[0], answer, block).astype(jnp.int32)


def focus_cover(catalogue: Catalogue, calendar: Event, extra: Event | None) -> jax.Array:
    """[] int32, minutes that focus blocks without overlap can still hold, the longest free block at each start.

    The starts of a catalogue are so far apart that blocks never overlap. `extra` is added to the calendar.
    """
    start, duration = jnp.meshgrid(
        jnp.array(catalogue.focus_starts, jnp.int32), jnp.array(catalogue.focus_durations, jnp.int32), indexing="ij"
    )
    end = jnp.minimum(start + duration, DAY_END)

    def overlaps(event: Event) -> jax.Array:
        return (event.start < end) & (start < event.end)

    booked = jax.vmap(lambda slot: overlaps(calendar.at(slot)))(jnp.arange(calendar.start.shape[0], dtype=jnp.int32))
    free = ~jnp.any(booked, axis=0)
    if extra is not None:
        free &= ~overlaps(extra)
    return jnp.sum(jnp.max(jnp.where(free, duration, 0), axis=-1), dtype=jnp.int32)
