"""TeamsClone documents that are not workspaces, and unusual ones: the place, what is wrong, the way out."""

import contextlib
import string
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.envs.teamsclone import Limits
from scenarios import ScenarioError, teamsclone
from scenarios.teamsclone import Workspace
from strategies.teamsclone import documents

WORKSPACE = """\
id: shop
teams:
  - id: front
    channels:
      - {id: counter, call_rate: 0.1}
      - id: window
  - id: back
    channels: [{id: cellar}]
users:
  - id: ann
    status: busy
    post_rate: 0.3
    channel_preference: {counter: 1, cellar: 2}
    kind_mix: {chatter: 3, mention: 1}
  - id: ben
    presence_transition:
      away: [0.5, 0, 0.5, 0]
messages:
  - {channel: counter, user: ann, text: Hello}
  - {channel: cellar, user: ben, kind: mention, agent: 0, text: "Which one?"}
start_channel: counter
mention_window: 5
call_length: 4
texts:
  chatter: [Nice weather., Is it so]
"""


def loaded(tmp_path: Path, text: str) -> scenarios.Library:
    file = tmp_path / "shop.yaml"
    file.write_text(text, "utf-8")
    return scenarios.load(file)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ScenarioError) as error:
        loaded(tmp_path, text)
    assert len(error.value.problems) == 1, error.value
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_workspace_itself_is_fine(tmp_path: Path) -> None:
    library = loaded(tmp_path, WORKSPACE)
    assert (library.environment, library.ids, library.warnings) == ("teamsclone", ("shop",), ())


