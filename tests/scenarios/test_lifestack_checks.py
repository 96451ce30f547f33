"""LifeStack documents that are not tasks: the place, what is wrong, and the way out."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.envs.lifestack import Limits
from scenarios import ScenarioError
from scenarios.lifestack import Task
from strategies.lifestack_tasks import STRESS, TASK, document, milestones


def refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "task.yaml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as error:
        scenarios.load(file)
    assert len(error.value.problems) == 1, error.value
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_task_itself_is_fine(tmp_path: Path) -> None:
    (file := tmp_path / "task.yaml").write_text(TASK)
    library = scenarios.load(file)
    assert (library.environment, library.ids, library.warnings) == ("lifestack", ("move",), ())


ERRORS = {
    # one field at a time
    "unknown field": (("horizon: 20", "horizn: 20"), [":3:", "'horizn'", "Did you mean 'horizon'?", "viable_routes"]),
    "missing field": (("horizon: 20\n", ""), ["task.yaml:1:", "'horizon' is missing"]),
    "horizon": (("horizon: 20", "horizon: 0"), [":3:", "horizon is 0", "1 to 32766"]),
    "unknown constraint": (("deadline_step", "deadline"), [":4:", "'deadline'", "Did you mean 'deadline_step'?"]),
    "unknown verb": (
        ("[prepare, execute]", "[prepare, exeute]"),
        [":15:", "'pack'", '"exeute"', "Did you mean 'execute'?", "self_care"],
    ),
    "unknown operator": (("op: gt", "op: gtt"), [":12:", '"gtt"', "Did you mean 'gt'?"]),
    "unknown field of a comparison": (
        ("{op: le, value: 5}", "{op: le, valu: 5}"),
        [":19:", "'drive'", "'valu'", "Did you mean 'value'?"],
    ),
    "unknown field of a condition": (("{key: moved, value", "{key: moved, vale"), [":9:", "'vale'", "key, value, op"]),
    "more than any": (("  - any:", "  - op: eq\n    any:"), [":11:", "unknown field 'op'", "The fields are any."]),
    "none of any": (
        ("  - any:\n      - {key: rain, op: gt, value: 8}", "  - {any: []}"),
        [":11:", "at least one item"],
    ),
    "no condition": (("  - {key: moved, value: true}", "  - moved"), [":9:", '"moved"', "a mapping"]),
    "probability": (("probability: 0.5", "probability: 1.5"), [":28:", "'storm'", "1.5", "0 to 1"]),
    "step": (("step: 4", "step: -2"), [":27:", "step is -2", "-1 for any step"]),
    "too much energy": (("energy: 80", "energy: 100.5"), [":33:", "energy is 100.5", "0 to 100"]),
    "a change that is too large": (("clarity: 5", "clarity: 101"), [":22:", "101", "-100 to 100"]),
    "reward": (("reward: 1", "reward: high"), [":24:", "'boxes'", '"high"', "a number from"]),
    "difficulty": (("horizon: 20", "horizon: 20\ndifficulty: 6"), [":4:", "6", "1 to 5"]),
    # together
    "repeated verb": (
        ("[prepare, execute]", "[prepare, execute, prepare]"),
        [":15:", "'pack'", "'prepare' is repeated"],
    ),
    "repeated route": (
        ("  - id: drive", "  - {id: pack}\n  - id: drive"),
        [":18:", "id 'pack' is repeated", "first in viable_routes item 1"],
    ),
    "repeated milestone": (
        ("milestones:\n", "milestones:\n  - {id: boxes, condition_key: moved, condition_value: true}\n"),
        [":25:", "id 'boxes' is repeated", "milestones item 1"],
    ),
    "repeated event": (
        ("disruption:", "  - {id: storm, step: 5}\ndisruption:"),
        [":32:", "id 'storm' is repeated", "event_schedule item 1"],
    ),
    "dangling route": (
        ("closes_routes: [pack]", "closes_routes: [pakc]"),
        [":21:", "'drive'", "no route 'pakc'", "Did you mean 'pack'?", "Available: pack, drive."],
    ),
    "dangling route of an event": (
        ("closes_routes: [drive]", "closes_routes: [pack, dive]"),
        [":31:", "'storm'", "no route 'dive'", "Did you mean 'drive'?"],
    ),
    "dangling milestone": (
        ("milestones_unlocked: [boxes]", "milestones_unlocked: [box]"),
        [":17:", "'pack'", "no milestone 'box'", "Did you mean 'boxes'?"],
    ),
    "metric of effects": (
        ("mental_wellbeing.clarity: 5", "wellbeing.clarity: 5"),
        [":22:", "'drive'", "no metric 'wellbeing.clarity'", "Did you mean 'mental_wellbeing.clarity'?"],
    ),
    "metric of the disruption": (
        ("time.admin_overhead: 10", "admin_overhead: 10"),
        [":32:", "no metric 'admin_overhead'", "Did you mean 'time.admin_overhead'?"],
    ),
    "metric of an event": (
        ("    closes_routes: [drive]", "    effects: {stress: 5}"),
        [":31:", "'storm'", "no metric 'stress'", "career.workload"],
    ),
    "metric as a state": (
        ("{rain: 3}", "{rain: 3, career.workload: 3}"),
        [":7:", "'career.workload' is a metric, not a fact", "disruption"],
    ),
    "metric as a consequence": (
        ("{packed: true}\n    mile", "{packed: true, career.workload: 3}\n    mile"),
        [":16:", "'pack'", "'career.workload' is a metric, not a fact", "effects"],
    ),
    "metric as a mutation": (
        ("{keys_found: true}", "{keys_found: true, career.workload: 3}"),
        [":30:", "'storm'", "is a metric, not a fact", "effects"],
    ),
    "two homes": (
        ("{rain: 3}", "{rain: 3, keys_found: false}"),
        [":7:", "'keys_found' has two homes, hidden_state and visible_world"],
    ),
    "two homes of a changing fact": (
        ("packed: false,", "packed: false, keys_found: true,"),
        [":6:", "'keys_found' has two homes, hidden_state and mutable_world"],
    ),
    "two first values": (
        ("{rain: 3}", "{rain: 3, van: big}"),
        [":7:", "'van'", '"big" here', '"none" in mutable_world'],
    ),
    "a consequence for the hidden state": (
        ("consequences: {moved: true}", "consequences: {moved: true, keys_found: true}"),
        [
            ":20:",
            "'drive'",
            "consequences writes the world",
            "'keys_found' belongs to the hidden state",
            "in hidden_state",
        ],
    ),
    "a world mutation of the hidden state": (
        ("{rain: 9}", "{rain: 9, keys_found: true}"),
        [":29:", "'storm'", "world_mutation writes the world", "'keys_found' belongs to the hidden state"],
    ),
    "a hidden mutation of the world": (
        ("{keys_found: true}", "{packed: false}"),
        [
            ":30:",
            "'storm'",
            "hidden_state_mutation writes the hidden state",
            "'packed' belongs to the world",
            "mutable_world",
        ],
    ),
    "a hidden mutation of what else is homeless": (
        ("{keys_found: true}", "{moved: true}"),
        [":20:", "'moved' belongs to the hidden state", "a hidden_state_mutation of 'storm' writes it"],
    ),
    "order of something else than numbers": (
        ("{op: le, value: 5}", "{op: le, value: much}"),
        [":19:", "'drive'", "op le compares numbers only", '"much"'],
    ),
    "order of true": (("op: gt, value: 8", "op: gt, value: true"), [":12:", "compares numbers only", "found true"]),
    "a metric that equals": (
        ("{key: moved, value: true}", "{key: finances.liquidity, value: 50}"),
        [":9:", "'finances.liquidity' is a metric", "op eq", "gt, lt, ge, le"],
    ),
    "a metric of a milestone": (
        (
            "condition_key: packed, condition_value: true",
            "condition_key: career.stability, condition_op: gt, condition_value: x",
        ),
        [":24:", "'boxes'", "compares numbers only", '"x"'],
    ),
    # before the first step
    "an open milestone at reset": (
        ("reward: 1}", "reward: 1}\n  - {id: dry, condition_key: rain, condition_op: lt, condition_value: 4}"),
        [":25:", "milestone 'dry' is open and reached before the first step"],
    ),
    "success at reset": (("{key: moved, value: true}", "{key: moved, value: null}"), [":8:", "before the first step"]),
    "failure at reset": (("op: gt, value: 8", "op: gt, value: 2"), [":11:", "failure", "before the first step"]),
    "failure on a metric at reset": (
        ("{key: rain, op: gt, value: 8}", "{key: time.admin_overhead, op: ge, value: 45}"),
        [":11:", "failure", "before the first step"],
    ),
    "burnout at reset": (
        ("{time.admin_overhead: 10}", "{time.admin_overhead: 65}"),
        [":32:", "burnout before the first step", "time.admin_overhead to 100"],
    ),
}


@pytest.mark.parametrize(("change", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_documents_teach(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    assert change[0] in TASK
    message = refused(tmp_path, TASK.replace(*change, 1))
    for word in ["task.yaml:", "scenario 'move'", *words]:
        assert word in message, message


def test_every_problem_is_reported(tmp_path: Path) -> None:
    twice = "- {id: boxes, condition_key: moved, condition_value: true}\n  - {id: boxes"
    text = TASK.replace("[pack]", "[pakc]").replace("{rain: 9}", "{keys_found: 1}").replace("- {id: boxes", twice)
    (file := tmp_path / "task.yaml").write_text(text)
    with pytest.raises(ScenarioError) as error:
        scenarios.load(file)
    places = [problem.split(": ")[0].rpartition(":")[2] for problem in error.value.problems]
    assert places == ["25", "21", "30"]


def test_tasks_with_the_same_id_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(TASK)
    with pytest.raises(ScenarioError, match=r"b\.yaml:2: .*id 'move' is repeated.*a\.yaml"):
        scenarios.load(tmp_path)


CAPACITIES = [
    ({"mutable_world": {f"k{n}": n for n in range(16)}}, ["17 facts"], {"keys": 17}),
    (
        {"viable_routes": [{"id": f"r{n}", "consequences": {"done": n}} for n in range(8)]},
        ["the 8 values that 'done' can take"],
        {"codes": 9},
    ),
    ({"viable_routes": [{"id": f"r{n}"} for n in range(9)]}, ["9 routes"], {"routes": 9}),
    ({"milestones": milestones([("done", n) for n in range(9)])}, ["9 milestones"], {"milestones": 9}),
    ({"event_schedule": [{"id": f"e{n}", "step": 1} for n in range(9)]}, ["9 events"], {"events": 9}),
    (
        {"success_conditions": [{"key": f"d{n}", "value": 1} for n in range(5)]},
        ["5 members of success_conditions"],
        {"success": 5},
    ),
    (
        {"milestones": milestones([(STRESS, n, "lt") for n in range(5)])},
        ["5 different bounds on metrics"],
        {"bounds": 5},
    ),
]


@pytest.mark.parametrize(("fields", "words", "raised"), CAPACITIES, ids=[next(iter(case[2])) for case in CAPACITIES])
def test_capacities_can_be_raised(fields: dict, words: list[str], raised: dict[str, int]) -> None:
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("lifestack", document(**fields))
    ((what, needed),) = raised.items()
    for word in ["scenario 'big'", *words, f"Limits({what}={needed})", "jaxenv.make"]:
        assert word in str(error.value)
    assert scenarios.parse("lifestack", document(**fields), Limits(**raised)).ids == ("big",)


def test_some_capacities_end() -> None:
    with pytest.raises(ScenarioError, match=r"34 facts.*cannot be raised that far"):
        scenarios.parse("lifestack", document(mutable_world={f"k{n}": n for n in range(33)}))


def test_what_fits_exactly_is_taken() -> None:
    fields = {
        "mutable_world": {f"k{n}": n for n in range(15)},
        "viable_routes": [{"id": f"r{n}", "consequences": {"done": n} if n else {}} for n in range(8)],
        "success_conditions": [{"any": [{"key": "done", "value": n} for n in range(4)]}] * 4,
        "milestones": milestones([(STRESS, n, "lt") for n in (1, 2, 3, 4, 4, 4, 4, 4)]),
        "event_schedule": [{"id": f"e{n}", "step": 1} for n in range(8)],
    }
    assert scenarios.parse("lifestack", document(**fields)).ids == ("big",)


FIELDS = [*Task.model_fields, "id", "key", "value", "op", "any", "step", "condition_key", "condition_value", "x", ""]
WORDS = st.none() | st.booleans() | st.integers(-2, 40_000) | st.floats() | st.text(max_size=3)
WORDS |= st.sampled_from(["gt", "lifestack", "execute", STRESS])


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        WORDS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    )
)
def test_junk_is_refused_in_words_or_is_a_task(junk: Any) -> None:
    problems: tuple[str, ...] = ()
    try:
        scenarios.parse("lifestack", [junk])
    except ScenarioError as error:
        problems = error.problems
    assert problems or isinstance(junk["horizon"], int)
    assert all(problem.startswith("document 1: ") for problem in problems)
