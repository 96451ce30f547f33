"""Edits of the tasks of a day."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import other, put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifeops.generator import MAX_TASKS, TASK_MINUTES
from jaxenv.envs.lifeops.mutation.requests import FEWEST_REQUESTS
from jaxenv.envs.lifeops.types import NO_LIMIT, Scenario

PRIORITIES = (1, 2, 3)
DUE_DAYS = (0, 1, 2, 3, NO_LIMIT)


def task_exists(day: Scenario) -> jax.Array:
    """[T] bool."""
    return day.tasks.priority > 0


def resize_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A task takes another time."""
    minutes = other(sorted({*TASK_MINUTES}), day.tasks.minutes[row], u[0])
    return day.replace(tasks=day.tasks.replace(minutes=put(day.tasks.minutes, row, minutes)))


def press_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A task is due on another day, or on none."""
    due_days = other(DUE_DAYS, day.tasks.due_days[row], u[0])
    return day.replace(tasks=day.tasks.replace(due_days=put(day.tasks.due_days, row, due_days)))


def can_add_task(day: Scenario) -> jax.Array:
    """[T] bool: the slot behind the last task, where there is room for one more."""
    size = day.tasks.priority.shape[0]
    count, index = jnp.sum(task_exists(day), dtype=jnp.int32), np.arange(size, dtype=np.int32)
    return (index == count) & (count < min(MAX_TASKS, size))


def add_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One task more, after all others."""
    tasks = day.tasks
    before = jnp.where(row > 0, tasks.priority[jnp.maximum(row - 1, 0)].astype(jnp.int32), max(PRIORITIES))
    minutes, due_days = jnp.asarray(TASK_MINUTES, jnp.int32), jnp.asarray(DUE_DAYS, jnp.int32)
    return day.replace(
        tasks=tasks.replace(
            minutes=put(tasks.minutes, row, minutes[as_integer(u[0], 0, len(TASK_MINUTES) - 1)]),
            priority=put(tasks.priority, row, as_integer(u[1], min(PRIORITIES), before)),
            due_days=put(tasks.due_days, row, due_days[as_integer(u[2], 0, len(DUE_DAYS) - 1)]),
        )
    )


def can_drop_task(day: Scenario) -> jax.Array:
    """[T] bool: something is left to decide."""
    return task_exists(day) & (day.num_requests >= FEWEST_REQUESTS)


def drop_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One task less."""
    tasks = day.tasks
    return day.replace(
        tasks=tasks.replace(
            minutes=without_row(tasks.minutes, row, 0),
            priority=without_row(tasks.priority, row, 0),
            due_days=without_row(tasks.due_days, row, NO_LIMIT),
        )
    )
