"""Documents that are not scenarios: each message has the place, the record, what was found and what was expected."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.envs.lifeops import Limits
from scenarios import ScenarioError, loading
from scenarios.libraries import SHIPPED

DAY = """\
scenario_id: monday
persona: early_bird_engineer
calendar:
  - {event_id: e1, start_min: 600, end_min: 630, location: Office}
  - event_id: e2
    start_min: 700
    end_min: 730
    location: Office
pending_requests:
  - {event_id: r1, start_min: 640, end_min: 660, location: Office, flexible: false}
tasks:
  - {task_id: t1, remaining_minutes: 30}
travel_times:
  Home: {Office: 25}
"""


def refused(tmp_path: Path, text: str, **more) -> str:
    file = tmp_path / "week.yaml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as error:
        scenarios.load(file, **more)
    assert isinstance(error.value, ValueError)
    assert len(error.value.problems) == 1, error.value
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_day_itself_is_fine(tmp_path: Path) -> None:
    (file := tmp_path / "week.yaml").write_text(DAY)
    assert scenarios.load(file).ids == ("monday",)


CASES = {
    "unknown field": (
        ("start_min: 700", "start_mn: 700"),
        [":6:", "'e2'", "unknown field 'start_mn'", "Did you mean 'start_min'?"],
    ),
    "unknown field of the day": (
        ("calendar:", "calender:"),
        [":3:", "'calender'", "Did you mean 'calendar'?", "pending_requests"],
    ),
    "missing field": (
        ("    start_min: 700\n", ""),
        [":5:", "calendar item 2 ('e2')", "'start_min' is missing"],
    ),
    "unknown persona": (
        ("early_bird_engineer", "early_brid_engineer"),
        [":2:", '"early_brid_engineer"', "Did you mean 'early_bird_engineer'?", "busy_parent"],
    ),
    "unknown kind": (
        ("start_min: 700", "start_min: 700\n    kind: meting"),
        [":7:", "'e2'", '"meting"', "Did you mean 'meeting'?", "obligation"],
    ),
    "unknown weekday": (
        ("tasks:", "day_of_week: monday\ntasks:"),
        [":11:", '"monday"', "Did you mean 'Monday'?"],
    ),
    "time after midnight": (
        ("end_min: 730", "end_min: 1441"),
        [":7:", "'e2'", "end_min is 1441", "0 to 1440"],
    ),
    "negative time": (("start_min: 640", "start_min: -1"), [":10:", "'r1'", "-1", "0 to 1440"]),
    "time that no clock shows": (
        ("start_min: 700", "start_min: 25:99"),
        [":6:", "'e2'", 'start_min is "25:99"', 'a time of day such as "14:10"', "minutes after midnight", "0 to 1440"],
    ),
    "time after the end of the day": (("end_min: 730", 'end_min: "24:01"'), [":7:", 'end_min is "24:01"', '"14:10"']),
    "true is no number": (("start_min: 700", "start_min: true"), [":6:", "start_min is true"]),
    "a float is no minute": (("start_min: 700", "start_min: 600.0"), [":6:", "600.0", "integer"]),
    "ends before it starts": (
        ("end_min: 730", "end_min: 699"),
        [":7:", "'e2'", "end_min is 699", "at least start_min, 700 (11:40)."],
    ),
    "importance": (("start_min: 700", "start_min: 700\n    importance: 4"), [":7:", "4", "1, 2 or 3"]),
    "flexible": (("flexible: false", "flexible: no"), [":10:", '"no"', "true or false"]),
    "due day": (
        ("remaining_minutes: 30", "remaining_minutes: 30, due_in_days: -1"),
        [":12:", "'t1'", "due_in_days is -1", "0 (today)"],
    ),
    "minutes of work": (
        ("remaining_minutes: 30", f"remaining_minutes: {2**20 + 1}"),
        [":12:", "1048577", "0 to 1048576"],
    ),
    "travel": (("Office: 25", "Office: 1441"), [":14:", "travel_times 'Home'", "1441", "0 to 1440"]),
    "travel row": (("{Office: 25}", "25"), [":14:", "25", "a mapping"]),
    "repeated event": (
        ("event_id: e2", "event_id: e1"),
        [":5:", "'e1' is repeated", "first in calendar item 1"],
    ),
    "repeated between calendar and queue": (
        ("event_id: r1", "event_id: e2"),
        [":10:", "pending_requests item 1", "'e2' is repeated", "calendar item 2"],
    ),
    "repeated task": (
        ("  - {task_id", "  - {task_id: t1, remaining_minutes: 5}\n  - {task_id"),
        [":13:", "task_id 't1' is repeated"],
    ),
    "not a list": (("tasks:", "tags: hard\ntasks:"), [":11:", '"hard"', "a list"]),
    "not a mapping": (("  - event_id: e2", "  - lunch\n  - event_id: e2"), [":5:", "a mapping"]),
    "steps": (("tasks:", "max_steps: 0\ntasks:"), [":11:", "max_steps is 0", "at least 1"]),
    "nameless": (("event_id: e2", 'event_id: ""'), [":5:", "not empty"]),
    "environment": (
        ("scenario_id", "environment: lifeopps\nscenario_id"),
        [":1:", '"lifeopps"', "'lifeops'"],
    ),
    "tab": (("    start_min: 700", "\tstart_min: 700"), [":6:", "tab"]),
}


@pytest.mark.parametrize(("change", "words"), CASES.values(), ids=CASES)
def test_bad_documents_teach(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    assert change[0] in DAY
    message = refused(tmp_path, DAY.replace(*change, 1))
    assert "week.yaml:" in message
    for word in words:
        assert word in message, message
    if "tab" not in words:
        assert "scenario 'monday'" in message


PERSONA = """\
persona:
  persona_id: me
  home_location: Home
  primary_work_location: Office
  preferred_meeting_window: [540, 990]
