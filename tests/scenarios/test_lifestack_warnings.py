"""LifeStack documents that are allowed but unusual: what is warned of, and what is not."""

from pathlib import Path
from typing import Any

import pytest

import scenarios
from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING, NUM_VERBS
from scenarios.lifestack import Task
from scenarios.lifestack.checks import warnings
from strategies.lifestack_tasks import STRESS, TASK, document, milestones

WARNINGS = {
    "a failure that nothing brings about": (
        ("{key: rain, op: gt, value: 8}", "{key: rained, value: true}"),
        [":11:", "the failure cannot happen", "rained eq true never holds", "nothing sets 'rained'", "mean 'rain'?"],
    ),
    "a failure on a metric that nothing moves": (
        ("{key: rain, op: gt, value: 8}", "{key: finances.liquidity, op: lt, value: 10}"),
        [":11:", "the failure cannot happen", "finances.liquidity lt 10 never holds", "from 70 to 70"],
    ),
    "a failure on a value that the key never takes": (
        ("op: gt, value: 8", "op: gt, value: 9"),
        [":11:", "the failure cannot happen", "'rain' is only ever 3, 9"],
    ),
    "a precondition that never holds": (
        ("  - id: pack\n", "  - id: fly\n    preconditions: {van: big}\n  - id: pack\n"),
        [":15:", "'fly'", 'van eq "big" never holds', "'van' is only ever \"none\""],
    ),
    "a milestone that is never reached": (
        ("condition_value: true", "condition_value: 1"),
        [":24:", "'boxes'", "packed eq 1 never holds", "'packed' is only ever false, true"],
    ),
    "one of several that never holds": (
        ("op: gt, value: 8}", "op: gt, value: 8}\n      - {key: raim, value: 8}"),
        [":13:", "raim eq 8 never holds", "nothing sets 'raim'", "Did you mean 'rain'?"],
    ),
    "a metric that is nearly spelled": (
        ("op: gt, value: 8}", "op: gt, value: 8}\n      - {key: admin_overhead, op: gt, value: 8}"),
        [":13:", "nothing sets 'admin_overhead'", "Did you mean 'time.admin_overhead'?"],
    ),
    "a bound beyond all metrics": (
        ("op: gt, value: 8}", "op: gt, value: 8}\n      - {key: career.stability, op: gt, value: 100}"),
        [":13:", "career.stability gt 100 never holds"],
    ),
    "an event at the deadline": (
        ("step: 4", "step: 12"),
        [":27:", "the event 'storm' never fires", "not before the deadline_step, 12"],
    ),
    "stakes": (("reward: 1}", "reward: 12}"), [":13:", "sum to 12", "from 12 on"]),
    "no success": (
        ("success_conditions:\n  - {key: moved, value: true}\n", ""),
        ["the task cannot be won", "no success_conditions"],
    ),
    "a success that nothing sets": (
        ("{key: moved, value: true}", "{key: move, value: true}"),
        [":9:", "the task cannot be won", "nothing sets 'move'", "Did you mean 'moved'?"],
    ),
    "a success behind a route that cannot be paid": (
        ("    effects: {mental", "    cost: {money: 2001}\n    effects: {mental"),
        [":9:", "the task cannot be won", "moved eq true never holds"],
    ),
}


@pytest.mark.parametrize(("change", "words"), WARNINGS.values(), ids=WARNINGS)
def test_unusual_documents_are_warned_of(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    assert change[0] in TASK
    (file := tmp_path / "task.yaml").write_text(TASK.replace(*change, 1))
    (warning,) = (text for text in scenarios.load(file).warnings if "rain gt 8" not in text)
    for word in ["task.yaml:", "scenario 'move'", *words]:
        assert word in warning, warning


def texts_of(**fields: Any) -> list[str]:
    return [problem.text for problem in warnings(Task.model_validate(document(**fields)))]


@pytest.mark.parametrize(
    ("reward", "constraints", "is_warned"),
    [(11.99, {"deadline_step": 9}, False), (12, {"deadline_step": 9}, True), (6.99, {}, False), (7, {}, True)],
)
def test_stakes_count_rewards_of_routes_and_milestones(reward: float, constraints: dict, is_warned: bool) -> None:
    routes = [{"id": "go", "consequences": {"done": True}, "final_reward": reward - 2}]
    found = texts_of(
        viable_routes=routes, milestones=[{**milestones([("done", True)])[0], "reward": 2}], constraints=constraints
    )
    assert any("sum to" in text for text in found) == is_warned
    assert len(found) == is_warned


@pytest.mark.parametrize(("step", "is_warned"), [(9, False), (10, True), (-1, False)])
def test_events_fire_before_the_horizon(step: int, is_warned: bool) -> None:
    found = texts_of(event_schedule=[{"id": "late", "step": step}])
    assert any("never fires: step 10 is not before the horizon, 10" in text for text in found) == is_warned
    assert len(found) == is_warned


def test_an_event_that_never_fires_brings_nothing_about() -> None:
    success = [{"key": "luck", "value": 1}]
    lucky = {"id": "luck", "step": 3, "world_mutation": {"luck": 1}}
    assert texts_of(success_conditions=success, event_schedule=[lucky]) == []
    late, impossible = texts_of(success_conditions=success, event_schedule=[{**lucky, "step": 10}])[::-1]
    assert "never fires" in late
    assert "cannot be won" in impossible
    assert "cannot be won" in texts_of(success_conditions=success, event_schedule=[{**lucky, "probability": 0}])[0]


def test_metrics_are_moved_by_routes_events_and_upkeep() -> None:
    def wins(metric: str, op: str, value: float, **fields: Any) -> bool:
        conditions = [{"key": metric, "op": op, "value": value}]
        return not texts_of(success_conditions=conditions, **fields)

    liquidity = "finances.liquidity"
    assert not wins(liquidity, "ge", 80)
    assert wins(liquidity, "ge", 80, viable_routes=[{"id": "go", "effects": {liquidity: 10}}])
    assert not wins(liquidity, "ge", 80.5, viable_routes=[{"id": "go", "effects": {liquidity: 10}}])
    assert wins(liquidity, "lt", 60, event_schedule=[{"id": "fee", "step": 1, "effects": {liquidity: -11}}])
    assert wins(STRESS, "le", 1)  # rest
    assert not wins(STRESS, "ge", 41)
    assert wins("relationships.social", "le", 1)  # deprioritize
    assert not wins("mental_wellbeing.clarity", "le", 69)
    assert wins("time.free_hours_per_week", "ge", 99)
    verbs, upkeep = EFFECTS[:NUM_VERBS], EFFECTS[FIRST_UPKEEP:INSPECTING]
    assert not ((verbs.min(0) < 0) & (upkeep.min(0) >= 0) | (verbs.max(0) > 0) & (upkeep.max(0) <= 0)).any()


def test_chains_are_followed() -> None:
    def chain(first: str) -> list[dict]:
        return [
            {"id": "c", "preconditions": {"b": 1}, "consequences": {"done": True}},
            {"id": "b", "preconditions": {"a": 1}, "consequences": {"b": 1}},
            {"id": "a", "preconditions": {"start": first}, "consequences": {"a": 1}},
        ]

    start = {"start": "yes"}
    task, broken = document(viable_routes=chain("yes"), mutable_world=start), document(viable_routes=chain("no"))
    assert texts_of(**task) == []
    unwinnable, *preconditions = texts_of(**broken, mutable_world=start)
    assert "the task cannot be won: done eq true never holds" in unwinnable
    assert [text.split(" never")[0] for text in preconditions] == ["b eq 1", "a eq 1", 'start eq "no"']
