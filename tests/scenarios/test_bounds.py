"""A number has one bound: whatever a document may say lies within the spaces of its environment."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import scenarios
from jaxenv.core import fields
from jaxenv.core.spaces import Record
from jaxenv.envs.lifeops import types as lifeops
from jaxenv.envs.lifestack import types as lifestack
from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.teamsclone import types as teamsclone
from jaxenv.envs.week import types as week
from scenarios.libraries import SHIPPED

TYPES = {"lifeops": lifeops, "lifestack": lifestack, "teamsclone": teamsclone, "week": week}
APART = {"call_rate", "chatter", "available", "busy", "away", "offline", "start_time"}  # bounded together, or no number
COUNTED = {"horizon": 9, "step": 3, "deadline_step": 9}


def bounded(schema: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """The numbers of a schema that have two bounds: (name, least, greatest)."""
    for name, field in schema.get("properties", {}).items():
        most = field.get("maximum", field.get("exclusiveMaximum", 1) - 1)
        if "minimum" in field and {"maximum", "exclusiveMaximum"} & set(field):
            yield name, field["minimum"], most
    for record in schema.get("$defs", {}).values():
        yield from bounded(record)


def at_the_edge(value: Any, edges: dict[str, float]) -> Any:
    """A document in which every bounded number is at an edge."""
    if isinstance(value, dict):
        return {
            key: edges[key] if key in edges and isinstance(item, int | float) else at_the_edge(item, edges)
            for key, item in value.items()
        }
    return [at_the_edge(item, edges) for item in value] if isinstance(value, list) else value


def outside(space: Any, found: Any, name: str = "scenario") -> Iterator[str]:
    """The fields of stacked records that leave their space; in NumPy, since every shape would be compiled."""
    if isinstance(space, Record):
        for field, inner in space.fields:
            yield from outside(inner, getattr(found, field), field)
    elif not ((np.asarray(found) >= np.asarray(space.low)) & (np.asarray(found) <= np.asarray(space.high))).all():
        yield name


@pytest.mark.parametrize("name", TYPES)
def test_documents_at_the_edge_lie_within_the_spaces(name: str) -> None:
    (example,) = scenarios.load(SHIPPED / f"{name}.example.yaml").documents
    bounds = [found for found in bounded(scenarios.schema(name)) if found[0] not in APART]
    assert len(bounds) > 5
    least, greatest = (
        at_the_edge(example.plain(), {field: edges[which] for field, *edges in bounds} | COUNTED) for which in (0, 1)
    )
    assert least != greatest
    id = "scenario_id" if name == "lifeops" else "id"
    library = scenarios.parse(name, [least | {id: "least"}, greatest])
    space = fields.space(TYPES[name].Scenario, {"V": len(VERBS), **library.limits.sizes})
    assert not list(outside(space, library.bank.scenarios))


@pytest.mark.parametrize("reward", [100.5, 101, -101, 1000])
def test_rewards_beyond_the_space_are_refused(reward: float) -> None:
    task = {"horizon": 5, "viable_routes": [{"id": "r", "final_reward": reward}]}
    with pytest.raises(scenarios.ScenarioError, match="expected a number from -100 to 100"):
        scenarios.parse("lifestack", task)


def test_bounds_are_those_of_the_records() -> None:
    schemas = {name: scenarios.schema(name) for name in TYPES}

    def most(name: str, record: str, field: str) -> float:
        schema = schemas[name] if not record else schemas[name]["$defs"][record]
        return schema["properties"][field]["maximum"]

    assert (
        most("lifestack", "Route", "final_reward") == most("lifestack", "Milestone", "reward") == lifestack.MAX_REWARD
    )
    assert most("lifestack", "Cost", "money") * lifestack.CENTS == lifestack.MAX_AMOUNT
    assert most("lifestack", "Resources", "energy") * lifestack.CENTS == lifestack.MAX_ENERGY
    assert most("lifestack", "", "horizon") == lifestack.NEVER - 1
    assert most("teamsclone", "", "mention_window") == most("teamsclone", "", "call_length") == teamsclone.MAX_WAIT
    assert most("teamsclone", "Message", "agent") == teamsclone.MAX_AGENTS - 1
    assert most("lifeops", "Event", "start_min") == lifeops.DAY_END
    assert most("lifeops", "Task", "remaining_minutes") == lifeops.MAX_MINUTES
    assert most("lifeops", "Persona", "focus_time_weight") == lifeops.MAX_WEIGHT