ERRORS = {
    # one field at a time
    "unknown field": (
        ("call_length", "call_lenght"),
        [":23:", "'call_lenght'", "Did you mean 'call_length'?", "users"],
    ),
    "unknown field of a teammate": (("post_rate: 0.3", "rate: 0.3"), [":12:", "'ann'", "'rate'", "post_rate"]),
    "another unknown field": (
        ("post_rate: 0.3", "post_rate: 0.3\n    posts: 1"),
        [":13:", "'ann'", "'posts'", "The fields are id, name"],
    ),
    "status": (("status: busy", "status: bussy"), [":11:", "'ann'", '"bussy"', "Did you mean 'busy'?", "offline"]),
    "kind": (
        ("kind: mention, agent", "kind: mentoin, agent"),
        [":20:", '"mentoin"', "Did you mean 'mention'?", "thanks"],
    ),
    "kind of a mix": (
        ("kind_mix: {chatter: 3", "kind_mix: {chater: 3"),
        [":14:", "'ann'", "'chater'", "Did you mean 'chatter'?", "question"],
    ),
    "kind that is not posted": (
        ("kind_mix: {chatter", "kind_mix: {reply"),
        [":14:", "'reply'", "announcement, mention."],
    ),
    "kind of texts": (("  chatter: [", "  chater: ["), [":25:", "'chater'", "Did you mean 'chatter'?"]),
    "presence": (("away: [0.5", "gone: [0.5"), [":17:", "'ben'", "'gone'", "available, busy, away, offline"]),
    "three weights": (("[0.5, 0, 0.5, 0]", "[0.5, 0, 0.5]"), [":17:", "[0.5, 0, 0.5]", "four weights", "offline next"]),
    "negative weight of a row": (("[0.5, 0, 0.5, 0]", "[0.5, 0, -0.5, 0]"), [":17:", "four weights from 0 to 1000000"]),
    "negative weight of a channel": (("cellar: 2}", "cellar: -2}"), [":13:", "'ann'", "cellar is -2", "a weight"]),
    "weight without end": (("{chatter: 3", "{chatter: .inf"), [":14:", "chatter", "0 to 1000000"]),
    "post rate": (("post_rate: 0.3", "post_rate: 1.3"), [":12:", "'ann'", "post_rate is 1.3", "from 0 to 1"]),
    "call rate": (("call_rate: 0.1", "call_rate: -0.1"), [":5:", "'counter'", "call_rate is -0.1", "from 0 to 1"]),
    "rate in percent": (("post_rate: 0.3", "post_rate: 30 %"), [":12:", '"30 %"', "from 0 to 1"]),
    "window": (("mention_window: 5", "mention_window: 0"), [":22:", "mention_window is 0", "1 to 500"]),
    "window without end": (("mention_window: 5", "mention_window: 501"), [":22:", "501", "1 to 500"]),
    "half a step": (("call_length: 4", "call_length: 1.5"), [":23:", "1.5", "an integer"]),
    "no call length": (("call_length: 4", "call_length: 0"), [":23:", "call_length is 0"]),
    "start time": (("call_length: 4", "start_time: -1"), [":23:", "start_time is -1", "milliseconds since 1970"]),
    "agent": (("agent: 0", "agent: 8"), [":20:", "agent is 8", "0 to 7"]),
    "blank text": (("text: Hello", 'text: " "'), [":19:", "not blank"]),
    "long text": (("text: Hello", f"text: {'o' * 1001}"), [":19:", "at most 1000 characters"]),
    "blank text of a kind": (
        ("[Nice weather., Is it so]", '["Nice weather.", ""]'),
        [":25:", "texts 'chatter'", "not blank"],
    ),
    "no text of a kind": (("[Nice weather., Is it so]", "[]"), [":25:", "chatter is []", "at least one item"]),
    "a text where several may stand": (("[Nice weather., Is it so]", "Nice weather."), [":25:", "a list"]),
    "no channels": (("[{id: cellar}]", "[]"), [":8:", "'back'", "channels is []", "at least one item"]),
    "no name": (("- id: window", '- id: ""'), [":6:", "not empty"]),
    # together
    "repeated team": (("- id: back", "- id: front"), [":7:", "id 'front' is repeated", "first in teams item 1."]),
    "repeated channel": (
        ("- id: window", "- id: counter"),
        [":6:", "teams item 1 ('front') 'channels' item 2", "'counter' is repeated", "teams item 1 channels item 1."],
    ),
    "channel of another team": (
        ("{id: cellar}", "{id: window}, {id: cellar}"),
        [":8:", "'window'", "channels item 2."],
    ),
    "repeated teammate": (
        ("messages:", "  - id: ann\nmessages:"),
        [":18:", "id 'ann' is repeated", "first in users item 1."],
    ),
    "an agent": (
        ("messages:", "  - id: agent\nmessages:"),
        [":18:", "'agent' is the id of an agent", "another id"],
    ),
    "another agent": (("messages:", "  - id: agent-2\nmessages:"), [":18:", "'agent-2' is the id of an agent"]),
    "preference": (
        ("{counter: 1, cellar", "{countr: 1, cellar"),
        [":13:", "'ann'", "no channel 'countr'", "Did you mean 'counter'?", "counter, window, cellar."],
    ),
    "channel of a message": (("channel: cellar", "channel: celar"), [":20:", "'celar'", "Did you mean 'cellar'?"]),
    "start": (("start_channel: counter", "start_channel: attic"), [":21:", "no channel 'attic'", "Available: counter"]),
    "author": (("user: ben", "user: bent"), [":20:", "no teammate 'bent'", "Did you mean 'ben'?", "ann, ben."]),
    "an agent as author": (("user: ben", "user: agent"), [":20:", "no teammate 'agent'", "Available: ann, ben."]),
    "agent without mention": (
        ("kind: mention, agent", "kind: question, agent"),
        [":20:", "kind question", "only a mention"],
    ),
    "nowhere to post": (
        ("{counter: 1, cellar: 2}", "{counter: 0}"),
        [":13:", "'ann'", "a weight above 0", "all are equally likely"],
    ),
    "nowhere at all": (("{counter: 1, cellar: 2}", "{}"), [":13:", "a weight above 0"]),
    "nothing to post": (
        ("{chatter: 3, mention: 1}", "{mention: 0}"),
        [":14:", "'ann'", "a kind with a weight above 0"],
    ),
    "nowhere to go": (
        ("[0.5, 0, 0.5, 0]", "[0, 0, 0, 0]"),
        [":17:", "'ben'", "a weight above 0", "to stay away for good"],
    ),
    "too many calls": (
        ("[{id: cellar}]", "[{id: cellar, call_rate: 0.95}]"),
        [":2:", "call_rates of all channels sum to 1.05", "expected 1 at most"],
    ),
    "too many messages": (
        (
            "start_channel",
            "".join(f"  - {{channel: cellar, user: ann, text: n{n}}}\n" for n in range(10)) + "start_channel",
        ),
        [":30:", "messages: 11 messages in 'cellar'", "a channel keeps 10"],
    ),
    # capacities
    "teams": (
        ("users:", "".join(f"  - {{id: t{n}, channels: [{{id: c{n}}}]}}\n" for n in range(3)) + "users:"),
        [":2:", "5 teams need 5, the capacity is 4 teams", "limits=jaxenv.envs.teamsclone.Limits(teams=5)"],
    ),
    "channels": (
        ("[{id: cellar}]", "[{id: cellar}, " + ", ".join(f"{{id: c{n}}}" for n in range(6)) + "]"),
        [":2:", "9 channels need 9", "Limits(channels=9)"],
    ),
    "teammates": (
        ("messages:", "".join(f"  - id: u{n}\n" for n in range(6)) + "messages:"),
        [":9:", "8 users need 8, the capacity is 7 users", "It cannot be raised that far."],
    ),
    "texts": (
        ("Nice weather., ", "".join(f"no {n}, " for n in range(41))),
        [":24:", "65 texts need 65, the capacity is 64 texts", "Limits(texts=65)", "and to jaxenv.make."],
    ),
}


