"""Week shown: the five days as a calendar, the projects as a board, the open channel, and its actions in words."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxenv.envs.week import Params, State, Week
from jaxenv.envs.week.actions import VERBS
from jaxenv.envs.week.types import NONE
from jaxenv.envs.week.view import panels, text
from jaxenv.envs.week.view.names import Names as Names
from jaxenv.envs.week.view.names import names_of
from jaxenv.envs.week.view.snapshot import Message, ShownWeek, attended_now, head_of, messages_of, read, trail
from jaxenv.rendering.view import Given, Scene, View, scenario_of, scenes_of


def shown(env: Week, states: Sequence[State], params: Params, names: Given) -> list[ShownWeek]:
    """The states of one episode in plain Python."""
    week = scenario_of(params, states[0])
    names_of_all = names_of(week, names)
    notes = [(np.asarray(o.told), np.asarray(o.age)) for o in (_observe(env, state, params) for state in states)]
    weeks = [read(state, week, names_of_all, note) for state, note in zip(states, notes, strict=True)]
    return [dataclasses.replace(week, trail=done) for week, done in zip(weeks, trail(states), strict=True)]


def scenes(env: Week, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode as calendars; see `View`."""
    weeks = shown(env, states, params, names)
    return scenes_of(
        weeks, text, panels.draw_calendar, panels.draw_board, panels.draw_calendar, size=panels.PAGE, share=panels.SHARE
    )


def describe_action(env: Week, state: State, action: Any, params: Params, names: Given) -> str:
    """The meaning of an action in a state; see `View`."""
    if not 0 <= action < env.num_actions:
        return f"action {action}, which does not exist"
    week = scenario_of(params, state)
    given = names_of(week, names)
    phrase = phrase_of(env, int(action), given, head_of(messages_of(state, week, given)), attended_now(state, week))
    return phrase if _observe(env, state, params).action_mask[int(action)] else f"{phrase}, not legal"


def phrase_of(env: Week, action: int, names: Names, head: Message | None, meeting: int) -> str:
    """An entry of the catalogue, where `head` waits for a reply, and one could attend `meeting`, or NONE."""
    verb, number = env.catalogue.table[action].tolist()
    jobs = dict(enumerate(names.jobs))
    replies = dict(enumerate(head.answers if head else ()))
    name, about = {
        "go": ("go to", names.places),
        "work": ("work on", jobs),
        "open": ("open", names.channels),
        "reply": ("reply", replies),
        "attend": ("attend", {0: names.events[meeting]} if meeting != NONE else None),
    }.get(VERBS[verb].name, (VERBS[verb].name, None))
    return name if about is None else f"{name} {about.get(number, f'({number + 1}, which does not exist)')}"


def describe_step(env: Week, state: State, next_state: State, action: Any, params: Params, names: Given) -> list[str]:
    """Meetings and jobs that are over, and what was noted; see `View`."""
    del action
    before, after = shown(env, [state, next_state], params, names)
    lines = [
        f"{now.name}: {now.status}" for was, now in _pairs(before.jobs, after.jobs) if was.status != now.status in ENDS
    ]
    over = [now for was, now in _pairs(before.meetings, after.meetings) if was.status != now.status == "over"]
    lines += [
        f"{meeting.name}: attended {meeting.attended} of {meeting.end - meeting.start} quarters" for meeting in over
    ]
    notes = {(note.question, note.answer) for note in before.notes}
    return lines + [
        f"noted: {note.question} {note.answer}" for note in after.notes if (note.question, note.answer) not in notes
    ]


def _pairs(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[Any, Any]]:
    """What is shown both before and after, by name."""
    known = {one.name: one for one in before}
    return [(known[one.name], one) for one in after if one.name in known]


_observe = jax.jit(lambda env, state, params: env.observe(state, params), static_argnums=0)

ENDS = ("done", "failed", "late")  # of a job that one did not give up

VIEW = View(scenes=scenes, describe_action=describe_action, describe_step=describe_step)
