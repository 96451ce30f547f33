"""Edits of the requests of a day."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import among, first_slots, other, put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifeops.generator import MAX_REQUESTS, MIN_PLACES, REQUEST_MINUTES
from jaxenv.envs.lifeops.mutation.calendar import IMPORTANCES, has_slot
from jaxenv.envs.lifeops.types import DAY_END, Event, Scenario

MOVED = 60  # minutes that a request moves at most
COPIED = 120  # minutes between a request and its copy, at most
FEWEST_REQUESTS = 1


def request_exists(day: Scenario) -> jax.Array:
    """[Q] bool."""
    return first_slots(day.num_requests, day.flexible.shape[0])


def move_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request is up to an hour earlier or later."""
    return _at_times(day, row, *_moved(day.requests.at(row), u[0], MOVED))


def resize_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request takes another time."""
    request = day.requests.at(row)
    length = other(sorted({*REQUEST_MINUTES}), request.end - request.start, u[0])
    start = jnp.minimum(request.start, DAY_END - 5 - length)
    return _at_times(day, row, start, start + length)


def place_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request is somewhere else."""
    index = np.arange(day.travel.shape[0], dtype=np.int32)
    exists = jnp.any(day.travel > 0, axis=1) | (index < MIN_PLACES)
    place = among(exists & (index != day.requests.at(row).place), u[0])
    return day.replace(requests=day.requests.replace(place=put(day.requests.place, row, place)))


def weigh_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request has another importance."""
    importance = other(IMPORTANCES, day.requests.importance[row], u[0])
    return day.replace(requests=day.requests.replace(importance=put(day.requests.importance, row, importance)))


def bend_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request that may not be moved may, or the other way round."""
    return day.replace(flexible=put(day.flexible, row, ~day.flexible[row]))


def can_copy_request(day: Scenario) -> jax.Array:
    """[Q] bool: there is room for one request more."""
    has_room = day.num_requests < min(MAX_REQUESTS, day.flexible.shape[0])
    return request_exists(day) & has_room & has_slot(day)


def copy_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One request more, at the end of the queue: another one, up to two hours earlier or later."""
    last = day.num_requests
    requests = jax.tree.map(lambda column: put(column, last, column[row]), day.requests)
    more = day.replace(
        requests=requests,
        flexible=put(day.flexible, last, day.flexible[row]),
        num_requests=last + jnp.int8(1),
        max_steps=day.max_steps + jnp.int16(1),
    )
    return _at_times(more, last, *_moved(day.requests.at(row), u[0], COPIED))


def can_drop_request(day: Scenario) -> jax.Array:
    """[Q] bool: something is left to decide."""
    return request_exists(day) & (day.num_requests > FEWEST_REQUESTS)


def drop_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One request less."""
    return day.replace(
        requests=jax.tree.map(lambda column: without_row(column, row, 0), day.requests),
        flexible=without_row(day.flexible, row, False),
        num_requests=day.num_requests - jnp.int8(1),
        max_steps=day.max_steps - jnp.int16(1),
    )


def _moved(request: Event, u: jax.Array, most: int) -> tuple[jax.Array, jax.Array]:
    """(start, end) of a request that is up to `most` minutes earlier or later, in the day, at a multiple of five."""
    steps, length = most // 5, request.end - request.start
    drawn = as_integer(u, 1, 2 * steps)
    by = 5 * jnp.where(drawn <= steps, drawn, steps - drawn)
    start = jnp.clip(request.start + by, 0, DAY_END - 5 - length) // 5 * 5
    return start, start + length


def _at_times(day: Scenario, row: jax.Array, start: jax.Array, end: jax.Array) -> Scenario:
    """The day with other times of a request."""
    requests = day.requests
    return day.replace(
        requests=requests.replace(start=put(requests.start, row, start), end=put(requests.end, row, end))
    )
