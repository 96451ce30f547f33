"""The baselines of TeamsClone on the reference engine: what they do, and roughly what they earn on `general`."""

from __future__ import annotations

import random

import pytest

from reference.teamsclone_baselines import MaskedRandom, Random, RuleBased, figures, play
from reference.teamsclone_cases import IDLE, REPLY, calls, draws, game, initial, says, small
from reference.teamsclone_cases import play as one_step
from reference.teamsclone_general import general
from reference.teamsclone_rules import Entry

STATUS = Entry("text", 3)


def test_random_plays_the_whole_catalogue_and_masked_random_only_what_is_legal() -> None:
    rng, episode = random.Random(0), game()
    assert {Random(rng)(episode) for _ in range(3000)} == set(range(114))
    assert {MaskedRandom(rng)(episode) for _ in range(3000)} == set(episode.legal(0))


def test_rule_based_idles_and_makes_every_eighth_idle_step_a_status_message() -> None:
    episode, policy = game(), RuleBased(random.Random(0))
    entries = []
    for _ in range(17):
        entries.append(episode.entries[policy(episode)])
        one_step(episode, entries[-1])
    assert [step for step, entry in enumerate(entries) if entry == STATUS] == [7, 15]
    assert set(entries) == {STATUS, IDLE}


def test_rule_based_answers_a_mention_of_its_own_before_all_else() -> None:
    episode, policy = game(small(call_length=9)), RuleBased(random.Random(0))
    one_step(episode, world=calls(1))
    one_step(episode, world=says(0, "mention"))
    assert episode.entries[policy(episode)] == REPLY
    one_step(episode, REPLY)
    assert episode.entries[policy(episode)] == Entry("join", 1)
    one_step(episode, Entry("join", 1))
    assert episode.entries[policy(episode)] == IDLE
    pair = game(num_agents=2)
    one_step(pair, world=says(0, "mention", mention=65535))
    assert pair.entries[RuleBased(random.Random(0))(pair)] == IDLE  # it names the other agent


def test_rule_based_goes_where_most_is_unread_after_five_steps_in_a_channel() -> None:
    messages = [initial("c"), initial("c"), initial("b"), initial("b")]
    episode, policy = game(small(messages=messages)), RuleBased(random.Random(0))
    entries = []
    for _ in range(13):
        entries.append(episode.entries[policy(episode)])
        one_step(episode, entries[-1], world=says(0))
    assert [(step, entry) for step, entry in enumerate(entries) if entry.verb == "switch"] == [
        (5, Entry("switch", 1)),
        (11, Entry("switch", 0)),  # in channel 1 since clock 6
    ]


def test_rule_based_stays_for_a_single_unread_message() -> None:
    episode, policy = game(small(messages=[initial("b")])), RuleBased(random.Random(0))
    for _ in range(10):
        assert episode.entries[policy(episode)] in (IDLE, STATUS)
        one_step(episode, world=draws())


def test_an_episode_is_played_to_its_end() -> None:
    rng = random.Random(0)
    assert play(game(time_limit=7), Random(rng), rng)["steps"] == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baseline", "reward", "messages", "response_rate"),
    [(Random, -2.8, 8.8, 0.11), (MaskedRandom, -4.0, 39, 0.30), (RuleBased, 3.6, 12.0, 0.74)],
)
def test_general_gives_about_the_figures_of_the_rules(
    baseline: type, reward: float, messages: float, response_rate: float
) -> None:
    found = figures(general(), baseline, episodes=60, seed=5)
    assert found.reward[0] == pytest.approx(reward, abs=4 * found.reward[1] / 60**0.5)
    assert found.messages[0] == pytest.approx(messages, abs=4 * found.messages[1] / 60**0.5)
    assert found.response_rate == pytest.approx(response_rate, abs=0.1)
