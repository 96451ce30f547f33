"""Many problems and long names make short messages, and only those that are told are worded."""

import pytest

import scenarios
from jaxenv.host.names import MAX_LENGTH, did_you_mean, did_you_mean_one_of, listed
from scenarios.text.errors import MAX_LINE, MAX_PROBLEMS, MAX_TEXT, MAX_TOLD, ScenarioError, as_line, told


def test_only_the_problems_that_are_told_are_worded() -> None:
    worded: list[int] = []
    lines = told((lambda n=n: worded.append(n) or f"problem {n}" for n in range(1000)), "day.yaml")
    assert lines == [*(f"problem {n}" for n in range(MAX_TOLD)), "day.yaml: and 980 more."]
    assert worded == list(range(MAX_TOLD))
    assert told([], "day.yaml") == []
    long = told([lambda: "x" * 5000] * 15, "day.yaml")
    assert max(map(len, long)) == MAX_LINE
    assert sum(map(len, long)) < MAX_TEXT + 2 * MAX_LINE
    assert long[-1] == "day.yaml: and 6 more."


def test_an_error_has_a_bounded_number_of_lines() -> None:
    error = ScenarioError(*("a\nb" for _ in range(MAX_PROBLEMS + 5)))
    assert len(error.problems) == len(str(error).splitlines()) == MAX_PROBLEMS + 1
    assert error.problems[0] == "a\\x0ab"
    assert error.problems[-1] == "and 5 more."


@pytest.mark.parametrize("sign", ["\0", "\n", "\r", "\x1b", "\x85", "\u2028", "\ud800"])
def test_a_line_can_be_printed(sign: str) -> None:
    assert as_line(f"a{sign}b").isprintable()


def test_names_in_messages_are_cut() -> None:
    assert did_you_mean("x" * 5000, ["x" * 5000]) == did_you_mean("x", ["x" * 5000]) == ""
    assert did_you_mean("evnt", ["event"]) == " Did you mean 'event'?"
    many = [f"name_{number}" for number in range(1000)]
    assert listed(many).endswith("name_39 and 960 more")
    assert len(listed(["y" * 5000])) == MAX_LENGTH + 1
    assert len(did_you_mean_one_of("name_x", many)) < 600


def test_problems_of_a_file_are_told_up_to_twenty() -> None:
    day = {"persona": "busy_parent", "tasks": [{"task_id": f"t{n}", "remaining_minutes": -1} for n in range(1000)]}
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("lifeops", day)
    first, *_, last = error.value.problems
    assert len(error.value.problems) == MAX_TOLD + 1
    assert "tasks item 1 ('t0')" in first
    assert last == "document 1: and 980 more."


def test_capacities_come_before_contents() -> None:
    task = {"horizon": 5, "viable_routes": [{"id": "same", "closes_routes": ["none"]} for _ in range(1000)]}
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("lifestack", task)
    (problem,) = error.value.problems
    assert "1000 routes need 1000, the capacity is 8 routes" in problem
