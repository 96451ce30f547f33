"""Rates, chains, schedules and the words of channels in which the agent is not never reach an observation.

That no number of them does, in random play, is a law of every environment and tested with those.
"""

import jax
import numpy as np

from reference.teamsclone_cases import CHAT, calls, initial, says, small
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game


def games(**other):
    """Two games that differ in what is hidden only."""
    plain = small(messages=[initial("b", text="one")])
    changed = small(messages=[initial("b", text="another", kind="question", user="ben")], **other)
    users = [{**user, "post_rate": user["post_rate"] / 2} for user in changed["users"]]
    return Game(plain), Game(changed | {"users": users, "mention_window": 9})


def shown_apart(one, other):
    """The names of the fields in which two games look different."""
    return [
        name
        for name in vars(one.shown())
        if not jax.tree.all(jax.tree.map(np.array_equal, getattr(one.shown(), name), getattr(other.shown(), name)))
    ]


def test_the_words_of_another_channel_show_when_the_agent_goes_there_and_not_before():
    one, other = games()
    for entry, world in ((CHAT, says(2, "mention")), (Entry("idle"), calls(2)), (Entry("answer", 1), None)):
        assert shown_apart(one, other) == []
        one.play(entry, world=world)
        other.play(entry, world=world)
    assert shown_apart(one, other) == []
    for game in (one, other):
        game.play(Entry("switch", 1))
    assert shown_apart(one, other) == ["messages"]
    assert (one.window()[1].text, other.window()[1].text) == ("one", "another")


def test_where_a_mention_stands_is_only_an_unread_count():
    one, other = Game(), Game()
    one.play(world=says(1, "mention"))
    other.play(world=says(1, "chatter"))
    assert shown_apart(one, other) == []
    for game in (one, other):
        game.play(Entry("switch", 1))
    assert shown_apart(one, other) == ["messages"]


def test_available_and_busy_look_alike_and_so_do_away_and_offline():
    def with_status(*status):
        users = [{**user, "status": each} for user, each in zip(small()["users"], status, strict=True)]
        return Game(small(users=users))

    assert shown_apart(with_status("available", "away"), with_status("busy", "offline")) == []
    assert shown_apart(with_status("available", "away"), with_status("away", "away")) == ["present"]


def test_a_schedule_does_not_show():
    one = Game(variant="mentions", schedule=[(3, 1, 0), (9, 0, 1)])
    other = Game(variant="mentions", schedule=[(4, 2, 1), (30, 1, 0), (31, 1, 0)])
    for _ in range(3):
        assert shown_apart(one, other) == []
        one.play()
        other.play()