tasks: [{task_id: t1, remaining_minutes: 30}]
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[540, 990]", "[990, 540]"), [":5:", "[990, 540]", "from not after to"]),
        (("[540, 990]", "[540]"), [":5:", "[540]", "[from, to]"]),
        (("[540, 990]", '["9:00", "16:60"]'), [":5:", '["9:00", "16:60"]', 'two times of day such as "14:10"']),
        (("[540, 990]", "[540, 990]\n  preference_weight: 100.5"), [":6:", "100.5", "0 to 100"]),
        (("[540, 990]", "[540, 990]\n  focus_time_weight: .nan"), [":6:", "0 to 100"]),
        (("home_location: Home", "home: Home"), [":3:", "'home'", "'home_location'"]),
        (("primary_work_location: Office\n  ", ""), ["persona", "'primary_work_location' is missing"]),
    ],
)
def test_bad_personas_teach(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    message = refused(tmp_path, PERSONA.replace(*change))
    for word in words:
        assert word in message, message


def rows(count: int, what: str) -> list[dict]:
    return [{"event_id": f"{what}{n}", "start_min": 0, "end_min": 10, "location": "Home"} for n in range(count)]


def document(**fields) -> dict:
    tasks = [{"task_id": "t", "remaining_minutes": 5}]
    return {"scenario_id": "big", "persona": "busy_parent", "tasks": tasks, **fields}


@pytest.mark.parametrize(
    ("fields", "words", "raised"),
    [
        ({"calendar": rows(28, "e")}, ["28 events", "5 steps", "need 33", "32"], {"events": 33}),
        ({"max_steps": 33}, ["33 steps", "the capacity is 32"], {"events": 33}),
        ({"pending_requests": rows(9, "r")}, ["9 requests", "the capacity is 8"], {"requests": 9}),
        (
            {"tasks": [{"task_id": f"t{n}", "remaining_minutes": 1} for n in range(9)]},
            ["9 tasks", "the capacity is 8"],
            {"tasks": 9},
        ),
        (
            {"travel_times": {f"Place {n}": {} for n in range(9)}},
            ["11 places", "the capacity is 10"],
            {"places": 11},
        ),
    ],
)
def test_capacities_can_be_raised(fields: dict, words: list[str], raised: dict) -> None:
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("lifeops", document(**fields))
    ((what, needed),) = raised.items()
    for word in ["scenario 'big'", *words, f"Limits({what}={needed})", "jaxenv.make"]:
        assert word in str(error.value)
    library = scenarios.parse("lifeops", document(**fields), Limits(**raised))
    assert library.ids == ("big",)


@pytest.mark.parametrize("tasks", [[], [{"task_id": "done", "remaining_minutes": 0}]])
def test_a_day_that_is_over_at_once_is_refused(tasks: list) -> None:
    with pytest.raises(ScenarioError, match=r"'big'.*over before its first step"):
        scenarios.parse("lifeops", document(tasks=tasks))


def test_every_problem_of_every_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(DAY.replace("700", "1500").replace("730", "x"))
    (tmp_path / "b.yaml").write_text(DAY.replace("monday", "tuesday").replace("r1", "e1"))
    with pytest.raises(ScenarioError) as error:
        scenarios.load(tmp_path)
    places = [problem.split(": ")[0].rpartition("/")[2] for problem in error.value.problems]
    assert places == ["a.yaml:6", "a.yaml:7", "b.yaml:10"]


def test_scenarios_with_the_same_id_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(DAY)
    with pytest.raises(ScenarioError, match=r"b\.yaml:1: .*'monday' is repeated.*a\.yaml"):
        scenarios.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lifeops/s1_basic_conflct", ["Did you mean 's1_basic_conflict'?", "easy_1"]),
        ("lifeop", ["no such file", "Did you mean 'lifeops'?"]),
        ("nowhere.yaml", ["nowhere.yaml", "no such file"]),
    ],
)
def test_unknown_names_teach(name: str, words: list[str]) -> None:
    with pytest.raises(ScenarioError) as error:
        scenarios.load(name)
    for word in words:
        assert word in str(error.value)


def test_a_library_of_another_environment_is_refused() -> None:
    assert scenarios.load("lifeops", environment="lifeops").environment == "lifeops"
    for name in ("lifeops", "lifeops/easy_1"):
        with pytest.raises(ScenarioError, match=f"^{name}: a library of lifeops, expected documents of lifestack.$"):
            scenarios.load(name, environment="lifestack")


