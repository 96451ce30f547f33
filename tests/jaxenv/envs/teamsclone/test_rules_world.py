"""Worked cases of docs/rules/teamsclone.md, section 1: what teammates do by their draws, and calls."""

import pytest

from reference.teamsclone_cases import BEN, SMALL, STAYS, calls, draws, initial, says, small
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game

ROWS = {**STAYS, "available": [0.5, 0.25, 0.25, 0], "away": [0, 0, 0, 1]}


def go(channel):
    return Entry("switch", channel)


def with_users(*changes, **more):
    """The small document with changes to its users, in their order."""
    users = [{**user, **change} for user, change in zip(SMALL["users"], changes, strict=True)]
    return small(users=users, **more)


def authors(game, channel=0):
    return [message.author for message in game.kept(channel)]


# ------------------------------------------------------------------------------------------ teammates


def test_ours_presence_moves_by_the_row_of_the_current_one_before_the_post():
    for draw, expected, posts in ((0x7FFF, "available", 1), (0x8000, "busy", 1), (0xC000, "away", 0)):
        game = Game(with_users({"presence_transition": ROWS}, {"status": "away", "presence_transition": ROWS}))
        game.play(world=says(0)._replace(presence=[draw, *[0] * 6]))
        assert (game.presence, len(game.kept())) == ([expected, "offline"], posts)  # who left does not post
        assert game.shown().present[:2].tolist() == [bool(posts), False]


def test_ours_every_teammate_moves_by_its_own_draw():
    game = Game(with_users(*[{"presence_transition": ROWS}] * 2))
    game.play(world=draws()._replace(presence=[0xC000, 0x8000, *[0] * 5]))
    assert game.presence == ["away", "busy"]


@pytest.mark.parametrize(
    ("draw", "expected"), [(0, 0), (32767, 0), (32768, 1), (49151, 1), (49152, None), (65535, None)]
)
def test_ours_at_most_one_posts_drawn_by_rate(draw, expected):
    game = Game()
    game.play(world=draws(author=draw, channel=21845, kind=13108, text=32768))
    found = [(message.author, message.kind, message.text) for message in game.kept(1)]
    assert found == ([] if expected is None else [(expected, "question", "question 1")])
    assert (game.kept(0), game.kept(2)) == ([], [])


def test_ours_only_the_available_and_busy_post():
    game = Game(with_users({"status": "away"}, {}))
    for draw in (0, 16383, 16384):
        game.play(world=draws(author=draw))
    assert authors(game) == [BEN, BEN]
    game = Game(with_users({"status": "offline"}, {"status": "busy"}))
    game.play(world=draws())
    game.play(world=draws(author=0))
    assert authors(game) == [BEN]


def test_ours_rates_above_one_in_all_are_shared():
    game = Game(with_users({"post_rate": 1.0}, {"post_rate": 0.5}))  # level = floor(draw * 1.5)
    for draw in (43690, 43691, 65535):
        game.play(world=draws(author=draw))
    assert authors(game) == [0, 1, 1]


def test_ours_channel_preference_and_kind_mix_are_each_teammates_own():
    own = {"channel_preference": {"a": 0, "b": 1, "c": 3}, "kind_mix": {**SMALL["users"][0]["kind_mix"], "chatter": 0}}
    game = Game(with_users({}, own))
    for channel, kind in ((0, 0), (16383, 16383), (16384, 16384), (65535, 65535)):
        game.play(world=draws(author=32768, channel=channel, kind=kind))
    assert [[m.kind for m in game.kept(c)] for c in range(3)] == [[], ["question"] * 2, ["greeting", "mention"]]


def test_ours_the_text_is_uniform_among_those_of_its_kind():
    game = Game()
    for text in (0, 32767, 32768, 65535):
        game.play(world=says(0, "announcement")._replace(text=text))
    assert [message.text for message in game.kept()] == [f"announcement {n}" for n in (0, 0, 1, 1)]


