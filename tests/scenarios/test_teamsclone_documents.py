"""TeamsClone documents: what they compile to, number by number, and what they say when nothing is left out."""

import itertools
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv.envs.teamsclone import TeamsClone, messages
from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS, default_table, embed
from jaxenv.envs.teamsclone.types import KINDS, POSTED_KINDS, Limits, Scenario
from reference.teamsclone_workspace import Workspace as ReferenceWorkspace
from scenarios import ScenarioError, teamsclone
from scenarios.teamsclone import FORMAT, Workspace
from scenarios.teamsclone.compiler import cdf, probability, to_fixed, weights
from strategies.teamsclone import complete, documents

USUAL = len(default_table())
ONE = 65536


def document(**fields: Any) -> dict[str, Any]:
    """The least that a document may say, and more."""
    teams = [{"id": "t", "channels": [{"id": "a"}, {"id": "b"}]}, {"id": "u", "channels": [{"id": "c"}]}]
    return {"teams": teams, "users": [{"id": "ann"}, {"id": "ben"}], **fields}


def user(**fields: Any) -> dict[str, Any]:
    """A document of one teammate."""
    return document(users=[{"id": "ann", **fields}])


def arrays(**fields: Any) -> Scenario:
    return teamsclone.compile(Workspace.model_validate(document(**fields)))


def same(first: Any, second: Any) -> bool:
    """Whether two scenarios have the same arrays, dtypes included."""
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in leaves)


# Fixed point --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "amount"), [(0, 0), (1, ONE), (0.5, 32768), (0.3, 19661), (0.0015, 98), (0.000007, 0), (0.0000077, 1)]
)
def test_probabilities_are_rounded(said: float, amount: int) -> None:
    assert to_fixed(said) == amount


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([1], [ONE]),
        ([1, 1, 1], [21845, 43691, ONE]),
        ([2, 0, 6], [16384, 16384, ONE]),
        ([0, 5, 0], [0, ONE, ONE]),
        ([0.5, 0.2, 0.1, 0.155, 0.045], [32768, 45875, 52429, 62587, ONE]),
        ([0.05, 0, 0, 0.95], [3277, 3277, 3277, ONE]),
    ],
)
def test_distributions_are_running_shares(row: list[float], expected: list[int]) -> None:
    assert cdf(row) == expected


@given(st.integers(0, ONE))
def test_probabilities_are_decompiled(amount: int) -> None:
    assert to_fixed(probability(amount)) == amount


@given(st.lists(st.integers(0, ONE), min_size=1, max_size=8).map(sorted))
def test_distributions_are_decompiled(row: list[int]) -> None:
    row[-1] = ONE
    assert cdf(weights(row)) == row


def test_numbers_are_decompiled_in_few_digits() -> None:
    assert probability(19661) == 0.3
    assert weights([32768, 45875, 52429, 62587, ONE]) == [0.5, 0.2, 0.1, 0.155, 0.045]


# Arrays -------------------------------------------------------------------------------------------------


def test_what_is_left_out_compiles_to_what_is_usual() -> None:
    found = arrays()
    assert jax.tree.structure(found) == jax.tree.structure(TeamsClone().empty_scenario)
    assert (int(found.num_channels), int(found.num_users), int(found.start)) == (3, 2, 0)
    assert found.team.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert found.presence.tolist() == [0] * 7
    assert found.post_rate.tolist() == [13107, 13107, 0, 0, 0, 0, 0]
    assert found.channel_edges[1].tolist() == [21845, 43691] + [ONE] * 6
    assert found.kind_edges[0].tolist() == [32768, 45875, 52429, 62587, ONE]
    assert found.presence_edges[0].tolist() == [
        [62915, 64225, ONE, ONE],
        [3932, 64225, ONE, ONE],
        [3932, 5243, ONE, ONE],
        [3277, 3277, 3277, ONE],
    ]
    assert found.call_rate.tolist() == [0] * 8
    assert (int(found.mention_window), int(found.call_length)) == (12, 8)
    assert not found.messages.any()
    assert found.texts[:USUAL].tolist() == list(range(USUAL))
    assert found.first_text.tolist() == [0, *itertools.accumulate(len(said) for said in DEFAULT_TEXTS.values())][:-1]
    assert found.num_texts.tolist() == [len(said) for said in DEFAULT_TEXTS.values()]