def test_a_folder_of_another_environment_is_one_error() -> None:
    with pytest.raises(ScenarioError) as error:
        scenarios.load(SHIPPED / "teamsclone", environment="lifeops")
    (problem,) = error.value.problems
    assert problem.endswith("found documents of teamsclone, expected documents of lifeops.")


def test_unknown_environments_and_indices() -> None:
    with pytest.raises(ScenarioError, match="Did you mean 'lifeops'"):
        scenarios.parse("LifeOps", document())
    with pytest.raises(ScenarioError, match="Did you mean 'easy_1'"):
        scenarios.load("lifeops").index("easy1")


def test_what_parse_takes() -> None:
    assert scenarios.parse("lifeops", document()).ids == ("big",)
    unnamed = scenarios.parse("lifeops", [document(), document(scenario_id="")])
    assert unnamed.ids == ("big", "scenario_2")
    again = scenarios.parse("lifeops", unnamed.documents[:1])
    assert again.documents == unnamed.documents[:1]
    edited = scenarios.parse("lifeops", {**unnamed.documents[0], "max_steps": 3})
    assert edited.documents[0]["max_steps"] == edited.bank.scenarios.max_steps[0] == 3
    for nothing in ([], ()):
        with pytest.raises(ScenarioError, match="no documents"):
            scenarios.parse("lifeops", nothing)
    for text in ("day.yaml", Path("day.yaml"), None, 3):
        with pytest.raises(ScenarioError, match=r"scenarios\.load"):
            scenarios.parse("lifeops", text)
    for odd in ([3], [None], [["a"]]):
        with pytest.raises(ScenarioError, match=r"document 1: .*a mapping"):
            scenarios.parse("lifeops", odd)
    with pytest.raises(ScenarioError, match="Limits"):
        scenarios.parse("lifeops", document(), {"events": 3})


FIELDS = ["persona", "calendar", "tasks", "pending_requests", "travel_times", "tags", "max_steps"]
FIELDS += ["event_id", "task_id", "start_min", "end_min", "location", "home_location", "title", "x", ""]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
WORDS = SCALARS | st.sampled_from(["busy_parent", "meeting", "Monday", 600, 2**20])
KEYS = st.sampled_from(FIELDS) | st.integers(0, 2)


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        WORDS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    )
)
def test_junk_is_refused_in_words(junk) -> None:
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("lifeops", [junk])
    assert str(error.value).startswith("document 1: ")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abe:-{}[],&*!#|>\"' \t\n0123456789?%@`~", max_size=40), st.sampled_from(["yaml", "json"]))
def test_junk_files_are_refused_in_words(tmp_path_factory, text: str, suffix: str) -> None:
    file = tmp_path_factory.mktemp("junk") / f"junk.{suffix}"
    file.write_text(text)
    with pytest.raises(ScenarioError) as error:
        scenarios.load(file)
    assert all(problem.startswith(str(file)) for problem in error.value.problems)


def test_the_environment_of_a_document(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = SimpleNamespace(document=SimpleNamespace(model_fields=["services", "tasks"]))
    monkeypatch.setitem(loading.ENVIRONMENTS, "other", other)
    assert loading.recognize({"tasks": [], "services": []}) == "other"
    assert loading.recognize({"tasks": [], "persona": ""}) == "lifeops"
    assert loading.recognize({"tasks": [], "services": [], "environment": "lifeops"}) == "lifeops"
    assert loading.recognize(None) == "lifeops"
    (file := tmp_path / "both.yaml").write_text("environment: lifeops\n---\nenvironment: other\n")
    with pytest.raises(ScenarioError, match="lifeops and other, expected one"):
        scenarios.load(file)


def test_a_path_may_look_like_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lifeops").mkdir()
    (tmp_path / "lifeops/day.yaml").write_text(DAY)
    monkeypatch.chdir(tmp_path)
    assert scenarios.load("lifeops/day.yaml").ids == scenarios.load("./lifeops").ids == ("monday",)
    assert len(scenarios.load("lifeops")) == 12


def test_records_can_be_read_like_mappings() -> None:
    (day,) = scenarios.load("lifeops/easy_1").documents
    assert day["calendar"][0]["start_min"] == 600
    with pytest.raises(KeyError, match="calendar"):
        day["calender"]


def test_places_outside_of_the_travel_times_are_warned_of(tmp_path: Path) -> None:
    (file := tmp_path / "week.yaml").write_text(DAY.replace("Office}", "Moon}"))
    (places,) = scenarios.load(file).warnings
    assert "week.yaml:4: scenario 'monday', calendar item 1 ('e1')" in places
    assert "'Moon' is missing from travel_times" in places
    assert places.endswith("30 minutes.")


def test_a_misspelt_place_is_warned_of_with_the_nearest_one(tmp_path: Path) -> None:
    (file := tmp_path / "week.yaml").write_text(DAY.replace("Office}", "Ofice}"))
    (warning,) = scenarios.load(file).warnings
    assert warning.endswith(
        "'Ofice' is missing from travel_times; trips there default to 30 minutes. Did you mean 'Office'?"
    )
