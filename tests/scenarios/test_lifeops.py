"""LifeOps documents: what they compile to, and the way back."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifeops import Limits
from jaxenv.envs.lifeops.types import ABSENT, NO_LIMIT, UNSET
from scenarios.lifeops import PERSONAS, Day, compile, decompile
from scenarios.text.source import read

# Ids of docs/rules/lifeops.md, section 2, by difficulty
EASY, MEDIUM = ("easy_1", "easy_2"), ("medium_1", "medium_2")
EDGE = ("edge_cascade_1", "edge_deadline_1", "edge_mood_monday_1")
SEEDS = ("s1_basic_conflict", "s2_travel_tight", "s3_focus_vs_meeting", "s4_parent_pickup")
IDS = (*EASY, *EDGE, *MEDIUM, *SEEDS, "s5_late_meeting")


def event(name: str, start: int, end: int, place: str = "Office", **more) -> dict:
    return {"event_id": name, "start_min": start, "end_min": end, "location": place, **more}


def day(**fields) -> Day:
    tasks = [{"task_id": "t", "remaining_minutes": 30}]
    return Day.model_validate({"persona": "early_bird_engineer", "tasks": tasks, **fields})


def assert_equal(a, b) -> None:
    jax.tree.map(np.testing.assert_array_equal, a, b)
    assert jax.tree.map(lambda x: x.dtype, a) == jax.tree.map(lambda x: x.dtype, b)


# The library ------------------------------------------------------------------------------------------


def test_library_is_the_shipped_bank() -> None:
    library = scenarios.load("lifeops")
    _, params = jaxenv.make("LifeOps-v0")
    assert library.ids == IDS
    assert library.warnings == ()
    # where this fails: make library
    assert_equal(library.bank, params.bank)
    assert library.bank.fingerprint() == params.bank.fingerprint()


def test_library_is_what_the_rules_say() -> None:
    reference = pytest.importorskip("reference.lifeops_library").LIBRARY
    library = scenarios.load("lifeops")
    assert sorted(reference) == list(library.ids)
    expected = scenarios.parse("lifeops", [reference[id] for id in library.ids])
    assert_equal(library.bank, expected.bank)
    for document in library.documents:
        assert list(document.tags) == reference[document.scenario_id]["tags"]


@pytest.mark.parametrize("env_name", ["LifeOps-v0", "LifeOps-Shaped-v0"])
def test_known_returns(env_name: str) -> None:
    known = scenarios.load("lifeops").returns(env_name)
    assert tuple(known) == IDS
    for row in known.values():
        assert row["worst"] <= row["random"] <= row["best"]
        assert row["worst"] <= row["heuristic"] <= row["best"]


def test_returns_are_known_of_the_library_alone() -> None:
    one = scenarios.load("lifeops/easy_2")
    assert one.returns("LifeOps-Shaped-v0")["easy_2"]["best"] == 3.5
    assert one.returns("CartPole-v1") == {}
    assert scenarios.parse("lifeops", one.documents).returns("LifeOps-v0") == {}


# Documents to arrays ------------------------------------------------------------------------------------


def test_defaults_are_filled() -> None:
    found = day(calendar=[event("e", 60, 90)], pending_requests=[event("r", 600, 630)])
    assert found.calendar[0].kind == "meeting"
    assert found.calendar[0].importance == 1
    assert found.pending_requests[0].flexible
    assert found.tasks[0].priority == 2
    assert found.tasks[0].due_in_days is None
    assert (found.scenario_id, found.day_of_week, found.travel_times) == ("", None, {})
    assert found.step_limit == 6


def test_unset_values_and_padding() -> None:
    arrays = compile(day(), Limits(events=8))
    assert (arrays.calendar.start == ABSENT).all()
    assert arrays.weekday == UNSET
    assert arrays.persona.avoid_before == UNSET
    assert arrays.persona.avoid_after == 1050
    assert arrays.tasks.due_days.tolist() == [NO_LIMIT] * 8
    owl = compile(day(persona="night_owl_creator"), Limits())
    assert (owl.persona.avoid_before, owl.persona.avoid_after) == (600, NO_LIMIT)


def test_calendar_is_sorted_with_ties_in_document_order() -> None:
    times = [(600, 630), (540, 600), (600, 630), (600, 610)]
    calendar = [event(f"e{n}", *time, importance=n % 3 + 1) for n, time in enumerate(times)]
    arrays = compile(day(calendar=calendar), Limits())
    assert arrays.source[:4].tolist() == [1, 3, 0, 2]
    assert arrays.calendar.start[:4].tolist() == [540, 600, 600, 600]


def test_equal_priorities_go_by_the_id_as_text() -> None:
    tasks = [
        {"task_id": "t2", "remaining_minutes": 2, "priority": 2},
        {"task_id": "t10", "remaining_minutes": 10, "priority": 2},
        {"task_id": "z", "remaining_minutes": 3, "priority": 3},
    ]
    assert compile(day(tasks=tasks)).tasks.minutes[:3].tolist() == [3, 10, 2]


def test_travel_times_are_directed_and_cost_30_where_they_are_not_said() -> None:
    arrays = compile(
        day(
            travel_times={"Home": {"Home": 9, "Office": 25}, "Office": {"Home": 0}},
            calendar=[event("e", 600, 630, "Moon")],
        )
    )
    home, office, moon = range(3)
    assert arrays.travel[home, home] == 0
    assert (arrays.travel[home, office], arrays.travel[office, home]) == (25, 0)
    assert (arrays.travel[home, moon], arrays.travel[moon, moon]) == (30, 0)
    assert not arrays.travel[3:].any()
    assert not arrays.travel[:, 3:].any()


@pytest.mark.parametrize(
    ("times", "overlaps", "tight_legs"),
    [
        ([(600, 660, "Office"), (660, 700, "Office")], 0, 0),  # touching
        ([(600, 660, "Office"), (660, 700, "Gym")], 0, 1),
        ([(600, 660, "Office"), (690, 700, "Gym")], 0, 0),  # the 30 minutes that it takes
        ([(600, 660, "Office"), (630, 630, "Office")], 1, 0),  # zero-length inside
        ([(600, 600, "Office"), (600, 600, "Office")], 0, 0),
        ([(600, 700, "Office"), (610, 620, "Office"), (700, 710, "Gym")], 1, 0),  # nested hides
    ],
)
def test_overlaps_and_tight_legs(times: list, overlaps: int, tight_legs: int) -> None:
    calendar = [event(f"e{n}", *time) for n, time in enumerate(times)]
    arrays = compile(day(calendar=calendar[::-1]))
    assert (arrays.overlaps, arrays.tight_legs) == (overlaps, tight_legs)


def test_leg_from_home_is_not_counted() -> None:
    assert compile(day(calendar=[event("e", 0, 30)])).tight_legs == 0


# And back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", IDS)
def test_library_survives_the_round_trip(id: str, tmp_path) -> None:
    (document,) = scenarios.load(f"lifeops/{id}").documents
    arrays = compile(document)
    assert_equal(arrays, compile(decompile(arrays)))
    (file := tmp_path / "day.yaml").write_text(scenarios.dump(document))
    assert scenarios.load(file).documents == (document,)


@pytest.fixture(scope="module")
def generated() -> ScenarioBank:
    env, _ = jaxenv.make("LifeOps-v0")
    keys = jax.random.split(jax.random.key(0), 50)
    difficulty = np.linspace(0, 1, 50, dtype=np.float32)
    return ScenarioBank(jax.jit(jax.vmap(env.generate))(keys, difficulty))


def test_generated_days_survive_the_round_trip(generated: ScenarioBank, tmp_path) -> None:
    library = scenarios.decompile("lifeops", generated)
    assert_equal(library.bank, generated)
    (file := tmp_path / "generated.yaml").write_text(scenarios.dump(library.documents))
    again = scenarios.load(file)
    assert again.documents == library.documents
    assert again.ids == library.ids == tuple(f"scenario_{n}" for n in range(1, 51))
    assert again.bank.fingerprint() == generated.fingerprint()
    assert again.warnings == ()


def test_decompile_keeps_other_limits() -> None:
    limits = Limits(events=20, requests=3, tasks=2, places=6)
    library = scenarios.load("lifeops", limits)
    again = scenarios.decompile("lifeops", library.bank)
    assert again.limits == limits
    assert_equal(again.bank, library.bank)


def test_places_have_names() -> None:
    arrays = compile(day(calendar=[event("e", 600, 630, "Moon")]))
    assert decompile(arrays).calendar[0].location == "Downtown"


MINUTES = st.integers(0, 1440)
TIMES = st.tuples(MINUTES, MINUTES).map(sorted)
PLACE = st.sampled_from(["Home", "Office", "Downtown", "No", "9:30", "é ✓", "~"])
TEXT = st.text(max_size=8) | st.sampled_from(["a\nb", "\x85", "1e5", "0E0", "0540", "No", "yes: no", "# x"])


@st.composite
def days(draw: st.DrawFn) -> Day:
    def rows(prefix: str, most: int, **more: st.SearchStrategy) -> list[dict]:
        found = []
        for n in range(draw(st.integers(0, most))):
            start, end = draw(TIMES)
            extra = {field: draw(values) for field, values in more.items()}
            found.append(event(f"{prefix}{n}", start, end, draw(PLACE), title=draw(TEXT), **extra))
        return found

    kind = st.sampled_from(["meeting", "obligation", "focus", "personal"])
    level = st.integers(1, 3)
    task = st.fixed_dictionaries(
        {"remaining_minutes": st.integers(1, 2**20), "priority": level},
        optional={"due_in_days": st.none() | st.integers(0, 9)},
    )
    tasks = draw(st.lists(task, min_size=1, max_size=3))
    travel = st.dictionaries(PLACE, st.dictionaries(PLACE, st.integers(0, 1440), max_size=3))
    return Day.model_validate(
        {
            "scenario_id": draw(TEXT),
            "persona": draw(st.sampled_from([*PERSONAS, PERSONAS["busy_parent"]])),
            "calendar": rows("e", 5, kind=kind, importance=level),
            "pending_requests": rows("r", 4, flexible=st.booleans(), importance=level),
            "tasks": [{"task_id": f"t{n}"} | task for n, task in enumerate(tasks)],
            "travel_times": draw(travel),
            "day_of_week": draw(st.sampled_from([None, "Monday", "Sunday"])),
            "tags": draw(st.lists(TEXT, max_size=2)),
            "max_steps": draw(st.none() | st.integers(1, 12)),
        }
    )


@settings(max_examples=60, deadline=None)
@given(days())
def test_any_day_survives_arrays_and_yaml(tmp_path_factory, document: Day) -> None:
    arrays = compile(document)
    assert_equal(arrays, compile(decompile(arrays)))
    file = tmp_path_factory.mktemp("days") / "day.yaml"
    file.write_text(scenarios.dump(document), "utf-8")
    (source,) = read(file)
    assert Day.model_validate(source.value) == document
