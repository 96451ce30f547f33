"""Statistics (docs/rules/teamsclone.md, section 4), at reset, in a worked course and as laws of random play."""

import jax
import numpy as np
import pytest

from jaxenv.envs.teamsclone.types import Statistics
from reference.teamsclone_cases import CHAT, REPLY, calls, initial, says, small
from reference.teamsclone_general import general
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game
from strategies.teamsclone_play import every_verb_alike, random_play

AT_RESET = {
    "steps": 0,
    "total_reward": 0,
    "messages_sent": 0,
    "channels_switched": 0,
    "channels_visited": 1,
    "mentions_received": 0,
    "mentions_answered": 0,
    "mentions_missed": 0,
    "mean_response_time": 0,
    "response_rate": 0,
    "valid_action_share": 0,
    "coverage": round(1 / 3, 6),
    "reactions_per_message": 0,
}


def test_statistics_at_reset():
    assert Game().statistics() == AT_RESET


def test_figures_pool_the_mentions_of_all_episodes():
    """One answer after 4 steps, three after 1.5, two missed: by episodes the rates would be 1, 0.6 and 0."""
    zero = np.zeros((3, 1))
    counted = Statistics(**dict.fromkeys(AT_RESET, zero)).replace(
        messages_sent=np.array([[6], [9], [0]]),
        mentions_answered=np.array([[1], [3], [0]]),
        mentions_missed=np.array([[0], [2], [0]]),
        mean_response_time=np.array([[4.0], [1.5], [0.0]]),
        coverage=np.array([[0.5], [1.0], [0.0]]),
        valid_action_share=np.array([[1.0], [0.7], [0.7]]),
    )
    expected = {
        "messages": 5,
        "mentions answered": 4 / 6,
        "response time": 8.5 / 4,
        "coverage": 0.5,
        "valid actions": 0.8,
    }
    assert counted.pooled() == pytest.approx(expected)
    assert counted.replace(mentions_answered=zero, mentions_missed=zero).pooled()["response time"] == 0.0


def test_statistics_of_a_course():
    game = Game(small(messages=[initial()], mention_window=3))
    for entry, world in (
        (Entry("react", 0, 1), says(0, "mention")),  # 0.05
        (REPLY, says(0, "mention")),  # 0.1 + 0.5 + 0.2, age 1
        (Entry("switch", 1), says(1, "mention")),  # 0.05 + 0.05 for presence
        (Entry("answer", 0), None),  # 0.1 + 0.5 + 0.2 + 0.05, age 2
        (Entry("switch", 0), None),  # not paid, 0.05
        (Entry("invalid_action"), None),  # -0.1 + 0.05
        (Entry("switch", 1), None),  # not paid, 0.05; the mention there is too old
        (Entry("idle"), calls(0)),
    ):
        step = game.play(entry, world=world)
    assert game.statistics() == {
        "steps": 8,
        "total_reward": pytest.approx(1.85, abs=1e-5),
        "messages_sent": 2,
        "channels_switched": 3,
        "channels_visited": 2,
        "mentions_received": 3,
        "mentions_answered": 2,
        "mentions_missed": 1,
        "mean_response_time": 1.5,
        "response_rate": round(2 / 3, 6),
        "valid_action_share": 7 / 8,
        "coverage": round(2 / 3, 6),
        "reactions_per_message": 1 / 5,  # the initial message and the invitation count
    }
    assert not step.terminated


def test_statistics_are_each_agents_own():
    game = Game(num_agents=2)
    game.play(CHAT, Entry("invalid_action"), world=says(0))
    game.play(Entry("switch", 1), Entry("react", 0, 0))
    one, other = game.statistics(0), game.statistics(1)
    assert [one[name] for name in ("messages_sent", "channels_visited", "valid_action_share")] == [1, 2, 1]
    assert [other[name] for name in ("messages_sent", "channels_visited", "valid_action_share")] == [0, 1, 0.5]
    assert (one["reactions_per_message"], other["reactions_per_message"]) == (0, 1)


@pytest.mark.parametrize("agents", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_statistics_of_random_play_add_up(agents):
    played = random_play(general(), agents, every_verb_alike(), seed=4)
    found, parts = played.info["statistics"], played.info["reward_parts"]
    np.testing.assert_allclose(sum(jax.tree.leaves(parts)), played.reward, atol=1e-5)
    np.testing.assert_allclose(found.total_reward, np.cumsum(played.reward, axis=1), atol=1e-3)
    np.testing.assert_array_equal(found.mentions_answered, np.cumsum(parts.mention_response > 0, axis=1))
    np.testing.assert_array_equal(found.steps[..., 0], np.broadcast_to(np.arange(1, 101), (64, 100)))
    np.testing.assert_allclose(found.valid_action_share, 1)
    waiting = played.state.waiting.sum(-1)
    settled = (found.mentions_answered + found.mentions_missed).sum(-1)
    np.testing.assert_array_equal(found.mentions_received.sum(-1), settled + waiting)
    pending = (played.state.messages.words >> 23 & 1).sum(-1)
    np.testing.assert_array_equal(pending, waiting)  # what waits still stands in a channel
    assert settled.sum() > 100
    assert 0 < found.response_rate.mean() < 1
