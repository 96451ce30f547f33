"""A crisis, an action, and the effects of a step, as plain text."""

from collections.abc import Iterator

import numpy as np

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECT, INSPECTING, UPKEEP, VERBS, WAIT
from jaxenv.envs.lifestack.types import BURNOUT, CONDITION, DEAD_END, DEADLINE, OUTCOMES
from jaxenv.envs.lifestack.view import snapshot
from jaxenv.envs.lifestack.view.snapshot import Crisis, Route, metric_name, stated
from jaxenv.rendering.text import joined, number, sections, table

UNITS = {"time": " h", "money": "", "energy": ""}
COLLAPSE = 20.0  # a metric, oriented so that higher is better, has collapsed below it
UNKNOWN = "?"  # the value of a fact
MAX_MOVED = 3  # metrics in the description of a step
MIN_MOVE = 0.5  # of a metric in the description of a step
REASONS = {
    OUTCOMES[CONDITION]: "a failure condition holds",
    OUTCOMES[DEADLINE]: "the deadline has come",
    OUTCOMES[DEAD_END]: "no route is left that could help",
}


def title(crisis: Crisis) -> str:
    """Which crisis it is."""
    return joined(crisis.names.task, crisis.names.domain) or "a crisis"


def moment(crisis: Crisis) -> str:
    """How far the crisis has come."""
    deadline = "" if crisis.deadline is None else f", deadline {crisis.deadline}"
    return joined(f"step {crisis.clock} of {crisis.horizon}{deadline}", crisis.outcome)


def body(crisis: Crisis) -> str:
    """Goal, resources, conditions, routes, facts, milestones, events and metrics."""
    conditions = {"Succeeds when all hold": crisis.success, "Fails when one holds": crisis.failure}
    resources = (f"{name} {crisis.resources[name]:g} of {crisis.initial[name]:g}{unit}" for name, unit in UNITS.items())
    facts = [
        [f.name, UNKNOWN if f.value is None else f.value, "always shown" * f.shown, "wanted" * f.wanted]
        for f in crisis.facts
    ]
    parts = {
        heading: [f"{condition.status} {condition.at_length}" for condition in members]
        for heading, members in conditions.items()
        if members
    }
    parts |= {
        "Routes": [line for route in crisis.routes for line in _route_lines(crisis, route)] or ["none"],
        "Facts": table(facts) or ["none"],
        "Milestones": table([m.status, f"{m.reward:+g}", m.name] for m in crisis.milestones) or ["none"],
        "Events": [crisis.names.events[event] for event in crisis.events] or ["none"],
        "Metrics, 0 to 100 (↓ lower is better)": _metric_lines(crisis),
    }
    return "\n".join([*filter(None, [crisis.names.goal]), ", ".join(resources), *sections(parts)])


def describe_action(names: snapshot.Names, verb: int, route: int, key: int) -> str:
    """An entry of the catalogue; a slot that the crisis leaves empty has a number."""
    if verb < FIRST_UPKEEP:
        return f"{VERBS[verb]}: {names.routes[route] if route < len(names.routes) else f'no route {route + 1}'}"
    if verb < INSPECTING:
        return f"upkeep: {UPKEEP[verb - FIRST_UPKEEP]}"
    fact = names.keys[key] if key < len(names.keys) else f"no fact {key + 1}"
    return f"{INSPECT} {fact}" if verb == INSPECTING else WAIT


def describe_step(before: Crisis, after: Crisis, attempted: int | None) -> list[str]:
    """The effects of a step that the agent sees; `attempted` is the slot of a route whose last verb it was, if any."""
    lines = [*_route_effects(before, after, attempted), *_facts(before, after), *_milestones(before, after)]
    return [*lines, *_events(before, after), *_metrics(before, after), *_end(after)]


def ticked_verbs(route: Route) -> list[str]:
    """The verbs that a route asks for, ticked if done."""
    return [f"✓ {verb}" if done else verb for verb, done in route.verbs]


