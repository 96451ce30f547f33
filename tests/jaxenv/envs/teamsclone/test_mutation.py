"""Edits of workspaces: what each of them does, and what still holds after many."""

import numpy as np
import pytest

from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.mutation import EDITS
from jaxenv.envs.teamsclone.mutation.teammates import OF_USERS
from jaxenv.envs.teamsclone.types import MENTION, ONE
from strategies.edits import LAWS, Edited, changes

USERS = {*OF_USERS, "num_users"}
TOUCHES = {
    "start in": {"start"},
    "lengthen calls": {"call_length"},
    "hurry answers": {"mention_window"},
    "ring": {"call_rate"},
    "add channel": {"num_channels", "team", "channel_edges", "call_rate"},
    "drop channel": {"num_channels", "team", "channel_edges", "call_rate", "start", "messages"},
    "add message": {"messages"},
    "drop message": {"messages"},
    "greet": {"presence"},
    "post": {"post_rate"},
    "ask": {"kind_edges"},
    "talk": {"kind_edges"},
    "gather": {"channel_edges"},
    "stay": {"presence_edges"},
    "add user": USERS,
    "drop user": USERS | {"messages"},
}
EDITED = Edited("TeamsClone-v0", EDITS, TOUCHES)
C, U = np.arange(8), np.arange(7)


def shares(edges):
    return np.diff(edges, prepend=0, axis=-1)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws_of_edits(law):
    law(EDITED)


# What still holds --------------------------------------------------------------------------------------------


