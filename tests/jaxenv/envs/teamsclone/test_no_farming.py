"""No farming (docs/rules/teamsclone.md, section 7): where nobody posts and no call starts, nothing earns for long."""

import random

import numpy as np
import pytest

from reference.teamsclone import Episode
from reference.teamsclone_baselines import random_draws
from reference.teamsclone_bound import best_course, counts, upper_bound
from reference.teamsclone_cases import CHAT, IDLE, draws
from reference.teamsclone_general import general, without_rates
from reference.teamsclone_rules import EMOJI, WEIGHTS, Entry
from strategies.teamsclone_game import ENTRIES, Game
from strategies.teamsclone_play import every_verb_alike, random_play

QUIET = without_rates(general())
MOST = 4.5


def test_the_best_return_of_any_policy_without_rates_is_4_05():
    """The argument, part by part, stands with the bound; the engines are held together by their comparison."""
    assert upper_bound(QUIET) == pytest.approx(4.05, abs=0)
    assert upper_bound(QUIET) <= MOST


def test_4_05_is_reached():
    game, guide = Game(QUIET), Episode(QUIET)
    rewards = []
    for _ in range(100):
        entry = best_course(guide)
        rewards += game.play(int(entry)).rewards
        guide.step([entry], random_draws(random.Random(0)))
    assert sum(rewards) == pytest.approx(4.05, abs=1e-5)
    assert game.statistics()["total_reward"] == pytest.approx(4.05, abs=1e-4)


def taste_for(kind):
    """[A] float32: every verb alike, or messages seldom."""
    seldom = np.array([entry.verb in ("text", "answer") for entry in ENTRIES])
    return every_verb_alike() - np.float32(4) * (seldom if kind == "few messages" else 0 * seldom)


@pytest.mark.slow
@pytest.mark.parametrize("taste", ["alike", "few messages"])
@pytest.mark.parametrize("agents", [1, 2])
def test_no_agent_earns_more_in_random_play_and_no_part_pays_more_often(agents, taste):
    played = random_play(QUIET, agents, taste_for(taste), seed=6)
    assert played.reward.sum(1).max() <= 4.05
    most = counts(QUIET, 100)
    often = {name: (value != 0).sum(1) for name, value in vars(played.info["reward_parts"]).items()}
    assert set(often) == set(WEIGHTS)
    for name in set(WEIGHTS) - {"presence", "spam"}:
        assert (often[name] <= most[name]).all(), name
    assert (often["presence"] <= most["presence"] + 5 * often["spam"]).all()  # what spam adds costs twice as much
    assert often["switch"].max() >= 10
    assert often["mention_response"].sum() == often["join_call"].sum() == 0


FARMS = {
    "alternating two channels": (
        lambda game, clock: Entry("switch", int(int(game.state.channel[0]) == 0)),
        0.05 * 5 + 0.05 * 4,  # entries of channel 1 at 0, 20, ..., of channel 0 from 21 on
    ),
    "talking to oneself": (lambda game, clock: CHAT, 0.1 * 2 - 0.5 * 98 + 0.05 * 98),
    "repeating reactions": (
        lambda game, clock: Entry("react", clock % 2, clock % len(EMOJI)),
        0.05 * 2 - 0.1 * 98 + 0.05 * 4,
    ),
    "rejoining calls": (lambda game, clock: Entry("join", 0), -0.1 * 100),
    "a message every tenth step": (lambda game, clock: IDLE if clock % 10 else CHAT, 0.1 * 2 - 0.5 * 8),
}


@pytest.mark.parametrize("farm", FARMS)
def test_what_could_be_repeated_earns_nothing_in_the_long_run(farm):
    act, expected = FARMS[farm]
    game = Game(QUIET)
    rewards = [game.play(act(game, clock)).rewards[0] for clock in range(100)]
    assert sum(rewards) == pytest.approx(expected, abs=1e-4)
    assert sum(rewards[25:]) <= 0.05 * 8 + 1e-6


def test_a_call_is_joined_once_however_often_it_is_tried():
    game = Game(general())
    game.play(world=draws(call=0))
    rewards = [game.play(Entry("join", 0)).rewards[0] for _ in range(8)]
    assert rewards == pytest.approx([0.3] + [-0.1] * 7)


def test_two_that_talk_to_each_other_are_no_teammates():
    game = Game(QUIET, num_agents=2)
    total = np.zeros(2)
    for clock in range(60):
        total += game.play(*([CHAT, IDLE] if clock % 20 == 10 else [IDLE, CHAT] if clock % 20 == 0 else [])).rewards
    assert total.max() <= 0.3  # two messages before spam, and engagement once
    assert total.sum() < 0
