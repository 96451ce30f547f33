"""Week shown: the five days as a calendar, the projects as a board, the open channel, and its actions in words."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from jaxenv.envs.week import Params, State, Week
from jaxenv.envs.week.actions import VERBS
from jaxenv.envs.week.types import NONE
from jaxenv.envs.week.view import panels, text
from jaxenv.envs.week.view.names import Names as Names
from jaxenv.envs.week.view.names import names_of
from jaxenv.envs.week.view.snapshot import ShownWeek, attended_now, head_of, messages_of, read, trail
from jaxenv.rendering.view import Given, Scene, View, from_all, observe, remembered, scenario_of, scenes_of


@remembered
def shown(env: Week, state: State, params: Params, names: Given) -> ShownWeek:
    """A state in plain Python."""
    week = scenario_of(params, state)
    return read(observe(env, state, params), state, week, names_of(week, names))


def scenes(env: Week, states: Sequence[State], params: Params, names: Given) -> list[Scene]:
    """The states of one episode as calendars; see `View`."""
    weeks = [shown(env, state, params, names) for state in states]
    calendar = functools.partial(panels.draw_calendar, trail(states))
    return scenes_of(weeks, text, calendar, panels.draw_board, calendar, size=panels.PAGE, share=panels.SHARE)


def describe_actions(env: Week, state: State, params: Params, names: Given) -> list[str]:
    """The meaning of each action in a state; see `View`."""
    week = scenario_of(params, state)
    given = names_of(week, names)
    head, meeting = head_of(messages_of(state, week, given)), attended_now(state, week)
    about = {
        "go": ("go to", given.places),
        "work": ("work on", dict(enumerate(given.jobs))),
        "open": ("open", given.channels),
        "reply": ("reply", dict(enumerate(head.answers if head else ()))),
        "attend": ("attend", {0: given.events[meeting]} if meeting != NONE else None),
        "rest": ("rest", None),
    }
    return [_phrase(number, *about[VERBS[verb].name]) for verb, number in env.catalogue.table.tolist()]


def _phrase(number: int, name: str, targets: Mapping[int, str] | None) -> str:
    """A verb, and the target of that number where it has any."""
    return name if targets is None else f"{name} {targets.get(number, f'({number + 1}, which does not exist)')}"


def describe_step(env: Week, state: State, next_state: State, action: Any, params: Params, names: Given) -> list[str]:
    """Meetings and jobs that are over, and what was noted; see `View`."""
    del action
    before, after = (shown(env, each, params, names) for each in (state, next_state))
    jobs, meetings = _pairs(before.jobs, after.jobs), _pairs(before.meetings, after.meetings)
    over = [now for was, now in meetings if was.status not in OVER and now.status in OVER]
    known, noted = ([(note.question, note.answer) for note in week.notes] for week in (before, after))
    return [
        *(f"{now.name}: {now.status}" for was, now in jobs if was.status != now.status in ENDS),
        *(f"{each.name}: attended {each.attended} of {each.end - each.start} quarters" for each in over),
        *(f"noted: {question} {answer}" for question, answer in noted if (question, answer) not in known),
    ]


def _pairs(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[Any, Any]]:
    """What is shown both before and after, by name."""
    known = {one.name: one for one in before}
    return [(known[one.name], one) for one in after if one.name in known]


ENDS = ("done", "failed", "late")  # of a job that one did not give up
OVER = ("over", "missed")  # of a meeting

VIEW = View(scenes, from_all(describe_actions), describe_actions=describe_actions, describe_step=describe_step)
