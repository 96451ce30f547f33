"""Farming earns nothing in TeamsClone: the bound where nobody posts, against what the engine pays."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import pytest

from reference.teamsclone import Episode
from reference.teamsclone_baselines import random_draws
from reference.teamsclone_bound import best_course, counts, presence_steps, upper_bound
from reference.teamsclone_cases import CHAT, IDLE, initial, small
from reference.teamsclone_general import general, without_rates
from reference.teamsclone_rules import EMOJI, WEIGHTS, Entry

QUIET = without_rates(general())


def test_the_best_return_without_rates_is_4_05() -> None:
    assert upper_bound(QUIET) == pytest.approx(4.05, abs=0)
    assert counts(QUIET, 100) == {
        **dict.fromkeys(WEIGHTS, 0),
        "send": 10,
        "switch": 24,
        "react": 3,
        "channel_engagement": 2,
        "presence": 30,
    }


def test_the_bound_is_reached() -> None:
    episode, rng = Episode(QUIET), random.Random(0)
    while not episode.over:
        episode.step([best_course(episode)], random_draws(rng))
    assert episode.statistics(0)["total_reward"] == 4.05


def test_only_switches_grow_with_time() -> None:
    short, long = counts(QUIET, 100), counts(QUIET, 1100)
    assert {part for part in WEIGHTS if short[part] != long[part]} == {"switch"}
    assert upper_bound(QUIET, 1100) - upper_bound(QUIET) == pytest.approx(12.5)  # 0.05 each, five channels, 50 times


@pytest.mark.parametrize(("messages", "reactions"), [(1, 0), (2, 0), (3, 0), (4, 0), (0, 4), (2, 2), (4, 1)])
def test_presence_is_counted_as_by_trying_every_time_of_the_acts(messages: int, reactions: int) -> None:
    best = 0
    for sends in combinations(range(14), messages):
        if any(late - early <= 9 for early, late in zip(sends, sends[3:], strict=False)):
            continue  # the fourth within ten steps
        for others in combinations(sorted(set(range(14)) - set(sends)), reactions):
            acts = {*sends, *others}
            best = max(best, sum(len(acts & set(range(step - 5, step))) >= 2 for step in range(20)))
    assert presence_steps(messages, reactions) == best


def test_the_argument_refuses_workspaces_that_it_is_not_for() -> None:
    quiet = without_rates(small())
    for document in (general(), {**quiet, "messages": [initial(kind="mention")]}):
        with pytest.raises(ValueError, match="argument"):
            upper_bound(document)


@pytest.mark.parametrize("num_agents", [1, 2])
def test_no_part_pays_more_often_than_counted(num_agents: int) -> None:
    most, rng = counts(QUIET, 100), random.Random(1)
    for _ in range(15):
        episode = Episode(QUIET, num_agents)
        paid = [Counter[str]() for _ in episode.agents]
        while not episode.over:
            entries = [_eager(episode, agent, rng) for agent in range(num_agents)]
            step = episode.step(entries, random_draws(rng))
            for own, parts in zip(paid, step.parts, strict=True):
                own.update(part for part, amount in parts.items() if amount)
        for agent, own in enumerate(paid):
            assert all(own[part] <= most[part] for part in set(WEIGHTS) - {"presence", "spam"})
            assert own["presence"] <= most["presence"] + 5 * own["spam"]  # what spam adds costs twice as much
            assert episode.statistics(agent)["total_reward"] <= upper_bound(QUIET)


def _eager(episode: Episode, agent: int, rng: random.Random) -> int:
    """A legal entry, every verb with the same chance."""
    legal = episode.legal(agent)
    verb = rng.choice(sorted({episode.entries[index].verb for index in legal}))
    return rng.choice([index for index in legal if episode.entries[index].verb == verb])


FARMS: dict[str, Callable[[Episode, int], Entry]] = {
    "alternating two channels": lambda episode, agent: Entry("switch", int(episode.agents[agent].channel == 0)),
    "talking to oneself": lambda episode, agent: CHAT,
    "repeating reactions": lambda episode, agent: Entry("react", episode.clock % 2, episode.clock % len(EMOJI)),
    "rejoining calls": lambda episode, agent: Entry("join", 0),
    "a message every tenth step": lambda episode, agent: IDLE if episode.clock % 10 else CHAT,
}
REACHED = {
    "alternating two channels": 0.05 * 5 + 0.05 * 4,
    "talking to oneself": 0.1 * 2 - 0.5 * 98 + 0.05 * 98,
    "repeating reactions": 0.05 * 2 - 0.1 * 98 + 0.05 * 4,
    "rejoining calls": -0.1 * 100,
    "a message every tenth step": 0.1 * 2 - 0.5 * 8,
}


@pytest.mark.parametrize("farm", FARMS)
def test_farms_earn_nothing(farm: str) -> None:
    episode, rng = Episode(QUIET), random.Random(0)
    while not episode.over:
        episode.step([episode.entries.index(FARMS[farm](episode, 0))], random_draws(rng))
    assert episode.statistics(0)["total_reward"] == pytest.approx(REACHED[farm], abs=1e-9)