def test_sizes_stay_as_the_rules_say():
    found = EDITED.many
    assert (found.num_users.min(), found.num_users.max()) == (2, 7)
    assert (found.num_channels.min(), found.num_channels.max()) == (2, 8)
    exists = found.num_channels[:, None] > C
    assert set(np.diff(found.team, axis=1)[exists[:, 1:]].tolist()) <= {0, 1}
    assert (found.team[:, 0] == 0).all()
    assert (found.team[~exists] == 0).all()
    assert (found.start < found.num_channels).all()
    for name in ("texts", "first_text", "num_texts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(EDITED.before, name))


def test_rates_waits_and_edges_stay_as_the_rules_say():
    found = EDITED.many
    works, exists = found.num_users[:, None] > U, found.num_channels[:, None] > C
    assert (found.post_rate[works] >= ONE // 16).all()
    assert (found.post_rate[works] < ONE * 5 // 16).all()
    assert (found.post_rate[~works] == 0).all()
    assert (found.call_rate[~exists] == 0).all()
    assert (found.call_rate.sum(1) < ONE // 2).all()
    assert (found.presence[~works] == 0).all()
    assert (found.channel_edges[~works] == ONE).all()
    for edges in (found.channel_edges[works], found.kind_edges[works], found.presence_edges[works]):
        assert (np.diff(edges, axis=-1) >= 0).all()
        assert (edges[..., -1] == ONE).all()
    assert (
        found.channel_edges[works][np.arange(works.sum()), (found.num_channels[:, None] + 0 * U)[works] - 1] == ONE
    ).all()
    mention = shares(found.kind_edges[works])[:, MENTION] / ONE
    assert ((mention < 0.0901) | ((mention > 0.249) & (mention <= 0.5))).all()
    assert (found.call_length >= 4).all()
    assert (found.call_length <= 21).all()
    assert (found.mention_window >= 4).all()
    assert (found.mention_window <= 30).all()


def test_initial_messages_are_still_of_teammates_in_channels_that_exist():
    found = EDITED.many
    present = np.asarray(messages.is_message(found.messages))
    assert not present[:, 3:].any()
    assert (~present | (found.num_channels[:, None] > C)[:, None]).all()
    assert (~present[:, 1:] | present[:, :-1]).all()  # oldest first, without gaps
    assert not found.messages[~present].any()
    authors, kinds = np.asarray(messages.author(found.messages)), np.asarray(messages.kind(found.messages))
    assert (authors < found.num_users[:, None, None])[present].all()
    np.testing.assert_array_equal(messages.is_pending(found.messages), present & (kinds == MENTION))
    texts, first, number = np.asarray(messages.text(found.messages)), found.first_text[0], found.num_texts[0]
    assert ((texts >= first[kinds]) & (texts < first[kinds] + number[kinds]))[present].all()


# Each edit ---------------------------------------------------------------------------------------------------


def test_an_added_channel_takes_its_part_of_what_is_posted():
    """With n channels before, each keeps n of n + 1 parts, up to rounding; nobody posts in padding."""
    before, after = EDITED.made("add channel")
    n = before.num_channels.astype(int)
    np.testing.assert_array_equal(after.num_channels, n + 1)
    index, works = np.arange(len(n)), before.num_users[:, None] > U
    np.testing.assert_array_equal(after.team[index, n], before.team[index, n - 1])
    kept = shares(after.channel_edges) - shares(before.channel_edges) * n[:, None, None] / (n[:, None, None] + 1)
    old = (n[:, None] > C)[:, None] & works[..., None]
    assert np.abs(kept[old]).max() <= 1
    new = shares(after.channel_edges)[index, :, n][works]
    assert np.abs(new - (ONE / (n + 1))[:, None].repeat(7, 1)[works]).max() <= 1
    assert (after.call_rate[index, n] > 0).all()


def test_a_dropped_channel_leaves_nothing_behind():
    before, after = EDITED.made("drop channel")
    last, index = before.num_channels - 1, np.arange(len(before.num_channels))
    np.testing.assert_array_equal(after.num_channels, last)
    assert not after.messages[index, :, last].any()
    assert not after.call_rate[index, last].any()
    kept = C[:7] < (last - 1)[:, None]
    np.testing.assert_array_equal(after.channel_edges[..., :7][:, 0][kept], before.channel_edges[..., :7][:, 0][kept])
    assert (after.start == np.minimum(before.start, last - 1)).all()


def test_an_added_user_has_the_habits_of_another():
    before, after = EDITED.made("add user")
    index, n = np.arange(len(before.num_users)), before.num_users
    np.testing.assert_array_equal(after.num_users, n + 1)
    same = np.ones((len(n), 7), bool)
    for name in OF_USERS:
        column, more = getattr(before, name), getattr(after, name)
        same &= (column == more[index, n][:, None]).reshape(len(n), 7, -1).all(2)
        np.testing.assert_array_equal(more[n[:, None] > U], column[n[:, None] > U])
    assert (same & (n[:, None] > U)).any(1).all()


def test_a_dropped_user_is_gone_and_the_messages_stay():
    before, after = EDITED.made("drop user")
    np.testing.assert_array_equal(after.num_users, before.num_users - 1)
    for name in OF_USERS:
        old, new = getattr(before, name), getattr(after, name)
        for row, n in enumerate(before.num_users):
            ways = [np.delete(old[row, :n], user, 0) for user in range(n)]
            assert any(np.array_equal(way, new[row, : n - 1]) for way in ways)
    for part in (messages.text, messages.kind, messages.named, messages.is_message):
        np.testing.assert_array_equal(part(before.messages), part(after.messages))
    old, new = (np.asarray(messages.author(found.messages)) for found in (before, after))
    assert set((new - old)[np.asarray(messages.is_message(before.messages))].tolist()) >= {0, -1}


def test_another_share_of_mentions_keeps_the_mix_of_the_others():
    old, new = (shares(edges) / ONE for edges in EDITED.of_the_changed("ask", "kind_edges"))
    expected = old[:, :MENTION] / old[:, :MENTION].sum(1, keepdims=True) * (1 - new[:, MENTION:])
    np.testing.assert_allclose(new[:, :MENTION], expected, atol=17 / ONE)
    assert (new[:, MENTION] == 0).any()
    assert (new[:, MENTION] > 0.2).any()


@pytest.mark.parametrize(("name", "field"), [("talk", "kind_edges"), ("gather", "channel_edges")])
def test_two_shares_are_exchanged(name, field):
    old, new = (shares(edges) for edges in EDITED.of_the_changed(name, field))
    assert ((old != new).sum(1) == 2).all()
    np.testing.assert_array_equal(np.sort(old), np.sort(new))


def test_who_stays_longer_goes_on_to_the_same_states():
    old, new = EDITED.of_the_changed("stay", "presence_edges")
    state = (old != new).any(2).argmax(1)
    row, states = np.arange(len(old)), np.arange(4)
    old, new = (shares(edges)[row, state] / ONE for edges in (old, new))
    assert np.abs(new[row, state][:, None] - [0.3, 0.6, 0.85, 0.97]).min(1).max() < 4 * 16 / ONE
    leaves = states != state[:, None]
    shares_of = [np.where(leaves, found, 0) / np.where(leaves, found, 0).sum(1, keepdims=True) for found in (old, new)]
    np.testing.assert_allclose(*shares_of, atol=0.02)


def test_one_message_comes_or_goes():
    for name, by in (("add message", 1), ("drop message", -1)):
        before, after = EDITED.made(name)
        count = [np.asarray(messages.is_message(found.messages)).sum(1) for found in (before, after)]
        assert ((count[1] - count[0]).sum(1) == by).all()
        assert ((before.messages != after.messages).sum((1, 2)) == 1).all()


def test_numbers_are_others():
    for name in ("start in", "lengthen calls", "hurry answers", "greet", "ring"):
        (field,) = TOUCHES[name]
        assert changes(*EDITED.made(name))[field].all()
    (old, new) = EDITED.of_the_changed("ring", "call_rate")
    assert (new[old == 0] >= ONE // 2048).all()
    assert (new == 0).any()
