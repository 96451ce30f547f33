"""Worked cases of docs/rules/teamsclone.md, section 1: what becomes of mentions, unread counts and status."""

import pytest

from reference.teamsclone_cases import CHAT, IDLE, NEVER, REPLY, calls, initial, says, small
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game


def go(channel):
    return Entry("switch", channel)


# ------------------------------------------------------------------------------------------- mentions


def test_a_mention_is_first_seen_and_answered_at_age_one():
    game = Game()
    assert game.earns(CHAT, world=says(0, "mention")) == {"send": 0.1}  # posted in this very step
    assert game.window()[0][2:5] == (True, True, 1)
    assert game.earns(REPLY) == {"send": 0.1, "mention_response": 0.5, "timely_response": 0.2}
    assert [message.pending for message in game.kept()] == [False] * 3


def test_any_message_answers_and_a_reaction_does_not():
    for template in range(6):
        game = Game()
        game.play(world=says(0, "mention"))
        assert game.earns(Entry("react", 0, 0)) == {"react": 0.05}
        assert "mention_response" in game.earns(Entry("text", template))


def test_ours_a_mention_that_was_not_seen_cannot_be_answered():
    game = Game()
    game.play(world=says(1, "mention"))
    assert game.earns(Entry("answer", 1)) == {"send": 0.1}
    game.play(go(1))
    game.play(go(0))
    assert "mention_response" in game.earns(Entry("answer", 1))  # seen before: from afar, too


def test_ours_what_was_seen_is_each_agents_own():
    game = Game(num_agents=2)
    game.play(IDLE, go(1), world=says(1, "mention"))
    assert game.kept(1)[0].seen == [False, True]
    assert game.play(Entry("answer", 1)).parts[0] == {"send": 0.1}
    assert "mention_response" in game.play(IDLE, REPLY).parts[1]


def test_ours_the_oldest_seen_mention_is_answered():
    game = Game()
    for _ in range(2):
        game.play(world=says(0, "mention"))
    game.play(REPLY)
    assert [message.pending for message in game.kept()] == [False, True, False]
    game = Game(small(mention_window=20))
    game.play(go(1), world=says(0, "mention"))  # not seen
    game.play(go(0))
    game.play(go(1), world=says(0, "mention"))  # now the first is seen, the second is not
    assert "mention_response" in game.earns(Entry("answer", 0))
    assert "mention_response" not in game.earns(Entry("answer", 0))
    assert [message.pending for message in game.kept()[:2]] == [False, True]


@pytest.mark.parametrize(("steps", "answered"), [(4, True), (5, False)])
def test_ours_a_mention_older_than_the_window_is_missed(steps, answered):
    game = Game()  # a window of five
    game.play(world=says(0, "mention"))
    game.wait(steps)
    assert game.statistics()["mentions_missed"] == (not answered)
    assert game.kept()[0].pending == answered
    assert ("mention_response" in game.earns(REPLY)) == answered
    game.wait(3)
    assert game.statistics()["mentions_missed"] == (not answered)


def test_ours_a_mention_pushed_out_is_missed_by_the_agent_it_names():
    game = Game(small(mention_window=50), num_agents=2)
    game.play(world=says(0, "mention", mention=NEVER))
    for posts, missed in ((9, [0, 0]), (1, [0, 1])):
        game.wait(posts, says(0))
        assert [game.statistics(agent)["mentions_missed"] for agent in (0, 1)] == missed


def test_ours_an_agents_own_message_can_push_a_mention_out():
    game = Game(small(mention_window=50))
    game.play(world=says(1, "mention"))
    game.wait(9, says(1))
    game.play(Entry("answer", 1))  # it has not seen the mention
    assert [game.statistics()[f"mentions_{name}"] for name in ("answered", "missed")] == [0, 1]


@pytest.mark.parametrize(("entry", "missed"), [(REPLY, 0), (Entry("answer", 1), 1)])
def test_a_mention_answered_in_the_step_that_pushes_it_out_is_answered(entry, missed):
    game = Game(small(mention_window=50))
    game.play(world=says(0, "mention"))
    game.wait(9, says(0))
    game.play(entry, world=says(0))
    assert [game.statistics()[f"mentions_{name}"] for name in ("answered", "missed")] == [1 - missed, missed]


def test_an_initial_mention_pends_at_age_one_and_counts_as_received():
    game = Game(small(messages=[initial(kind="mention")]))
    assert (game.statistics()["mentions_received"], game.window()[0].age) == (1, 1)
    state = game.state
    assert "timely_response" in game.earns(REPLY)
    game.state = state
    game.wait(4)
    assert game.statistics()["mentions_missed"] == 0
    game.wait(1)
    assert game.statistics()["mentions_missed"] == 1


# --------------------------------------------------------------------------------- unread and status


def test_unread_counts_messages_and_invitations_elsewhere_and_initial_ones():
    game = Game(small(messages=[initial("a"), initial("b"), initial("b")]))
    assert game.of_channels("unread") == [0, 2, 0]
    for world in (says(0), says(2), calls(2)):
        game.play(world=world)
    assert game.of_channels("unread") == [0, 2, 2]


def test_switching_clears_unread_before_the_post_and_sending_from_afar_does_not():
    game = Game(small(messages=[initial("b")]))
    game.play(Entry("answer", 1))
    assert game.of_channels("unread") == [0, 1, 0]
    game.play(go(1), world=says(1))
    assert game.of_channels("unread") == [0, 0, 0]
    game.play(go(0), world=says(1))
    assert game.of_channels("unread") == [0, 1, 0]


def test_another_agents_messages_are_unread_where_one_is_not_after_its_switch():
    game = Game(num_agents=2)
    game.play(CHAT, go(1))
    assert [game.of_channels("unread", agent) for agent in (0, 1)] == [[0, 0, 0], [1, 0, 0]]
    game.play(Entry("answer", 1), go(2))
    assert [game.of_channels("unread", agent) for agent in (0, 1)] == [[0, 0, 0], [1, 1, 0]]
    game.play(CHAT, go(0))
    assert [game.of_channels("unread", agent) for agent in (0, 1)] == [[0, 0, 0], [0, 1, 0]]


def test_unread_saturates_at_255():
    game = Game()
    game.state = game.state.replace(unread=game.state.unread.at[0, 1].set(254))
    for expected in (255, 255):
        game.play(world=says(1))
        assert game.of_channels("unread")[1] == expected


def test_ours_an_agent_is_away_six_steps_after_its_last_act_or_the_reset():
    game, away = Game(), []
    for step in range(16):
        away.append(bool(game.shown().away))
        game.play(CHAT if step == 8 else IDLE)
    assert away == [False] * 6 + [True] * 3 + [False] * 5 + [True] * 2
