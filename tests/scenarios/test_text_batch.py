"""Many episodes at once: each is that of `TextEnv`, to the letter, whatever is answered."""

import random

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from scenarios import ScenarioError, TextBatch, TextEnv
from scenarios.situation import Turn
from strategies.ids import FIRST_OF_ITS_ENGINE

ODD = ("nothing", "99999", '{"action_type": "wait"}', "1", None, 10**6)
N = 6


@pytest.mark.parametrize("id", FIRST_OF_ITS_ENGINE)
def test_every_episode_is_that_of_a_single_one(id):
    batch, singles = TextBatch(id, N, seed=3), [TextEnv(id, None, 3 + number) for number in range(N)]
    dice = random.Random(1)
    for _ in range(2):
        texts = batch.reset()
        assert list(texts) == [single.reset() for single in singles]
        assert texts[-1] == texts[N - 1] == texts[4:][1]
        for _ in range(12):
            legal = [np.flatnonzero(row).tolist() for row in batch.legal]
            assert legal == [list(single.legal_actions) for single in singles]
            answers = [dice.choice(row) if row and dice.random() < 0.8 else dice.choice(ODD) for row in legal]
            results = batch.step(answers)
            expected = [single.step(answer) for single, answer in zip(singles, answers, strict=True)]
            assert list(zip(*results, strict=True)) == expected
        assert batch.legal_actions(2) == singles[2].legal_actions


def test_texts_are_made_when_they_are_read(monkeypatch):
    batch = TextBatch("LifeOps-v0", 3, "easy_1")
    batch.reset()
    made = []
    monkeypatch.setattr(Turn, "text", lambda turn: made.append(turn) or "a text")
    texts, rewards, dones, _ = batch.step(["1", "0", "no number"])
    assert not made
    assert [texts[0], texts[0]] == ["a text"] * 2
    assert len(made) == 1
    assert (rewards[2], dones[2]) == (0.0, False)


def test_an_episode_that_is_over_stays_as_it_is():
    batch = TextBatch("LifeOps-v0", 2, "easy_1")
    with pytest.raises(ScenarioError, match="no episode is running: reset begins one"):
        batch.step([0, 0])
    assert not batch.legal.any()
    batch.reset()
    while not batch.step([0, "wait"]).dones[0]:
        pass
    texts, rewards, _, infos = batch.step([0, 1])
    assert texts[0] == "no episode is running: reset begins one."
    assert (rewards[0], infos[0]["step_taken"], infos[1]["step_taken"]) == (0.0, False, True)
    assert not batch.legal[0].any()
    assert batch.legal_actions(0) == {}


@pytest.mark.slow
def test_scenarios_that_were_drawn_are_a_library():
    env = jaxenv.make("LifeOps-v0")[0]
    bank = jaxenv.ScenarioBank.stack([env.generate(jax.random.key(seed), 0.5) for seed in range(3)])
    library = scenarios.decompile("lifeops", bank)
    texts = TextBatch("LifeOps-v0", 8, library=library).reset()
    assert len(set(texts)) > 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "LifeOps-v00"}, "LifeOps-v0"),
        ({"scenario": "easy_9"}, "easy_"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": "1"}, 'the seed is "1"'),
        ({"seed": 2**32 - 1}, "the seed is 4294967296"),
        ({"n": 0}, "n is 0, expected at least 1"),
    ],
)
def test_a_mistake_is_named(change, message):
    with pytest.raises(ScenarioError, match=message):
        TextBatch(**{"id": "LifeOps-v0", "n": 2, **change})


def test_there_is_an_answer_for_each():
    batch = TextBatch("LifeOps-v0", 2)
    batch.reset()
    with pytest.raises(ScenarioError, match="1 answers for 2 episodes"):
        batch.step(["0"])