def test_absent_teammates_are_padding() -> None:
    found, empty = arrays(), TeamsClone().empty_scenario
    for name in ("channel_edges", "kind_edges", "presence_edges", "post_rate", "presence"):
        assert np.array_equal(getattr(found, name)[2:], getattr(empty, name)[2:]), name


def test_channels_are_numbered_across_teams() -> None:
    teams = [
        {"id": "t", "channels": [{"id": "x", "call_rate": 0.25}]},
        {"id": "u", "channels": [{"id": "y"}, {"id": "z", "call_rate": 0.75}]},
    ]
    found = arrays(teams=teams, start_channel="z")
    assert int(found.start) == 2
    assert found.team[:3].tolist() == [0, 1, 1]
    assert found.call_rate[:4].tolist() == [16384, 0, 49152, 0]


def test_preferences_are_by_id_in_channel_order() -> None:
    found = arrays(**user(channel_preference={"c": 3, "a": 1}))
    assert found.channel_edges[0].tolist() == [16384, 16384] + [ONE] * 6


def test_teammates_are_as_written() -> None:
    said = {
        "status": "away",
        "post_rate": 1,
        "kind_mix": {"mention": 1, "chatter": 3},
        "presence_transition": {"away": [1, 1, 1, 1]},
    }
    found = arrays(**user(**said))
    assert (int(found.presence[0]), int(found.post_rate[0])) == (2, ONE)
    assert found.kind_edges[0].tolist() == [49152, 49152, 49152, 49152, ONE]
    assert found.presence_edges[0, 2].tolist() == [16384, 32768, 49152, ONE]
    assert found.presence_edges[0, 1].tolist() == [3932, 64225, ONE, ONE]  # left out, as usual


def test_messages_are_packed_oldest_first() -> None:
    said = [
        {"channel": "b", "user": "ben", "kind": "greeting", "text": "first"},
        {"channel": "a", "user": "ann", "text": "elsewhere"},
        {"channel": "b", "user": "ann", "kind": "mention", "text": "second"},
        {"channel": "b", "user": "ann", "kind": "mention", "agent": 3, "text": "Hello everybody!"},
    ]
    words = arrays(messages=said).messages
    assert (words != 0).sum(axis=0).tolist() == [1, 3, 0, 0, 0, 0, 0, 0]
    ring = words[:3, 1]
    assert messages.author(ring).tolist() == [1, 0, 0]
    assert [KINDS[kind] for kind in messages.kind(ring).tolist()] == ["greeting", "mention", "mention"]
    assert messages.named(ring).tolist() == [-1, 0, 3]
    assert messages.is_pending(ring).tolist() == [False, True, True]
    assert messages.text(ring).tolist() == [USUAL, USUAL + 2, default_table().index("Hello everybody!")]
    assert not messages.is_seen(ring, 0).any()


def test_own_texts_are_grouped_by_kind() -> None:
    texts = {"chatter": ["one", "two"], "reply": ["Thank you!", "one"]}
    found = arrays(texts=texts)
    first, number = found.first_text.tolist(), found.num_texts.tolist()
    assert found.texts[:2].tolist() == [USUAL, USUAL + 1]
    assert (first[:2], number[:2]) == ([0, 2], [2, 4])
    reply = KINDS.index("reply")
    table = teamsclone.texts([Workspace.model_validate(document(texts=texts))])
    assert [table[code] for code in found.texts[first[reply] :][: number[reply]]] == ["Thank you!", "one"]


# The complete form --------------------------------------------------------------------------------------


