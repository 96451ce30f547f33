"""A state of LifeStack in the words of its document: names, the actions of the catalogue, and the observation."""

from collections.abc import Sequence
from typing import Any

from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECT, INSPECTING, UPKEEP, VERBS, WAIT
from jaxenv.envs.lifestack.metrics import METRICS, UNIT
from jaxenv.envs.lifestack.view import shown, snapshot
from jaxenv.envs.lifestack.view.snapshot import FAILS, HOLDS, LOCKED, NOT_KNOWN, OPEN, REACHED
from jaxenv.rendering.view import remembered
from scenarios.document_format import Moment
from scenarios.lifestack.document import Action, Milestone, Route, Task
from scenarios.lifestack.facts import Facts

UNKNOWN_FACT = "unknown"
RELATIONS = {HOLDS: "holds", FAILS: "fails", NOT_KNOWN: UNKNOWN_FACT}  # of a precondition


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
    """The agent's observation: what is shown of a crisis, in the values of its document.

    So there are no hidden facts, and nothing of the future.
    """
    task, crisis = moment.document, shown(moment.env, moment.state, moment.params, moment.names)
    facts, plain = Facts.of(task), task.plain()
    seen = zip(facts.keys, crisis.facts, strict=True)
    return {
        "scenario_id": task.id,
        "domain": task.domain,
        "goal": task.goal,
        "facts": {key: UNKNOWN_FACT if now.value is None else facts.value(key, now.code) for key, now in seen},
        "success_conditions": plain.get("success_conditions", []),
        "failure_conditions": plain.get("failure_conditions", []),
        "routes": [_route(route, now) for route, now in zip(task.viable_routes, crisis.routes, strict=True)],
        "milestones": [_milestone(each, now) for each, now in zip(task.milestones, crisis.milestones, strict=True)],
        "events": [task.event_schedule[number].id for number in crisis.events],
        "metrics": {path: int(value) / UNIT for path, value in zip(METRICS, moment.state.metrics, strict=True)},
        "resources": dict(crisis.resources),
        "step_count": crisis.clock,
        "horizon": crisis.horizon,
        "deadline_step": crisis.deadline,
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


def _route(route: Route, now: snapshot.Route) -> dict[str, Any]:
    """One route, and its status as far as the agent knows."""
    needs = zip(route.preconditions, now.needs, strict=True)  # both in document order
    return {
        "id": route.id,
        "name": route.name,
        "description": route.description,
        "status": now.status,
        "outstanding": [verb for verb, done in now.verbs if now.status == OPEN and not done],
        "preconditions": {key: RELATIONS[need.status] for key, need in needs},
        "consequences": dict(route.consequences),
        "closes_routes": list(route.closes_routes),
        "final_reward": route.final_reward,
        "cost": route.cost.model_dump(),
    }


def _milestone(milestone: Milestone, now: snapshot.Milestone) -> dict[str, Any]:
    """One milestone."""
    return {
        "id": milestone.id,
        "description": milestone.description,
        "reward": milestone.reward,
        "open": now.status != LOCKED,
        "reached": now.status == REACHED,
    }