@pytest.mark.parametrize(("change", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_documents_teach(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    assert change[0] in WORKSPACE
    message = refused(tmp_path, WORKSPACE.replace(*change, 1))
    assert "shop.yaml:" in message
    for word in ("scenario 'shop'", *words):
        assert word in message, message


def test_capacities_can_be_raised() -> None:
    teams = [{"id": f"t{n}", "channels": [{"id": f"c{n}-{m}"} for m in range(3)]} for n in range(6)]
    limits = Limits(teams=6, channels=18)
    library = scenarios.parse("teamsclone", {"teams": teams, "users": [{"id": "ann"}]}, limits)
    assert library.bank.scenarios.team.shape == (1, 18)


@pytest.mark.parametrize("field", ["teams", "users"])
def test_something_must_be_there(field: str) -> None:
    workspace = {"teams": [{"id": "t", "channels": [{"id": "a"}]}], "users": [{"id": "ann"}]}
    with pytest.raises(ScenarioError, match=f"'{field}' is missing"):
        scenarios.parse("teamsclone", {name: value for name, value in workspace.items() if name != field})
    with pytest.raises(ScenarioError, match=rf"{field} is \[\], expected at least one item"):
        scenarios.parse("teamsclone", {**workspace, field: []})


def test_all_mistakes_are_reported_together() -> None:
    workspace = {
        "teams": [{"id": "t", "channels": [{"id": "a"}, {"id": "a"}]}],
        "users": [{"id": "ann", "kind_mix": {}}],
        "start_channel": "b",
    }
    with pytest.raises(ScenarioError) as error:
        scenarios.parse("teamsclone", workspace)
    assert len(error.value.problems) == 3


def test_compile_refuses_too() -> None:
    workspace = Workspace.model_validate(
        {"teams": [{"id": "t", "channels": [{"id": "a"}]}], "users": [{"id": "agent"}]}
    )
    with pytest.raises(ScenarioError, match="is the id of an agent"):
        teamsclone.compile(workspace)


# Never a traceback --------------------------------------------------------------------------------------


@pytest.mark.slow
@given(documents(num_agents=8))
@settings(max_examples=30)
def test_drawn_documents_are_accepted(drawn: dict[str, Any]) -> None:
    library = scenarios.parse("teamsclone", drawn)
    assert library.page("drawn")


@given(
    st.integers(0, len(WORKSPACE) - 1),
    st.integers(0, 6),
    st.text(string.ascii_lowercase + string.digits + " {}[]:,.-\n\"'", max_size=6),
)
@settings(max_examples=150)
def test_broken_text_is_a_scenario_or_an_error(place: int, length: int, text: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "shop.yaml"
        file.write_text(WORKSPACE[:place] + text + WORKSPACE[place + length :], "utf-8")
        with contextlib.suppress(ScenarioError):
            scenarios.load(file, environment="teamsclone")
