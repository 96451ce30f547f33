"""A task as a page of text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP
from scenarios.lifestack.conditions import Condition
from scenarios.lifestack.document import ExoEvent, Milestone, Route, Task
from scenarios.lifestack.facts import Facts, hidden_keys, written_by_events
from scenarios.lifestack.start import resources
from scenarios.text.errors import quote
from scenarios.writing import aligned, as_page, folded

SIGNS = {"eq": "=", "ne": "≠", "gt": ">", "lt": "<", "ge": "≥", "le": "≤"}


def page(task: Task, name: str = "") -> str:
    """Everything in a document, hidden parts included; `name` is for a task without an id."""
    tier = task.domain_metadata.get("tier")
    words = [task.id or name or "a task", task.domain, str(tier or ""), f"difficulty {task.difficulty}"]
    title = " · ".join([*filter(None, words), f"at most {task.horizon} steps"])
    sections = {
        "Begins with": _start(task),
        "Succeeds when all hold": [_alternatives(member.alternatives) for member in task.success_conditions],
        "Fails when one holds": _failures(task),
        "Facts": aligned(_fact_rows(task)),
        "Routes": [line for route in task.viable_routes for line in _route_lines(route)],
        "Milestones": aligned(_milestone_row(milestone, task) for milestone in task.milestones),
        "Events": [line for event in task.event_schedule for line in _event_lines(event)],
    }
    story = str(task.domain_metadata.get("story", ""))
    return as_page(title, [*folded(task.goal), *folded(story)], sections)


def _start(task: Task) -> list[str]:
    """Resources, and the disruption."""
    has = {name: amount / CENTS for name, amount in resources(task).items()}
    lines = [f"time {has['time']:g} h, money {has['money']:g}, energy {has['energy']:g}"]
    return lines + ([_changes(task.disruption)] if task.disruption else [])


def _failures(task: Task) -> list[str]:
    """The failure conditions and the deadline."""
    deadline = task.constraints.deadline_step
    lines = [_alternatives(member.alternatives) for member in task.failure_conditions]
    return lines + ([f"step {deadline} has come without success"] if deadline else [])


def _fact_rows(task: Task) -> Iterator[list[str]]:
    """Columns of the facts."""
    facts, hidden, written = Facts.of(task), hidden_keys(task), written_by_events(task)
    for key in facts.keys:
        home = "hidden" if key in hidden else "shown" if key in task.visible_world else "world"
        first = quote(facts.value(key, facts.first[key]))
        yield [key, home, first, "events change it" if key in written else ""]


def _route_lines(route: Route) -> list[str]:
    """A route, its needs and its effects."""
    cost = route.cost
    priced = (("money", cost.money), ("hours", cost.time), ("energy", cost.energy))
    words = [route.id, " + ".join(route.verbs), f"reward {route.final_reward:g}"]
    words += [f"{what} {amount:g}" for what, amount in priced if amount]
    parts = {
        "": ": ".join(filter(None, [route.name, route.description])),
        "needs": ", ".join(map(_condition, route.conditions)),
        "sets": _writes(route.consequences),
        "closes": ", ".join(route.closes_routes),
        "unlocks": ", ".join(route.milestones_unlocked),
        "changes": _changes(route.effects),
    }
    return ["  ".join(words), *_parts(parts)]


def _milestone_row(milestone: Milestone, task: Task) -> list[str]:
    """Columns of a milestone."""
    keepers = [route.id for route in task.viable_routes if milestone.id in route.milestones_unlocked]
    behind = f"behind {' or '.join(keepers)}" if keepers else ""
    reward = f"reward {milestone.reward:g}"
    return [milestone.id, reward, _condition(milestone.condition), behind, milestone.description]


def _event_lines(event: ExoEvent) -> list[str]:
    """An event and its effects."""
    when = "any step, once" if event.step == EVERY_STEP else f"step {event.step}"
    words = [event.id, when, f"{100 * event.probability:g} %", "silent" if event.silent else ""]
    parts = {
        "": event.description,
        "sets": _writes(event.world_mutation),
        "sets hidden": _writes(event.hidden_state_mutation),
        "closes": ", ".join(event.closes_routes),
        "changes": _changes(event.effects),
    }
    return ["  ".join(filter(None, words)), *_parts(parts)]


def _parts(parts: Mapping[str, str]) -> list[str]:
    """The parts of a record that are not empty, indented."""
    return [f"    {' '.join(filter(None, [what, text]))}" for what, text in parts.items() if text]


def _condition(condition: Condition) -> str:
    return f"{condition.key} {SIGNS[condition.op]} {quote(condition.value)}"


def _alternatives(conditions: Iterable[Condition]) -> str:
    return " or ".join(map(_condition, conditions))


def _writes(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {quote(value)}" for key, value in facts.items())


def _changes(changes: Mapping[str, float]) -> str:
    return ", ".join(f"{path} {change:+g}" for path, change in changes.items())