def test_the_complete_form_leaves_nothing_out() -> None:
    said = [{"channel": "a", "user": "ann", "kind": "mention", "text": "well?"}]
    form = complete(Workspace.model_validate(document(messages=said)))
    assert form["environment"] == "teamsclone"
    assert form["teams"][1] == {"id": "u", "name": "u", "channels": [{"id": "c", "name": "c", "call_rate": 0}]}
    assert form["users"][0] == {
        "id": "ann",
        "name": "ann",
        "avatar": "🧑",
        "status": "available",
        "post_rate": 0.2,
        "channel_preference": {"a": 1, "b": 1, "c": 1},
        "kind_mix": dict(zip(POSTED_KINDS, [0.5, 0.2, 0.1, 0.155, 0.045], strict=True)),
        "presence_transition": {
            "available": [0.96, 0.02, 0.02, 0],
            "busy": [0.06, 0.92, 0.02, 0],
            "away": [0.06, 0.02, 0.92, 0],
            "offline": [0.05, 0, 0, 0.95],
        },
    }
    assert form["messages"] == [said[0] | {"agent": 0}]
    assert form["start_channel"] == "a"
    assert (form["mention_window"], form["call_length"], form["start_time"]) == (12, 8, 1698765432000)
    assert form["texts"] == {kind: list(said) for kind, said in DEFAULT_TEXTS.items()}


@given(documents(num_agents=3))
@settings(max_examples=30)
def test_complete_documents_are_complete(drawn: dict[str, Any]) -> None:
    assert complete(Workspace.model_validate(drawn)) == drawn


@given(documents())
@settings(max_examples=20)
def test_documents_are_written_and_read_again(drawn: dict[str, Any]) -> None:
    documents = [Workspace.model_validate(drawn), *scenarios.load("teamsclone/tea_shop").documents]
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "all.yaml").write_text(scenarios.dump(documents), "utf-8")
        assert scenarios.load(file).documents == tuple(documents)


def check_by_reference(workspace: Workspace, scenario: Scenario, table: list[str]) -> None:
    """Whether the arrays are the numbers that the reference engine reads in the document."""
    by_rules, count = ReferenceWorkspace(complete(workspace), 8, 8), len(workspace.channels)
    assert scenario.team[:count].tolist() == by_rules.team_of
    assert scenario.call_rate[:count].tolist() == by_rules.call_odds
    assert int(scenario.start) == by_rules.start
    for n, teammate in enumerate(by_rules.teammates):
        assert int(scenario.presence[n]) == teammate.presence
        assert int(scenario.post_rate[n]) == teammate.post_odds
        assert scenario.channel_edges[n, :count].tolist() == teammate.channels
        assert scenario.kind_edges[n].tolist() == teammate.kinds
        assert scenario.presence_edges[n].tolist() == teammate.presences
    for n, kind in enumerate(KINDS):
        first, number = int(scenario.first_text[n]), int(scenario.num_texts[n])
        assert [table[code] for code in scenario.texts[first : first + number]] == by_rules.texts[kind]
    for channel in range(count):
        said = [message for message in by_rules.initial if message.channel == channel]
        ring = np.asarray(scenario.messages)[: len(said), channel]
        assert messages.author(ring).tolist() == [message.teammate for message in said]
        assert [table[code] for code in messages.text(ring).tolist()] == [message.text for message in said]
        assert messages.named(ring).tolist() == [-1 if m.agent is None else m.agent for m in said]


@given(documents(num_agents=3))
@settings(max_examples=30)
def test_arrays_are_what_the_reference_reads(drawn: dict[str, Any]) -> None:
    library = scenarios.parse("teamsclone", drawn)
    scenario = jax.tree.map(np.asarray, library.bank[0])
    check_by_reference(library.documents[0], scenario, teamsclone.texts(library.documents))


def test_the_library_is_what_the_reference_reads() -> None:
    library = scenarios.load("teamsclone")
    for n, workspace in enumerate(library.documents):
        check_by_reference(workspace, jax.tree.map(np.asarray, library.bank[n]), teamsclone.texts(library.documents))


# Several documents --------------------------------------------------------------------------------------


def test_a_bank_has_one_table_of_texts() -> None:
    said = [{"chatter": ["one", "two"]}, {"chatter": ["two", "three", "Thank you!"]}]
    library = scenarios.parse("teamsclone", [document(id=f"w{n}", texts=texts) for n, texts in enumerate(said)])
    table = teamsclone.texts(library.documents)
    assert table == [*default_table(), "one", "two", "three"]
    codes = library.bank.scenarios.texts[:, :3].tolist()
    assert codes[0][:2] == [USUAL, USUAL + 1]
    assert codes[1] == [USUAL + 1, USUAL + 2, default_table().index("Thank you!")]
    assert np.array_equal(library.bank.shared, embed(table))


