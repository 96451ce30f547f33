"""The reference engine of TeamsClone against worked cases: statistics and observation."""

from __future__ import annotations

import random

import pytest

from reference.teamsclone_baselines import random_draws
from reference.teamsclone_cases import (
    BEN,
    CHAT,
    REPLY,
    calls,
    game,
    initial,
    play,
    says,
    small,
    wait,
)
from reference.teamsclone_rules import Entry

FIRST_AGENT = 0  # a draw that names it

# ----------------------------------------------------------------------------------------- statistics


def test_statistics_at_reset() -> None:
    assert game().statistics(0) == {
        "steps": 0,
        "total_reward": 0.0,
        "messages_sent": 0,
        "channels_switched": 0,
        "channels_visited": 1,
        "mentions_received": 0,
        "mentions_answered": 0,
        "mentions_missed": 0,
        "mean_response_time": 0.0,
        "response_rate": 0.0,
        "valid_action_share": 0.0,
        "coverage": 1 / 3,
        "reactions_per_message": 0.0,
    }


def test_statistics_of_a_course() -> None:
    episode = game(small(messages=[initial()], mention_window=3))
    play(episode, Entry("react", 0, 1), world=says(0, "mention"))  # 0.05
    play(episode, REPLY, world=says(0, "mention"))  # 0.1 + 0.5 + 0.2, age 1
    play(episode, Entry("switch", 1), world=says(1, "mention"))  # 0.05 + 0.05 presence
    play(episode, Entry("answer", 0))  # 0.1 + 0.5 + 0.2 + 0.05, age 2
    play(episode, Entry("switch", 0))  # not paid: only 4 steps after reset; 0.05
    play(episode, Entry("invalid_action"))  # -0.1 + 0.05; then the one of channel 1 has age 4
    play(episode, Entry("switch", 1))  # at 6, not paid; acts at 1 and 3: 0.05
    play(episode, world=calls(0))
    assert episode.statistics(0) == {
        "steps": 8,
        "total_reward": pytest.approx(0.05 + 0.8 + 0.1 + 0.85 + 0.05 - 0.05 + 0.05, abs=1e-12),
        "messages_sent": 2,
        "channels_switched": 3,
        "channels_visited": 2,
        "mentions_received": 3,
        "mentions_answered": 2,
        "mentions_missed": 1,
        "mean_response_time": 1.5,
        "response_rate": 2 / 3,
        "valid_action_share": 7 / 8,
        "coverage": 2 / 3,
        "reactions_per_message": 1 / 5,
    }


def test_the_share_of_valid_actions_is_of_the_steps_so_far() -> None:
    episode = game()
    play(episode, Entry("invalid_action"))
    play(episode)
    assert episode.statistics(0)["valid_action_share"] == 0.5


def test_every_mention_is_answered_missed_or_pending_and_parts_sum_to_rewards() -> None:
    rng = random.Random(3)
    for _ in range(5):
        episode = game(num_agents=3, shared_reward=0.25)
        while not episode.over:
            entries = [rng.choice(episode.legal(agent)) for agent in range(3)]
            step = episode.step(entries, random_draws(rng))
            sums = [sum(parts.values()) for parts in step.parts]
            assert step.rewards == pytest.approx(sums, abs=1e-12)
        agents = episode.agents
        settled = sum(len(agent.answer_ages) + agent.missed for agent in agents)
        assert sum(agent.received for agent in agents) == settled + len(episode.pending())
        assert settled > 0


# ---------------------------------------------------------------------------------------- observation


def test_the_observation_at_reset() -> None:
    messages = [initial(text="old"), initial(user="ben", kind="question", text="new"), initial("c")]
    shown = game(small(messages=messages, start_channel="a")).observation(0)
    assert [tuple(message) for message in shown.window] == [
        ("msg-a-2", BEN, "question", False, False, 1, None, "new"),
        ("msg-a-1", 0, "chatter", False, False, 1, None, "old"),
    ]
    assert (shown.team, shown.channel, shown.clock, shown.available, shown.own_sends) == (0, 0, 0, True, 0)
    assert shown.exists == [True] * 3 + [False] * 5
    assert shown.unread == [0, 0, 1, 0, 0, 0, 0, 0]
    assert shown.running == shown.joined == [False] * 8
    assert shown.present == [True, True] + [False] * 5
    assert shown.run == [0] * 8


def test_the_observation_follows_the_agent() -> None:
    episode = game(small(start_channel="b"), num_agents=2)
    play(episode, Entry("switch", 2), world=says(2, "mention", mention=FIRST_AGENT))
    play(episode, Entry("react", 0, 3), Entry("switch", 2), world=calls(1))
    play(episode, Entry("join", 1), CHAT)
    play(episode, REPLY)
    own, other = episode.observation(0), episode.observation(1)
    assert (own.team, own.channel, own.clock) == (1, 2, 4)
    assert own.window[2] == ("msg-c-1", 0, "mention", True, False, 4, 3, "mention 0")
    assert other.window[2] == ("msg-c-1", 0, "mention", False, False, 4, None, "mention 0")
    assert (own.window[0].author, own.window[1].author) == ("agent 0", "agent 1")
    assert own.unread == other.unread == [0, 1, 0, 0, 0, 0, 0, 0]
    assert (own.running, own.joined) == ([False, True, *[False] * 6], [False, True, *[False] * 6])
    assert other.joined == [False] * 8
    assert own.run == other.run == [0, 0, 2, 0, 0, 0, 0, 0]
    assert (own.own_sends, other.own_sends) == (1, 1)


def test_own_sends_are_those_of_nine_steps() -> None:
    episode = game()
    play(episode, CHAT)
    wait(episode, 8)
    assert episode.observation(0).own_sends == 1  # at clock 9 it was sent nine steps before
    wait(episode, 1)
    assert episode.observation(0).own_sends == 0
