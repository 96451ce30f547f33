"""A crisis as lines of plain text."""

from jaxenv.rendering.lifestack.crisis import OPEN, RESOURCES, Crisis, Fact, Milestone, Need, Route
from jaxenv.rendering.lifestack.signs import COLLAPSE, SIGNS, UNITS, domains, metric_name
from jaxenv.rendering.tables import sections, table

UNKNOWN = "?"


def title(crisis: Crisis) -> str:
    """Which crisis it is."""
    return " · ".join(filter(None, [crisis.names.task, crisis.names.domain])) or "a crisis"


def moment(crisis: Crisis) -> str:
    """How far it has come."""
    deadline = "" if crisis.deadline is None else f", deadline {crisis.deadline}"
    return " · ".join(filter(None, [f"step {crisis.clock} of {crisis.horizon}{deadline}", crisis.outcome]))


def body(crisis: Crisis) -> str:
    """Goal, resources, conditions, routes, facts, milestones, events and metrics."""
    conditions = {"Succeeds when all hold": crisis.success, "Fails when one holds": crisis.failure}
    parts = {
        heading: [f"{SIGNS[condition.stands]} {condition.at_length}" for condition in members]
        for heading, members in conditions.items()
        if members
    }
    parts |= {
        "Routes": [line for route in crisis.routes for line in _route_lines(crisis, route)] or ["none"],
        "Facts": table(map(_fact_row, crisis.facts)) or ["none"],
        "Milestones": table(map(_milestone_row, crisis.milestones)) or ["none"],
        "Events that were told": [crisis.names.events[event] for event in crisis.events] or ["none"],
        "Metrics, turned so that more is better (↓ is 100 minus the value)": _metric_lines(crisis),
    }
    goal = [crisis.names.goal] if crisis.names.goal else []
    return "\n".join([*goal, resources(crisis), *sections(parts)])


def resources(crisis: Crisis) -> str:
    """What is left of time, money and energy."""
    return ", ".join(f"{name} {crisis.has[name]:g} of {crisis.had[name]:g}{UNITS[name]}" for name in RESOURCES)


def verbs_in_words(route: Route) -> str:
    """What a route asks to be done, what has been done ticked."""
    return ", ".join(f"✓ {verb}" if done else verb for verb, done in route.verbs)


def _route_lines(crisis: Crisis, route: Route) -> list[str]:
    """A route: its state, verbs and reward; under it what it needs and does."""
    status = "leads to success" if route.serves else route.status
    head = [route.name, f"[{status}]", verbs_in_words(route) if route.status == OPEN else "", f"{route.reward:+g}"]
    parts = {
        "costs": route.price,
        "needs": ", ".join(_need(crisis, need) for need in route.needs),
        "sets": ", ".join(f"{crisis.facts[write.key].name} = {write.value}" for write in route.writes),
        "helps": ", ".join(route.enables),
        "closes": ", ".join(route.closes),
    }
    return ["  ".join(filter(None, head)), *(f"    {word} {said}" for word, said in parts.items() if said)]


def _need(crisis: Crisis, need: Need) -> str:
    """A precondition and how it stands."""
    name = crisis.bounds[need.slot].words if need.of_bound else crisis.facts[need.slot].name
    return f"{SIGNS[need.stands]} {name}"


def _fact_row(fact: Fact) -> list[str]:
    value = UNKNOWN if fact.value is None else fact.value
    return [fact.name, value, "always shown" if fact.shown else "", "wanted" if fact.wanted else ""]


def _milestone_row(milestone: Milestone) -> list[str]:
    return [milestone.status, f"{milestone.reward:+g}", milestone.name]


def _metric_lines(crisis: Crisis) -> list[str]:
    """A line for each domain; what has collapsed is marked."""

    def said(number: int) -> str:
        value = float(crisis.metrics[number])
        return f"{metric_name(number)} {value:.1f}{'!' if value < COLLAPSE else ''}"

    return table([domain, ", ".join(map(said, numbers))] for domain, numbers in domains().items())
