"""What an agent answers, read as an action."""

import contextlib

import hypothesis
import pytest
from hypothesis import strategies as st

import scenarios
from scenarios.codec import MAX_CHARACTERS, read_answer

REJECT = {"action_type": "reject_event", "request_id": "r1"}


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (7, 7),
        (REJECT, REJECT),
        ("7", 7),
        (" 7. \n", 7),
        ("The review comes first.\n\nAction: **7**\n", 7),
        ('{"action_type": "reject_event", "request_id": "r1"}', REJECT),
        ('Not {"action_type": "x"} {1} but\n```json\n{"action_type": "reject_event", "request_id": "r1"}\n```', REJECT),
        ('{"type": "idle", "payload": {}} is best, better than 7', {"type": "idle", "payload": {}}),
        ('a {"b": {"c": [1, {"d": "}"}]}} e {', {"b": {"c": [1, {"d": "}"}]}}),
    ],
)
def test_the_action_of_an_answer(answer, action) -> None:
    assert read_answer(answer) == action


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "found no action"),
        ("accept it", "found no action"),
        ("7\nor rather not", "found no action"),
        ("at 10:30", "found no action"),
        ("7 or 8", "found no action"),
        ('{"action_type": "reject', "found no action"),
        ("-7", "found no action"),
        ("0.7", "found no action"),
        (None, "found NoneType"),
        (True, "found bool"),
        (7.0, "found float"),
        ([7], "found list"),
        ("{" * (MAX_CHARACTERS + 1), "expected at most"),
    ],
)
def test_what_is_no_action(answer, words: str) -> None:
    with pytest.raises(scenarios.ScenarioError, match=words):
        read_answer(answer)


def test_a_deep_object_is_no_action() -> None:
    with pytest.raises(scenarios.ScenarioError, match="found no action"):
        read_answer('{"a":' * 3000)


@hypothesis.given(st.text(st.sampled_from('{}[]":,ab17\\ \n'), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(scenarios.ScenarioError):
        assert isinstance(read_answer(text), dict | int)