def test_ours_a_mention_names_an_agent_uniformly_and_pends():
    game = Game(num_agents=2)
    for mention in (0, 32767, 32768, 65535):
        game.play(world=says(0, "mention", mention=mention))
    assert [(message.named, message.pending) for message in game.kept()] == [(n, True) for n in (0, 0, 1, 1)]
    assert [game.statistics(agent)["mentions_received"] for agent in (0, 1)] == [2, 2]
    game.play(world=says(0, "announcement", mention=65535))
    assert (game.kept()[-1].named, game.kept()[-1].pending) == (None, False)


def test_a_channel_keeps_ten_messages():
    game = Game(small(messages=[initial()]))
    game.wait(10, says(0))
    assert [message.posted for message in game.kept()] == list(range(10))
    assert int(game.state.messages.count[0]) == 11  # ids go on


# ---------------------------------------------------------------------------------------------- calls


@pytest.mark.parametrize(("draw", "channel"), [(0, 0), (16383, 0), (16384, 1), (49151, 2)])
def test_ours_a_call_starts_in_a_channel_by_its_rate_in_place_of_the_post(draw, channel):
    game = Game()
    game.play(world=draws(call=draw, author=32768, text=32768))
    assert game.of_channels("running") == [each == channel for each in range(3)]
    found = [(c, m.author, m.kind, m.text) for c in range(3) for m in game.kept(c)]
    assert found == [(channel, BEN, "invitation", "invitation 1")]


def test_ours_else_no_call_starts_and_somebody_posts():
    game = Game()
    game.play(world=draws(call=49152, author=0))
    assert (game.of_channels("running"), [m.kind for m in game.kept()]) == ([False] * 3, ["chatter"])


def test_ours_no_call_starts_without_somebody_available_or_busy():
    game = Game(with_users({"status": "away"}, {"status": "offline"}))
    game.play(world=draws(call=0, author=0))
    assert (game.of_channels("running"), game.kept()) == ([False] * 3, [])


def test_ours_the_author_of_a_call_is_uniform_among_those_present_whatever_their_rates():
    for draw, author in ((32767, 0), (32768, BEN)):
        game = Game(with_users({}, {"post_rate": 0.0}))
        game.play(world=draws(call=0, author=draw))
        assert authors(game) == [author]
    game = Game(with_users({"status": "away"}, {"post_rate": 0.0}))
    game.play(world=calls(0))
    assert authors(game) == [BEN]


def test_ours_none_starts_where_one_runs():
    game = Game()
    game.play(world=calls(0))
    game.play(world=draws(call=16384))  # now channel 1 has 0 .. 16383 and channel 2 the next 16384
    assert game.of_channels("running") == [True, False, True]
    game.play(world=draws(call=16384))
    assert game.of_channels("running") == [True, False, True]


def test_ours_a_call_can_be_joined_for_the_next_call_length_steps():
    game = Game()
    game.play(world=calls(1))  # at 0: joinable at 1, 2 and 3
    found = []
    for _ in range(5):
        found.append((game.legal(Entry("join", 1)), game.of_channels("running")[1]))
        game.wait(1)
    assert found == [(True, True)] * 3 + [(False, False)] * 2
    game = Game()
    game.play(world=calls(1))
    game.wait(2)
    assert game.earns(Entry("join", 1)) == {"join_call": 0.3}  # in its last step
    assert (game.of_channels("running"), game.of_channels("joined")) == ([False] * 3, [False] * 3)


def test_ours_an_agent_stays_in_its_calls_until_they_end_and_joins_each_once():
    game = Game()
    game.play(world=calls(0))
    game.play(Entry("join", 0), world=draws(call=0))  # one starts in channel 1
    game.play(Entry("join", 1))
    assert game.of_channels("joined") == [True, True, False]
    game.play(go(2))
    assert game.of_channels("joined") == [False, True, False]  # the first one has ended
    game.play(world=calls(0))
    assert game.earns(Entry("join", 0))["join_call"] == 0.3  # a new one