def test_the_usual_texts_have_their_embedding_too() -> None:
    library = scenarios.parse("teamsclone", document())
    assert np.array_equal(library.bank.shared, embed(default_table()))
    assert same(library.bank[0], teamsclone.compile(library.documents[0]))


def test_texts_that_go_by_their_code_keep_their_row() -> None:
    said = {"chatter": ["one", f"text {USUAL}", f"text {USUAL + 4}", "two", "text 7", "text 9999"]}
    table = teamsclone.texts([Workspace.model_validate(document(texts=said))])
    own = [f"text {USUAL}", "one", "two", "text 7", f"text {USUAL + 4}", "text 9999"]
    assert table == [*default_table(), *own]
    gap = teamsclone.texts([Workspace.model_validate(document(texts={"chatter": [f"text {USUAL + 1}"]}))])
    assert gap[USUAL:] == [f"text {USUAL}", f"text {USUAL + 1}"]


def test_a_bank_has_room_for_so_many_texts() -> None:
    crowd = [
        document(id=f"w{n}", texts={"chatter": [f"{n} says {m}" for m in range(36)]}) for n in range(2048 // 36 + 1)
    ]
    with pytest.raises(ScenarioError, match=r"have 2081 different texts.* room for 2048"):
        scenarios.parse("teamsclone", crowd)


# Back ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(), Limits(teams=2, channels=3, users=2, texts=40), Limits(channels=20)])
def test_generated_workspaces_make_the_round_trip(limits: Limits) -> None:
    env = TeamsClone(limits=limits)
    draw = jax.jit(jax.vmap(env.generate))
    bank = jaxenv.ScenarioBank(draw(jax.random.split(jax.random.key(0), 12), np.linspace(0, 1, 12, dtype=np.float32)))
    library = scenarios.decompile("teamsclone", bank)
    assert library.limits == limits or limits.teams == 2
    assert library.bank.fingerprint() == bank.fingerprint()
    assert same(teamsclone.compile(library.documents[3], library.limits), jax.tree.map(np.asarray, bank[3]))


def test_the_shipped_arrays_make_the_round_trip() -> None:
    _, params = jaxenv.make("TeamsClone-v0")
    library = scenarios.decompile("teamsclone", params.bank)
    assert library.bank.fingerprint() == params.bank.fingerprint()
    (last,) = params.bank.split([params.bank.size - 1, 1])[1:]
    told = scenarios.decompile("teamsclone", last)
    assert told.bank.fingerprint() == last.fingerprint()
    workspace = told.documents[0]
    assert workspace.users[1].status == "away"
    assert workspace.channel_ids[5] == "channel-6"
    first = int(last.scenarios.texts[0, 0])
    assert workspace.texts.chatter[0] == f"text {first}"
    assert teamsclone.texts(told.documents)[first] == f"text {first}"


@given(documents(num_agents=2))
@settings(max_examples=20)
def test_drawn_documents_make_the_round_trip(drawn: dict[str, Any]) -> None:
    compiled = teamsclone.compile(Workspace.model_validate(drawn))
    assert same(teamsclone.compile(teamsclone.decompile(compiled)), compiled)


def test_arrays_that_no_document_says_are_refused() -> None:
    scenario = arrays()
    with pytest.raises(ScenarioError, match=r"channels of the teams \[0, 2, 2\]"):
        teamsclone.decompile(scenario.replace(team=np.array([0, 2, 2, 0, 0, 0, 0, 0], np.int8)))


def test_limits_are_those_of_the_arrays() -> None:
    limits = Limits(channels=3, users=5, texts=50)
    assert FORMAT.limits_of(TeamsClone(limits=limits).empty_scenario) == limits
    six = [{"id": f"t{n}", "channels": [{"id": f"c{n}"}]} for n in range(6)]
    workspace = Workspace.model_validate(document(teams=six))
    assert FORMAT.limits_of(teamsclone.compile(workspace, Limits(teams=6))) == Limits(teams=6)
