"""Small edits of days, for curricula that build on the days that still teach something.

Whatever `generate` promises of every day holds after any number of edits: the calendar has no overlaps and time for
the way between its events, starts are multiples of five, counts and times stay within what is drawn. The shares by
which requests collide, lie outside the window or shadow each other are not kept. A day that was not drawn, such as one
of the library, stays a valid day.
"""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import Edit, edited
from jaxenv.core.types import Key
from jaxenv.envs.lifeops.dynamics import is_tight
from jaxenv.envs.lifeops.mutation import calendar, requests, tasks
from jaxenv.envs.lifeops.types import Scenario

EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "move request": Edit(requests.request_exists, requests.move_request),
        "resize request": Edit(requests.request_exists, requests.resize_request),
        "place request": Edit(requests.request_exists, requests.place_request),
        "weigh request": Edit(requests.request_exists, requests.weigh_request),
        "bend request": Edit(requests.request_exists, requests.bend_request),
        "copy request": Edit(requests.can_copy_request, requests.copy_request),
        "drop request": Edit(requests.can_drop_request, requests.drop_request),
        "shift event": Edit(calendar.can_shift_event, calendar.shift_event),
        "lengthen event": Edit(calendar.can_lengthen_event, calendar.lengthen_event),
        "shorten event": Edit(calendar.can_shorten_event, calendar.shorten_event),
        "add event": Edit(calendar.can_add_event, calendar.add_event),
        "drop event": Edit(calendar.event_exists, calendar.drop_event),
        "resize task": Edit(tasks.task_exists, tasks.resize_task),
        "press task": Edit(tasks.task_exists, tasks.press_task),
        "add task": Edit(tasks.can_add_task, tasks.add_task),
        "drop task": Edit(tasks.can_drop_task, tasks.drop_task),
    }
)
"""Name -> edit; each is as likely as any other that can be made."""


def mutate(key: Key, day: Scenario) -> Scenario:
    """The day after one edit of `EDITS`."""
    return _recounted(edited(key, jax.tree.map(jnp.asarray, day), EDITS))


def _recounted(day: Scenario) -> Scenario:
    """The day with overlaps and travel issues counted from its calendar."""
    start, end = day.calendar.start, day.calendar.end
    meets = (start[:, None] < end[None]) & (start[None] < end[:, None]) & np.triu(np.ones(start.shape * 2, bool), 1)
    index = jnp.arange(start.size - 1, dtype=jnp.int32)
    tight = is_tight(day.calendar.at(index), day.calendar.at(index + 1), day.travel) & calendar.event_exists(day)[1:]
    return day.replace(overlaps=jnp.sum(meets, dtype=jnp.int16), tight_legs=jnp.sum(tight, dtype=jnp.int16))
