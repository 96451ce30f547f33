"""The shipped workspaces of TeamsClone: arrays and documents agree, `general` is as in the rules, all have a voice."""

import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS, embed
from jaxenv.envs.teamsclone.types import KINDS, POSTED_KINDS, PRESENCE
from scenarios import teamsclone


def test_the_shipped_arrays_are_those_of_the_documents() -> None:
    # where this fails: make library
    library = scenarios.load("teamsclone")
    _, params = jaxenv.make("TeamsClone-v0")
    assert params.bank.fingerprint() == library.bank.fingerprint()
    assert library.warnings == ()
    assert np.array_equal(params.text_embedding, embed(teamsclone.texts(library.documents)))


def test_general_is_the_workspace_of_the_rules() -> None:
    library = scenarios.load("teamsclone")
    general = library.documents[library.index("general")]
    assert library.index("general") == 0
    assert [team.name for team in general.teams] == ["General Team", "Project Alpha"]
    assert [(channel.id, channel.name) for channel in general.channels] == [
        ("channel-1", "General"),
        ("channel-2", "Random"),
        ("channel-3", "Announcements"),
        ("channel-4", "Development"),
        ("channel-5", "Design"),
    ]
    assert {channel.call_rate for channel in general.channels} == {0.0015}
    people = [(user.id, user.name, user.status, user.post_rate) for user in general.users]
    assert people == [
        ("user-1", "Alice", "available", 0.3),
        ("user-2", "Bob", "busy", 0.3),
        ("user-3", "Charlie", "away", 0.3),
    ]
    for user in general.users:
        assert set(general.preference(user).values()) == {1}
        assert user.kind_mix.mention == 0.045
        assert sum(user.kind_mix[kind] for kind in POSTED_KINDS) == pytest.approx(1)
        assert [user.presence_transition[now] for now in PRESENCE] == [
            (0.96, 0.02, 0.02, 0),
            (0.06, 0.92, 0.02, 0),
            (0.06, 0.02, 0.92, 0),
            (0.05, 0, 0, 0.95),
        ]
    assert [(message.channel, message.user) for message in general.messages] == [
        ("channel-1", "user-1"),
        ("channel-1", "user-2"),
        ("channel-2", "user-3"),
    ]
    assert (general.first_channel, general.mention_window, general.call_length) == ("channel-1", 12, 8)


def test_workspaces_have_voices_of_their_own() -> None:
    said: list[str] = []
    for workspace in scenarios.load("teamsclone").documents:
        own = [text for kind in KINDS for text in workspace.texts[kind]]
        assert all(set(workspace.texts[kind]) - set(DEFAULT_TEXTS[kind]) for kind in KINDS), workspace.id
        said += set(own)
    assert len(said) == len(set(said))
