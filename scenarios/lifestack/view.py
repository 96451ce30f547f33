"""A state of LifeStack in the words of its document: names, the actions of the catalogue, and the observation."""

from collections.abc import Sequence
from typing import Any

from jaxenv.envs.lifestack import LifeStack, State
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECT, INSPECTING, UPKEEP, VERBS, WAIT
from jaxenv.envs.lifestack.metrics import METRICS, UNIT
from jaxenv.envs.lifestack.types import CENTS, RUNNING, UNKNOWN
from jaxenv.rendering.view import remembered
from scenarios.document_format import Moment
from scenarios.lifestack.document import Action, Condition, Milestone, Route, Task
from scenarios.lifestack.facts import Facts, bound

UNKNOWN_FACT = "unknown"
HOLDS, FAILS = "holds", "fails"  # of a precondition, besides UNKNOWN_FACT


def names(task: Task, documents: Sequence[Task] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.lifestack.view.Names`: names or descriptions, otherwise ids.

    >>> import scenarios
    >>> task = scenarios.load("lifestack/exam_resit").documents[0]
    >>> names(task)["milestones"][0]
    'The mock exam went well.'

    Args:
        task: the document.
        documents: all those of its bank, which share no names.
    """
    values = Facts.of(task).values
    return {
        "task": task.id,
        "domain": task.domain,
        "goal": task.goal,
        "keys": tuple(values),
        "values": tuple(tuple(map(_text, taken)) for taken in values.values()),
        "routes": tuple(route.name or route.id for route in task.viable_routes),
        "milestones": tuple(milestone.description or milestone.id for milestone in task.milestones),
        "events": tuple(event.id for event in task.event_schedule),
        "stories": tuple(event.description for event in task.event_schedule),
    }


def _text(value: Any) -> str:
    """A value as documents write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def has_ended(moment: Moment) -> bool:
    """Whether the task has ended, or the horizon is reached."""
    return bool(moment.state.outcome != RUNNING or moment.state.clock >= moment.document.horizon)


def actions(moment: Moment) -> list[dict[str, Any]]:
    """Each entry of the catalogue as a document action; a slot that the task leaves empty gets a placeholder."""
    return [dict(action) for action in _actions(moment.env, moment.document)]


@remembered
def _actions(env: LifeStack, task: Task) -> list[dict[str, Any]]:
    """The same at any moment of a task."""
    routes, keys = [route.id for route in task.viable_routes], Facts.of(task).keys
    return [
        _action(activity, _slot(routes, route, "route"), _slot(keys, key, "key")).model_dump()
        for activity, route, key in env.catalogue.table.tolist()
    ]


def observation(moment: Moment) -> dict[str, Any]:
    """The agent's observation; it leaves out hidden facts and the future."""
    task, state = moment.document, moment.state
    facts = Facts.of(task)
    codes = zip(facts.keys, state.facts, state.known, strict=False)
    known = {key: int(fact if key in task.visible_world else seen) for key, fact, seen in codes}
    plain = task.plain()
    return {
        "scenario_id": task.id,
        "domain": task.domain,
        "goal": task.goal,
        "facts": {key: UNKNOWN_FACT if code == UNKNOWN else facts.value(key, code) for key, code in known.items()},
        "success_conditions": plain.get("success_conditions", []),
        "failure_conditions": plain.get("failure_conditions", []),
        "routes": [_route(route, n, state, facts, known) for n, route in enumerate(task.viable_routes)],
        "milestones": [_milestone(milestone, n, state, task) for n, milestone in enumerate(task.milestones)],
        "events": [event.id for n, event in enumerate(task.event_schedule) if state.fired[n] and not event.silent],
        "metrics": {path: int(value) / UNIT for path, value in zip(METRICS, state.metrics, strict=True)},
        "resources": {name: int(getattr(state, name)) / CENTS for name in ("time", "money", "energy")},
        "step_count": int(state.clock),
        "horizon": task.horizon,
        "deadline_step": task.constraints.deadline_step,
    }


def _slot(names: Any, place: int, what: str) -> str:
    """The name of a slot."""
    return names[place] if place < len(names) else f"(no {what} {place + 1})"


def _action(activity: int, route: str, key: str) -> Action:
    """One entry."""
    if activity < FIRST_UPKEEP:
        return Action(action_type=VERBS[activity], target=route)
    if activity < INSPECTING:
        return Action(action_type=UPKEEP[activity - FIRST_UPKEEP])
    return Action(action_type=INSPECT, target=key) if activity == INSPECTING else Action(action_type=WAIT)


def _route(route: Route, n: int, state: State, facts: Facts, known: dict[str, int]) -> dict[str, Any]:
    """One route, and its status as far as the agent knows."""
    status = "completed" if state.completed[n] else "closed" if state.closed[n] else "open"
    left = [verb for verb in VERBS if verb in route.verbs and not int(state.marks[n]) >> VERBS.index(verb) & 1]
    return {
        "id": route.id,
        "name": route.name,
        "description": route.description,
        "status": status,
        "outstanding": left if status == "open" else [],
        "preconditions": {each.key: _relation(each, state, facts, known) for each in route.conditions},
        "consequences": dict(route.consequences),
        "closes_routes": list(route.closes_routes),
        "final_reward": route.final_reward,
        "cost": route.cost.model_dump(),
    }


def _relation(condition: Condition, state: State, facts: Facts, known: dict[str, int]) -> str:
    """Whether a precondition holds, as far as the agent knows."""
    if condition.key in METRICS:
        metric, low, high = bound(condition)
        return HOLDS if low <= int(state.metrics[metric]) <= high else FAILS
    if known[condition.key] == UNKNOWN:
        return UNKNOWN_FACT
    return HOLDS if facts.codes(condition) >> known[condition.key] & 1 else FAILS


def _milestone(milestone: Milestone, n: int, state: State, task: Task) -> dict[str, Any]:
    """One milestone."""
    unlocking = [r for r, route in enumerate(task.viable_routes) if milestone.id in route.milestones_unlocked]
    return {
        "id": milestone.id,
        "description": milestone.description,
        "reward": milestone.reward,
        "open": not unlocking or any(bool(state.completed[r]) for r in unlocking),
        "reached": bool(state.reached[n]),
    }