def _route_lines(crisis: Crisis, route: Route) -> list[str]:
    """A route: its status, verbs and reward; below it its needs and effects."""

    def need(need: snapshot.Need) -> str:
        name = crisis.bounds[need.slot].words if need.kind == "bound" else crisis.facts[need.slot].name
        return f"{need.status} {name}"

    status = "leads to success" if route.leads_to_success else route.status
    verbs = ", ".join(ticked_verbs(route)) if route.status == snapshot.OPEN else ""
    parts = {
        "costs": route.price,
        "needs": ", ".join(map(need, route.needs)),
        "sets": ", ".join(f"{crisis.facts[write.key].name} = {write.value}" for write in route.writes),
        "helps": ", ".join(route.enables),
        "closes": ", ".join(route.closes),
    }
    head = "  ".join(filter(None, [route.name, f"[{status}]", verbs, f"{route.reward:+g}"]))
    return [head, *(f"    {word} {what}" for word, what in parts.items() if what)]


def _metric_lines(crisis: Crisis) -> list[str]:
    """A line for each domain; a metric that has collapsed is marked."""

    def describe(number: int) -> str:
        value = float(crisis.metrics[number])
        return f"{metric_name(number)} {stated(number, value):.1f}{'!' if value < COLLAPSE else ''}"

    return table([domain, ", ".join(map(describe, numbers))] for domain, numbers in snapshot.domains().items())


def _route_effects(before: Crisis, after: Crisis, attempted: int | None) -> Iterator[str]:
    """Routes that the step completed, failed to complete, and closed."""
    pairs = list(zip(before.routes, after.routes, strict=True))
    for slot, (was, now) in enumerate(pairs):
        if now.status == snapshot.COMPLETED != was.status:
            yield f"completed: {now.name}"
        elif slot == attempted:
            yield f"failed attempt: {now.name}"
    if closed := [now.name for was, now in pairs if now.status == snapshot.CLOSED != was.status]:
        yield f"closed: {', '.join(closed)}"


def _facts(before: Crisis, after: Crisis) -> Iterator[str]:
    """Facts that became known, or whose known value changed."""
    changed = [(was, now) for was, now in zip(before.facts, after.facts, strict=True) if was.value != now.value]
    for word, is_new in (("learned", True), ("now", False)):
        if facts := [f"{now.name} = {now.value}" for was, now in changed if (was.value is None) == is_new]:
            yield f"{word}: {', '.join(facts)}"


def _milestones(before: Crisis, after: Crisis) -> Iterator[str]:
    for was, now in zip(before.milestones, after.milestones, strict=True):
        if now.status == snapshot.REACHED != was.status:
            yield f"milestone: {now.name} ({now.reward:+g})"


def _events(before: Crisis, after: Crisis) -> Iterator[str]:
    """Events that are announced."""
    for event in after.events:
        if event not in before.events:
            story = after.names.stories[event]
            yield f"event: {after.names.events[event]}{f' ({story})' if story else ''}"


def _metrics(before: Crisis, after: Crisis) -> Iterator[str]:
    """The metrics that moved most."""
    was, now = ([stated(n, value) for n, value in enumerate(crisis.metrics.tolist())] for crisis in (before, after))
    moves = [value - past for past, value in zip(was, now, strict=True)]
    most = [n for n in sorted(range(len(moves)), key=lambda n: -abs(moves[n]))[:MAX_MOVED] if abs(moves[n]) >= MIN_MOVE]
    if most:
        described = (f"{metric_name(n)} {number(moves[n], '+.1f')} to {number(now[n], '.1f')}" for n in most)
        yield f"moved most: {', '.join(described)}"


def _end(after: Crisis) -> Iterator[str]:
    """Why the episode ended."""
    if after.outcome == OUTCOMES[BURNOUT]:
        exhausted = (f"{metric_name(n)} at {stated(n, 0.0):g}" for n in np.flatnonzero(after.metrics <= 0).tolist())
        yield f"end: burnout, {', '.join(exhausted)}"
    elif after.outcome:
        yield f"end: {REASONS.get(after.outcome, after.outcome)}"
