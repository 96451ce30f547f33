"""How the specification's client answers what it cannot do: as an invalid step, or without one; nothing raises."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.teamsclone import TeamsEnvClient
from scenarios.teamsclone.view import Action, Payload
from strategies.teamsclone_words import (
    CALLING,
    FORMAT,
    IDLE,
    OFFICE,
    STEP,
    Game,
    clock,
    join,
    paid,
    post,
    quiet,
    react,
    send,
    switch,
)

# Bad input that is a step ------------------------------------------------------------------------------------------

MALFORMED = [
    {},
    {"payload": {"content": "Hi"}},
    {"type": None, "payload": {}},
    {"type": "wave", "payload": {}},
    {"type": ["send_message"], "payload": {"content": "Hi"}},
    {"type": "(malformed)", "payload": {}},
    {"type": "send_message"},
    {"type": "send_message", "payload": {}},
    {"type": "send_message", "payload": None},
    {"type": "send_message", "payload": "Hi"},
    {"type": "send_message", "payload": {"content": 3}},
    {"type": "send_message", "payload": {"content": None}},
    {"type": "send_message", "payload": {"content": "Hi", "channelId": 1}},
    {"type": "send_message", "payload": {"content": "Hi", "channel": "channel-2"}},
    {"type": "send_message", "payload": {"content": "Hi"}, "mood": "good"},
    {"type": "switch_channel", "payload": {}},
    {"type": "switch_channel", "payload": {"channelId": "channel-2", "content": "Hi"}},
    {"type": "react_to_message", "payload": {"messageId": "msg-channel-1-1"}},
    react("msg-channel-1-1", "🦄"),
    react("msg-channel-1-9"),  # there is none
    react("msg-channel-2-1"),  # outside the window
    react("msg-channel-1-01"),
    react(None),
]
CASES = [
    *[(action, "invalid_action", -0.1) for action in MALFORMED],
    (send(""), "empty_message", -0.2),
    (send("  \n"), "empty_message", -0.2),
    (send("", 2), "empty_message", -0.2),
    (switch(9), "invalid_channel", -0.3),
    (switch(""), "invalid_channel", -0.3),
    ({"type": "switch_channel", "payload": {"channelId": "(no channel 6)"}}, "invalid_channel", -0.3),
    (send("Hi", 9), "invalid_channel", -0.3),
    (join(9), "invalid_channel", -0.3),
    (switch(1), "invalid_action", -0.1),  # the current one
    (join(), "invalid_action", -0.1),  # none runs
    (join(2), "invalid_action", -0.1),
]


@pytest.mark.parametrize(("action", "part", "amount"), CASES, ids=[json.dumps(action) for action, *_ in CASES])
def test_bad_input_is_stepped_as_the_matching_invalid_entry(
    office: TeamsEnvClient, action: dict, part: str, amount: float
) -> None:
    before = office.get_state()["state"]
    response = office.step(action)
    assert set(response) == STEP | {"error"}
    assert (response["success"], response["reward"], paid(response)) == (False, amount, {part: amount})
    assert response["info"]["invalid_action"]
    assert clock(response) == 1
    for key in ("agentState", "recentMessages", "teams"):
        assert response["state"][key] == before[key]


def test_bad_input_a_message_that_has_left_the_window() -> None:
    client = Game(quiet(*(post(1, 1, f"Line {n}.") for n in range(10)))).client()
    client.step(send("One more."))
    response = client.step(react("msg-channel-1-1"))
    assert paid(response) == {"invalid_action": -0.1}
    assert "msg-channel-1-2" in response["error"]


def test_bad_input_reactions_to_own_messages_and_second_ones(office: TeamsEnvClient) -> None:
    office.step(send("Hello team!"))
    own = office.step(react("msg-channel-1-3"))
    assert (own["success"], paid(own)["invalid_action"]) == (False, -0.1)
    assert office.step(react("msg-channel-1-1"))["success"]
    again = office.step(react("msg-channel-1-1", "🎉"))
    assert (again["success"], paid(again)["invalid_action"]) == (False, -0.1)
    assert again["state"]["recentMessages"][0]["reactions"] == ["👍"]


def test_bad_input_a_call_that_is_joined_already() -> None:
    client = Game(CALLING).client()
    client.step(IDLE)
    client.step(join())
    assert paid(client.step(join()))["invalid_action"] == -0.1


def test_bad_input_the_world_goes_on() -> None:
    client = Game(CALLING).client()
    response = client.step({"type": "wave"})
    assert response["state"]["recentMessages"][-1]["userId"] in ("user-1", "user-2")


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"type": "send_mesage", "payload": {"content": "Hi"}}, "Did you mean 'send_message'?"),
        ({"type": "send_message", "payload": {"contents": "Hi"}}, "Did you mean 'content'?"),
        (switch(22), "Did you mean 'channel-2'?"),
        (react("msg-channel-1-9"), "msg-channel-1-2, msg-channel-1-1"),
        (react("msg-channel-1-1", "🦄"), "one of 👍"),
        (send(""), "empty"),
        (switch(1), "the agent is there already"),
        (join(), "no call runs there"),
    ],
)
def test_errors_teach(office: TeamsEnvClient, action: dict, words: str) -> None:
    assert words in office.step(action)["error"]


# Input that is no step ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    [
        Action.model_construct(),
        Action.model_construct(type="wave", payload={}),
        Action.model_construct(type="send_message", payload={"content": 5}),
        Action.model_construct(type="send_message", payload=Payload.model_construct(content=5)),
    ],
)
def test_records_made_without_checks_are_answered(office: TeamsEnvClient, action: Action) -> None:
    answer = office.step(action)
    assert (answer["success"], answer["info"]["invalid_action"]) == (False, True)


@pytest.mark.parametrize(
    "action",
    [send("x" * 1001), send("x" * 1001, 2), send("x" * 1001, 9), None, 3, "send_message", ["send_message"], object()],
    ids=["long", "long elsewhere", "long and nowhere", "None", "int", "str", "list", "object"],
)
def test_over_long_content_and_what_is_not_a_mapping_are_not_a_step(office: TeamsEnvClient, action: Any) -> None:
    before = office.get_state()
    response = office.step(action)
    assert set(response) == STEP | {"error"}
    assert (response["success"], response["reward"], response["done"], paid(response)) == (False, 0, False, {})
    assert office.get_state() == before
    assert response["state"] == before["state"]


def test_after_the_end_nothing_is_stepped() -> None:
    client = Game(OFFICE, max_steps_in_episode=jnp.int32(2)).client()
    assert not client.step(send("One."))["done"]
    end = client.step(send("Two."))
    assert end["done"]
    assert (end["success"], end["info"]["terminated"], end["info"]["truncated"]) == (True, False, True)
    for action in (send("Three."), switch(9), None):
        response = client.step(action)
        assert set(response) == STEP | {"error"}
        assert (response["success"], response["done"], response["reward"]) == (False, True, 0)
        assert "ended" in response["error"]
        assert response["state"] == end["state"]
    assert client.get_actions() == {"success": True, "actions": []}
    assert client.get_state()["state"] == end["state"]
    assert clock(client.reset()) == 0
    assert client.step(send("One."))["success"]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["channel-1", "channel-2", "channel-9", "msg-channel-1-1", "msg-channel-1-9", "👍", "", "x" * 1001]
)
FIELDS = st.sampled_from(["content", "channelId", "messageId", "reaction"])
TYPES = st.sampled_from(["send_message", "switch_channel", "react_to_message", "join_call", "idle", "wave"])
NEAR = st.fixed_dictionaries({"type": TYPES | JUNK, "payload": st.dictionaries(FIELDS, NAMES | JUNK) | JUNK})


@settings(max_examples=150)
@given(action=JUNK | NEAR)
def test_nothing_raises(shared: TeamsEnvClient, action: Any) -> None:
    if shared.get_stats()["stats"]["stepCount"] > 90:
        shared.reset()
    response = shared.step(action)
    assert STEP <= set(response) <= FORMAT
    assert response["success"] is ("error" not in response)
    json.dumps(response["info"])


@pytest.mark.parametrize("payload", [{(1, 2): 3}, {"content": {1, 2}}, {b"content": "Hi"}, {"content": object()}])
def test_nothing_raises_for_what_json_has_not(office: TeamsEnvClient, payload: Any) -> None:
    response = office.step({"type": "send_message", "payload": payload})
    assert paid(response) == {"invalid_action": -0.1}


def test_nothing_raises_for_what_cannot_be_quoted(office: TeamsEnvClient) -> None:
    circle: list = []
    circle.append(circle)
    deep: Any = "Hi"
    for _ in range(100_000):
        deep = [deep]
    for content in (circle, deep):
        assert paid(office.step(send(content)))["invalid_action"] == -0.1


class Raises(Mapping):
    """A mapping whose values cannot be had."""

    def __getitem__(self, key):
        raise RuntimeError("no")

    def __iter__(self):
        return iter(("type", "payload"))

    def __len__(self):
        return 2


class Endless(Raises):
    """A mapping that goes on and on."""

    def __getitem__(self, key):
        return 1

    def __iter__(self):
        return (f"k{number}" for number in itertools.count())


class Text(str):
    """Text with methods of its own."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        raise ValueError("no")

    def strip(self, *_):
        raise ValueError("no")


def nested(levels):
    found = {}
    for _ in range(levels):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Raises(), "it cannot be read: RuntimeError"),
        (Endless(), "more than 1000 values"),
        ({"type": "send_message", "payload": Raises()}, "it cannot be read: RuntimeError"),
        ({"type": "send_message", "payload": {"content": "\ud800"}}, "half a character"),
        ({"type": "\udfff", "payload": {}}, "half a character"),
        ({"type": "x" * 5_000_000}, "more than 2000000 characters"),
        ({("a",): 1}, "as a key, expected text"),
        (nested(5000), "more than 20 levels"),
        ({"type": 10**5000}, "a number of more than"),
        ({"type": "send_message", "payload": {f"k{number}": number for number in range(900)}}, "unknown field"),
        ({"type": "switch_channel", "payload": {"channelId": "y" * 100_000}}, "no channel"),
    ],
)
def test_no_action_is_left_unanswered(action, message):
    answer = TeamsEnvClient().step(action)
    assert message in answer["error"]
    assert len(answer["error"]) < 20_000
    json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()


def test_text_of_a_class_of_its_own_is_text():
    action = {Text("type"): Text("send_message"), "payload": {"content": Text("Hello.")}}
    assert TeamsEnvClient().step(action)["success"]
