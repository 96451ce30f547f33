"""Prioritised level replay: scores, ranks and probabilities by hand, and what a run then plays."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv import ScenarioBank
from strategies.tables import STATES, Start, Table, column, table
from train import ppo
from train.experience import curriculum
from train.experience.bank import generate_bank
from train.experience.curriculum import Levels
from train.experience.rollout import Transition
from train.log.metrics import reduce_metrics
from train.save.checkpoint import Checkpoints
from train.save.description import Progress
from train.settings.config import Config
from train.settings.groups import Curriculum, Rollout, Scenarios

SETTINGS = Curriculum(curriculum="plr", rank_temperature=0.5, staleness=0.25, replay_share=0.6)


def levels(**changed):
    """Four scenarios, of which the last was never played."""
    known = Levels(
        score=jnp.array([0.5, 2.0, 1.0, 9.0]),
        is_scored=jnp.array([True, True, True, False]),
        played=jnp.array([1, 4, 2, 0]),
        best_return=jnp.full(4, curriculum.NEVER_ENDED),
    )
    return known.replace(**changed)


def steps(scenario, ended, value, episode_return):
    """Those of an update, [T, B]."""
    nothing = {"observation": None, "action": None, "log_prob": None, "reward": None, "final_value": None}
    ends = {"terminated": ended, "truncated": jnp.zeros_like(ended)}
    return Transition(**nothing, **ends, value=value, scenario=scenario, episode_return=episode_return)


def test_ranks_are_of_the_scored():
    np.testing.assert_array_equal(curriculum.ranks(levels()), [3, 1, 2, 4])


def test_starts_follow_rank_and_staleness():
    """By hand: 1 / rank squared, updates since, and the rest of the starts in the new scenario."""
    by_rank = np.array([1 / 9, 1, 1 / 4, 0]) / (1 / 9 + 1 + 1 / 4)
    by_age = np.array([4, 1, 3, 0]) / 8
    expected = 0.6 * (0.75 * by_rank + 0.25 * by_age) + 0.4 * np.array([0, 0, 0, 1])
    is_new = jnp.array([False, False, False, True])
    np.testing.assert_allclose(curriculum.start_weights(levels(), is_new, jnp.int32(5), SETTINGS), expected, rtol=1e-5)
    nothing_new = curriculum.start_weights(levels(), jnp.zeros(4, bool), jnp.int32(5), SETTINGS)
    np.testing.assert_allclose(nothing_new, 0.75 * by_rank + 0.25 * by_age, rtol=1e-5)
    unknown = curriculum.start_weights(Levels.unknown(4), jnp.ones(4, bool), jnp.int32(0), SETTINGS)
    np.testing.assert_allclose(unknown, 0.25)
    in_play = curriculum.start_weights(Levels.unknown(4), jnp.zeros(4, bool), jnp.int32(0), SETTINGS)
    np.testing.assert_allclose(in_play, 1.0)


@pytest.mark.parametrize("score", ["positive_value_loss", "max_mc"])
def test_scores_against_a_loop(score):
    keys = jax.random.split(jax.random.key(0), 5)
    shape = (7, 5)
    scenario = jax.random.randint(keys[0], shape, 0, 3)  # of four: the last is not played
    advantage = jax.random.normal(keys[1], shape)
    ended = jax.random.bernoulli(keys[4], 0.3, shape) & (scenario < 2)  # of the third no episode ends
    played = steps(scenario, ended, jax.random.normal(keys[2], shape), jax.random.normal(keys[3], shape))
    so_far = curriculum.Unfinished(jnp.arange(5.0), jnp.arange(5.0))
    before = levels(best_return=jnp.array([5.0, curriculum.NEVER_ENDED, curriculum.NEVER_ENDED, 1.0]))
    settings = dataclasses.replace(SETTINGS, level_score=score)
    scored = jax.jit(functools.partial(curriculum.scored, settings=settings, reward_scale=0.5))
    after, unfinished = scored(before, so_far, played, advantage, jnp.int32(8))
    rows = [(float(total), int(number)) for total, number in zip(so_far.total, so_far.steps, strict=True)]
    sums, lengths, best = np.zeros(4), np.zeros(4), np.array(before.best_return)
    for step, row in np.ndindex(shape):
        level, value = int(played.scenario[step, row]), float(played.value[step, row])
        told = value if score == "max_mc" else max(float(advantage[step, row]), 0.0)
        rows[row] = rows[row][0] + told, rows[row][1] + 1
        if played.ended[step, row]:
            sums[level] += rows[row][0]
            lengths[level] += rows[row][1]
            best[level] = max(best[level], 0.5 * played.episode_return[step, row])
            rows[row] = 0.0, 0
    np.testing.assert_allclose(unfinished.total, [total for total, _ in rows], atol=1e-5)
    np.testing.assert_array_equal(unfinished.steps, [number for _, number in rows])
    np.testing.assert_allclose(after.best_return, best, rtol=1e-6)
    assert list(lengths > 0) == [True, True, False, False]
    mean = sums[:2] / lengths[:2]
    np.testing.assert_allclose(after.score[:2], best[:2] - mean if score == "max_mc" else mean, rtol=1e-5)
    np.testing.assert_array_equal(after.score[2:], before.score[2:])
    np.testing.assert_array_equal(after.played, [8, 8, 8, 0])
    np.testing.assert_array_equal(after.is_scored, [True, True, True, False])


@pytest.mark.slow
def test_what_is_recorded():
    """By hand: of the starts six tenths replay, in the scenarios of score 0.5, 2 and 1; then the last one is played."""
    weights = jnp.array([0.1, 0.3, 0.2, 0.4])
    bank = ScenarioBank(jnp.arange(4)).with_start_weights(5 * weights)
    after = levels(score=jnp.array([0.5, 1.5, 1.0, 4.0]), is_scored=jnp.ones(4, bool))
    found = curriculum.summary(bank, levels(), after)
    expected = {"replay_share": 0.6, "replay_score": (0.05 + 0.6 + 0.2) / 0.6, "level_score": 1.75}
    assert found == pytest.approx(expected, rel=1e-5)
    first = curriculum.summary(bank, Levels.unknown(4), levels())
    assert first == pytest.approx({"replay_share": 0.0, "replay_score": 0.0, "level_score": 3.5 / 3}, rel=1e-5)


SIZE, UPDATES = 512, 9


class Numbered(Table):
    """A scenario is a number that hardly any other has."""

    def generate(self, key, difficulty):
        return Start(at=jax.random.randint(key, (), 0, 2**16))


def replay_by_hand(levels, kept):
    """[SIZE] float64: eq. 1 to 3 of Jiang et al. 2021 over the scored slots that are kept."""
    scored = np.flatnonzero(kept & np.asarray(levels.is_scored))
    order = scored[np.argsort(-np.asarray(levels.score)[scored])]
    by_score, by_age = np.zeros(SIZE), np.zeros(SIZE)
    by_score[order] = (1 / np.arange(1, len(order) + 1)) ** (1 / SETTINGS.rank_temperature)
    by_age[scored] = UPDATES - np.asarray(levels.played)[scored]
    by_score, by_age = by_score / by_score.sum(), by_age / by_age.sum()
    return (1 - SETTINGS.staleness) * by_score + SETTINGS.staleness * by_age


def test_renewal_against_numpy():
    """New scenarios are drawn by the key itself; half of the slots are scored, each otherwise."""
    settings = dataclasses.replace(SETTINGS, replay_share=0.25)
    sizes = {"rollout": Rollout(num_envs=64, num_steps=8), "training": Scenarios(count=SIZE)}
    config = Config(env="any", curriculum=settings, **sizes)
    bank = generate_bank(Numbered(), jax.random.key(0), count=SIZE, difficulty=(0.0, 1.0))
    known = Levels.unknown(SIZE).replace(
        score=jnp.asarray(np.random.default_rng(0).permutation(SIZE).astype(np.float32)),
        is_scored=jnp.arange(SIZE) % 2 == 0,
        played=jnp.arange(SIZE, dtype=jnp.int32) % UPDATES,
    )
    live = [3, 4, 5]
    renewed = jax.jit(functools.partial(curriculum.renewed, config=config, env=Numbered()))
    bank = bank.with_start_weights(jnp.ones(SIZE))
    after, levels_after = renewed(jax.random.key(1), bank, known, live=jnp.array(live), updates=jnp.int32(UPDATES))

    best = np.argsort(np.where(known.is_scored, -np.asarray(known.score), np.inf))[: SIZE // 4]
    kept = np.isin(np.arange(SIZE), [*best, *live])
    drawn = generate_bank(Numbered(), jax.random.key(1), count=SIZE, difficulty=(0.0, 1.0)).scenarios.at
    np.testing.assert_array_equal(after.scenarios.at, np.where(kept, bank.scenarios.at, drawn))
    for name, unknown in vars(Levels.unknown(SIZE)).items():
        expected = np.where(kept, getattr(known, name), unknown)
        np.testing.assert_array_equal(getattr(levels_after, name), expected)
    weights = np.asarray(after.start_probabilities)
    np.testing.assert_allclose(weights[~kept], 0.75 / (~kept).sum(), atol=1e-5)
    np.testing.assert_allclose(weights[kept], 0.25 * replay_by_hand(known, kept)[kept], atol=1e-5)


@pytest.fixture(scope="module")
def supersteps(generated, env):
    """(params, number) -> the only lane after each of so many supersteps, and their metrics."""
    config = dataclasses.replace(generated, curriculum=SETTINGS)
    superstep = ppo.make_superstep(config, env)

    def run(params, number):
        state, found = ppo.init(jax.random.key(0), params, config=config, env=env), []
        for _ in range(number):
            state, metrics = superstep(jax.tree.map(jnp.copy, state), params, config.hyper)
            lane = jax.tree.map(lambda x: np.asarray(x[0]), state.lanes.replace(key=jnp.zeros(1)))
            found.append((lane, reduce_metrics(metrics)))
        return found

    return run


@pytest.mark.slow
def test_what_still_teaches_is_kept_and_played_again(supersteps):
    """Nothing is seen, and in state 0 alone one action of three pays: only there something is better than expected."""
    params = table(rewards=[[0, 0, 5]] + [[0, 0, 0]] * (STATES - 1), observations=np.zeros((STATES, STATES)))
    for lane, record in supersteps(params, 6)[2:]:
        weight = np.asarray(lane.bank.start_probabilities)
        assert (weight >= 0).all()
        assert weight.sum() == pytest.approx(1.0, abs=1e-4)
        assert weight[lane.bank.scenarios.at == 0].sum() > 0.5  # uniform starts would give a third
        assert record["replay_share"] == pytest.approx(SETTINGS.replay_share, abs=1e-4)
        assert record["replay_score"] > 1.2 * record["level_score"] > 0.0


def test_a_kept_slot_keeps_its_scenario(supersteps):
    (before, _), (after, _) = supersteps(table(rewards=column([1, 0, -1])), 2)
    is_kept = after.levels.is_scored & before.levels.is_scored & (after.levels.best_return == before.levels.best_return)
    is_old = is_kept & (after.levels.played < after.levels.played.max())
    assert is_old.any()
    np.testing.assert_array_equal(before.bank.scenarios.at[is_old], after.bank.scenarios.at[is_old])


def test_a_run_resumes_bit_for_bit(generated, env, tmp_path):
    config = dataclasses.replace(generated, curriculum=SETTINGS)
    superstep, params = ppo.make_superstep(config, env), table(rewards=column([1, 0, -1]))

    def play(state):
        state = jax.tree.map(jnp.copy, state)
        for _ in range(3):
            state, _ = superstep(state, params, config.hyper)
        return state

    halfway = play(ppo.init(jax.random.key(0), params, config=config, env=env))
    progress = Progress(superstep=2, env_steps=1, seconds=0.1, scenarios="first")
    with Checkpoints(tmp_path, config) as checkpoints:
        checkpoints.save(halfway, progress)
    with Checkpoints(tmp_path, config) as checkpoints:
        restored, _ = checkpoints.restore(progress, jax.eval_shape(lambda: halfway), start=progress)
    for one, other in zip(*map(jax.tree.leaves, (play(restored), play(halfway))), strict=True):
        is_key = jnp.issubdtype(one.dtype, jax.dtypes.prng_key)
        one, other = (jax.random.key_data(leaf) if is_key else leaf for leaf in (one, other))
        np.testing.assert_array_equal(one, other)


def test_a_long_episode_is_scored_by_all_its_steps():
    """Two updates of two steps, in the last of which the one episode ends."""
    so_far, known = curriculum.Unfinished.none(1), Levels.unknown(1)
    for update, (advantages, ended) in enumerate([([4.0, -1.0], [False, False]), ([1.0, 3.0], [False, True])]):
        played = steps(jnp.zeros((2, 1), jnp.int32), jnp.array(ended)[:, None], jnp.zeros((2, 1)), jnp.ones((2, 1)))
        now = jnp.array(advantages)[:, None], jnp.int32(update)
        known, so_far = curriculum.scored(known, so_far, played, *now, settings=SETTINGS, reward_scale=1.0)
        assert bool(known.is_scored[0]) == any(ended)
    assert float(known.score[0]) == pytest.approx((4 + 0 + 1 + 3) / 4)
    assert float(so_far.steps[0]) == 0


def test_a_curriculum_needs_new_scenarios():
    with pytest.raises(ValueError, match="a curriculum needs generated scenarios and refresh 1"):
        Config(env="Table-v0", training=Scenarios(refresh=2), curriculum=SETTINGS)
    with pytest.raises(ValueError, match="max_mc compares returns of different updates"):
        Config(
            env="Table-v0",
            rollout=Rollout(normalize_rewards=True),
            curriculum=dataclasses.replace(SETTINGS, level_score="max_mc"),
        )
    with pytest.raises(ValueError, match="replay_share must be within"):
        Curriculum(replay_share=1.5)
    with pytest.raises(ValueError, match="rank_temperature must be within"):
        Curriculum(rank_temperature=0.0)
