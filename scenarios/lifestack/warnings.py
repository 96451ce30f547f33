"""Warnings about a task: allowed but rarely intended contents."""

import itertools
from collections.abc import Iterable, Iterator

from jaxenv.envs.lifestack.metrics import METRICS, UNIT, index
from jaxenv.host.names import did_you_mean
from scenarios.lifestack.conditions import AnyOf, Condition
from scenarios.lifestack.document import Task
from scenarios.lifestack.reach import Reach, never_fires
from scenarios.text.errors import MAX_QUOTE, Problem, named, quote

MAX_STAKES = 12  # side income from which on winning may not pay
MAX_STAKES_WITHOUT_DEADLINE = 7
MAX_WORDED = 3  # alternatives of a condition that a warning explains


def warnings(task: Task) -> list[Problem]:
    """Remarks on allowed but rarely intended contents."""
    reach = Reach.of(task)
    return [
        *_unwinnable(task, reach),
        *_impossible_failures(task, reach),
        *_impossible_conditions(task, reach),
        *_late_events(task),
        *_stakes(task),
    ]


def _unwinnable(task: Task, reach: Reach) -> Iterator[Problem]:
    """Tasks that cannot be won."""
    if not task.success_conditions:
        yield Problem((), "the task cannot be won: there are no success_conditions.")
    for n in _impossible_members(task.success_conditions, reach):
        text = f"the task cannot be won: {_why_not(task.success_conditions[n].alternatives, reach)}"
        yield Problem(("success_conditions", n), text)


def _impossible_failures(task: Task, reach: Reach) -> Iterator[Problem]:
    """Failures that neither routes nor events nor upkeep can bring about."""
    for n in _impossible_members(task.failure_conditions, reach):
        text = f"the failure cannot happen: {_why_not(task.failure_conditions[n].alternatives, reach)}"
        yield Problem(("failure_conditions", n), text)


def _impossible_conditions(task: Task, reach: Reach) -> Iterator[Problem]:
    """All other conditions that can never hold."""
    reported = {
        (field, n)
        for field in ("success_conditions", "failure_conditions")
        for n in _impossible_members(task[field], reach)
    }
    for path, condition in task.conditions():
        if path[:2] not in reported and not reach.allows(condition):
            yield Problem(path, _why_not([condition], reach))


def _impossible_members(members: Iterable[Condition | AnyOf], reach: Reach) -> list[int]:
    """Which members have no alternative that could hold."""
    return [n for n, member in enumerate(members) if not any(map(reach.allows, member.alternatives))]


def _why_not(conditions: Iterable[Condition], reach: Reach) -> str:
    """Why some conditions can never hold."""
    return " ".join(
        f"{each.key[:MAX_QUOTE]} {each.op} {quote(each.value)} never holds: {_what_holds(each, reach)}"
        for each in itertools.islice(conditions, MAX_WORDED)
    )


def _what_holds(condition: Condition, reach: Reach) -> str:
    """The values that the key of a condition takes instead; if nothing sets it, the nearest name of another."""
    key, facts = condition.key, reach.facts
    if key in METRICS:
        low, high = reach.low[index(key)] / UNIT, reach.high[index(key)] / UNIT
        return f"the metric stays from {low:g} to {high:g}."
    if not facts.values[key]:
        others = [name for name, taken in facts.values.items() if taken]
        return f"nothing sets {named(key)}.{did_you_mean(key, [*others, *METRICS])}"
    met = [facts.value(key, code) for code in range(len(facts.values[key]) + 1) if reach.codes[key] >> code & 1]
    return f"{named(key)} is only ever {', '.join(map(quote, met))}."


def _late_events(task: Task) -> Iterator[Problem]:
    """Events that come when the task is over."""
    for n, event in enumerate(task.event_schedule):
        if never_fires(task, event):
            which = "horizon" if task.last_step == task.horizon else "deadline_step"
            late = f"step {event.step} is not before the {which}, {task.last_step}."
            yield Problem(("event_schedule", n, "step"), f"the event {named(event.id)} never fires: {late}")


def _stakes(task: Task) -> Iterator[Problem]:
    """Side income for which delaying the win may pay."""
    stakes = sum(route.final_reward for route in task.viable_routes) + sum(item.reward for item in task.milestones)
    deadline = task.constraints.deadline_step
    most = MAX_STAKES if deadline else MAX_STAKES_WITHOUT_DEADLINE
    if stakes >= most:
        without = "" if deadline else " without a deadline_step"
        text = (
            f"the rewards of routes and milestones sum to {stakes:g}, and from {most}{without} on the best play may "
            "be to delay winning. Lower them."
        )
        yield Problem(("viable_routes",), text)
