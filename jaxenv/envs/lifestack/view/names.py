"""Names of the facts, routes, milestones, events and metrics of a crisis."""

import dataclasses

from jaxenv.envs.lifestack.metrics import INVERTED, METRICS
from jaxenv.envs.lifestack.types import ABSENT, NEVER, Scenario
from jaxenv.rendering.names import Given, numbered, with_defaults
from jaxenv.rendering.text import spaced

WAITING = "none"  # the value of a fact that is absent


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        keys: by slot.
        values: by slot, in the order of codes from 1; None if unknown.
        routes: by slot.
        milestones: by slot.
        events: by slot.
        stories: by slot, the description of each event, or empty.
        task: the id, or empty.
        domain: the kind of crisis, or empty.
        goal: the aim, or empty.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]
    routes: tuple[str, ...]
    milestones: tuple[str, ...]
    events: tuple[str, ...]
    stories: tuple[str, ...]
    task: str = ""
    domain: str = ""
    goal: str = ""

    def value(self, key: int, code: int) -> str:
        """The meaning of a code."""
        if code == ABSENT:
            return WAITING
        values = self.values[key] or ()
        return values[code - 1] if code <= len(values) else f"value {code}"

    def set_of_values(self, key: int, codes: int) -> str:
        """A set of codes as a condition: `card = true`, `card is not true`, `count is 3 or 4`."""
        values = self.values[key]
        inside = [code for code in range(32) if codes >> code & 1]
        outside = [] if values is None else [code for code in range(len(values) + 1) if code not in inside]
        if len(inside) == 1:
            return f"{self.keys[key]} = {self.value(key, inside[0])}"
        if len(outside) == 1:
            return f"{self.keys[key]} is not {self.value(key, outside[0])}"
        return f"{self.keys[key]} is {' or '.join(self.value(key, code) for code in inside)}"


def names_of(crisis: Scenario, given: Given) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other facts, routes, milestones or events are given than the scenario has.
    """
    num_keys, num_events = int(crisis.num_keys), int((crisis.events.step != NEVER).sum())
    return with_defaults(
        Names,
        given,
        keys=numbered("fact", num_keys),
        values=(None,) * num_keys,
        routes=numbered("route", int(crisis.num_routes)),
        milestones=numbered("milestone", int(crisis.num_milestones)),
        events=numbered("event", num_events),
        stories=("",) * num_events,
    )


def path_in_words(path: str) -> str:
    """A metric for people: `mental_wellbeing.stress_level` as `stress level`."""
    return spaced(path.partition(".")[2])


def metric_name(number: int) -> str:
    """The name of a metric, behind an arrow if lower is better and 100 minus the value is shown."""
    return ("↓ " if INVERTED[number] else "") + path_in_words(METRICS[number])


def domains() -> dict[str, list[int]]:
    """The metrics of each domain, in order."""
    found: dict[str, list[int]] = {}
    for number, path in enumerate(METRICS):
        found.setdefault(spaced(path.partition(".")[0]), []).append(number)
    return found
