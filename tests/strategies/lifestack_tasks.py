"""Tasks for the tests of documents: one as text, to be spoiled a word at a time, and small ones as mappings."""

from pathlib import Path
from typing import Any

TASK = (Path(__file__).parents[1] / "data" / "lifestack_move.yaml").read_text("utf-8")
STRESS = "mental_wellbeing.stress_level"


def document(**fields: Any) -> dict:
    """A task with one route, which wins."""
    routes = [{"id": "go", "consequences": {"done": True}}]
    won = [{"key": "done", "value": True}]
    return {"id": "big", "horizon": 10, "viable_routes": routes, "success_conditions": won, **fields}


def milestones(conditions: list[tuple]) -> list[dict]:
    """Milestones of conditions (key, value) or (key, value, op)."""
    fields = ("condition_key", "condition_value", "condition_op")
    return [{"id": f"m{n}", **dict(zip(fields, condition, strict=False))} for n, condition in enumerate(conditions)]
