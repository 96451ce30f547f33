"""ACCEL: which slots are edited, from which parents, and that edits are played, scored and edited in turn."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import GENERATED, PROBES

import train
from strategies.tables import STATES, Start, Table, table
from train import ppo
from train.experience import curriculum
from train.experience.bank import generate_bank
from train.experience.curriculum import Levels, renewed
from train.run.checkpoint import Checkpoints, Progress
from train.settings.config import Config
from train.settings.groups import Curriculum, Rollout, Scenarios

SIZE, EDITED = 512, 2**16
SETTINGS = Curriculum(
    curriculum="accel", replay_share=0.25, rank_temperature=0.5, staleness=0.25, edit_share=0.7, num_edits=3
)
CONFIG = Config(
    env="any", rollout=Rollout(num_envs=64, num_steps=8), training=Scenarios(count=SIZE), curriculum=SETTINGS
)
UPDATES = 9


class Editable(Table):
    """A scenario is where it starts, and how often it was edited, in units of `EDITED`."""

    def init(self, key, params, scenario):
        state = super().init(key, params, scenario)
        return state.replace(at=state.at % EDITED % STATES)

    def mutate(self, key, scenario):
        return scenario.replace(at=scenario.at + jnp.int32(EDITED))


class Numbered(Editable):
    """A scenario is a number that hardly any other has, below `EDITED`."""

    def generate(self, key, difficulty):
        return Start(at=jax.random.randint(key, (), 0, EDITED))


@pytest.fixture(scope="module")
def renew():
    """(curriculum, levels, live) -> (bank before, bank after, levels after)."""
    env = Numbered()
    before = generate_bank(env, jax.random.key(0), count=SIZE, difficulty=(0.0, 1.0))
    before = before.with_start_weights(jnp.ones(SIZE))
    compiled = {}
    for name in ("plr", "accel"):
        config = dataclasses.replace(CONFIG, curriculum=dataclasses.replace(SETTINGS, curriculum=name))
        compiled[name] = jax.jit(functools.partial(renewed, updates=jnp.int32(UPDATES), config=config, env=env))

    def run(name, levels, live):
        after = compiled[name](jax.random.key(1), before, levels, live=jnp.array(live, jnp.int32))
        return (before, *jax.device_get(after))

    return run


def known():
    """Half of the slots are scored, each otherwise."""
    scores = np.random.default_rng(0).permutation(SIZE).astype(np.float32)
    levels = Levels.unknown(SIZE)
    is_scored = jnp.arange(SIZE) % 2 == 0
    played = jnp.arange(SIZE, dtype=jnp.int32) % UPDATES
    return levels.replace(score=jnp.asarray(scores), is_scored=is_scored, played=played)


def replay_by_hand(levels, kept):
    """[SIZE] float64: eq. 1 to 3 of Jiang et al. 2021 over the scored slots that are kept."""
    scored = np.flatnonzero(kept & np.asarray(levels.is_scored))
    order = scored[np.argsort(-np.asarray(levels.score)[scored])]
    by_score, by_age = np.zeros(SIZE), np.zeros(SIZE)
    by_score[order] = (1 / np.arange(1, len(order) + 1)) ** (1 / SETTINGS.rank_temperature)
    by_age[scored] = UPDATES - np.asarray(levels.played)[scored]
    by_score, by_age = by_score / by_score.sum(), by_age / by_age.sum()
    return (1 - SETTINGS.staleness) * by_score + SETTINGS.staleness * by_age


def test_renewal_against_a_loop(renew):
    """The random numbers are those of the four keys; all else is done again, slot by slot, in NumPy."""
    levels, live = known(), [3, 4, 5]
    before, after, levels_after = renew("accel", levels, live)
    old, new = np.asarray(before.scenarios.at), after.scenarios.at
    best = np.argsort(np.where(levels.is_scored, -np.asarray(levels.score), np.inf))[: SIZE // 4]
    kept = np.isin(np.arange(SIZE), [*best, *live])

    draw_key, share_key, parent_key, _ = jax.random.split(jax.random.key(1), 4)
    drawn = generate_bank(Numbered(), draw_key, count=SIZE, difficulty=(0.0, 1.0)).scenarios.at
    coins = np.asarray(jax.random.uniform(share_key, (SIZE,)))
    numbers = np.asarray(jax.vmap(jax.random.uniform)(jax.random.split(parent_key, SIZE)))
    ends = np.cumsum(replay_by_hand(levels, kept))
    for slot in range(SIZE):
        if kept[slot]:
            assert new[slot] == old[slot]
        elif coins[slot] >= SETTINGS.edit_share:
            assert new[slot] == drawn[slot]
        else:
            parent = np.flatnonzero(ends > numbers[slot])[0]
            is_near = np.abs(ends - numbers[slot]) < 1e-5  # float32 sums may lie on the other side of a number
            parents = old[[parent, *np.flatnonzero(is_near | np.roll(is_near, 1))]]
            assert new[slot] in parents + 3 * EDITED
    assert (~kept & (coins < SETTINGS.edit_share)).sum() > 200
    for name, unknown in vars(Levels.unknown(SIZE)).items():
        np.testing.assert_array_equal(getattr(levels_after, name)[~kept], np.asarray(unknown)[~kept])
        np.testing.assert_array_equal(getattr(levels_after, name)[kept], np.asarray(getattr(levels, name))[kept])
    weights = np.diff(after.start_cdf, prepend=0.0)  # edited or drawn, a new scenario starts as many episodes
    np.testing.assert_allclose(weights[~kept], 0.75 / (~kept).sum(), atol=1e-5)
    np.testing.assert_allclose(weights[kept], 0.25 * replay_by_hand(levels, kept)[kept], atol=1e-5)


def test_parents_are_those_that_are_replayed(renew):
    """Nothing else is edited, and the best one most: by score it has 6 / pi^2 of the priorities."""
    levels = known()
    before, after, _ = renew("accel", levels, [0])
    edits = after.scenarios.at[after.scenarios.at >= EDITED] % EDITED
    best = np.argsort(np.where(levels.is_scored, -np.asarray(levels.score), np.inf))
    old = np.asarray(before.scenarios.at)
    assert set(edits.tolist()) <= set(old[[0, *best[: SIZE // 4]]].tolist())
    assert (edits == old[best[0]]).mean() == pytest.approx(0.75 * 6 / np.pi**2, abs=0.1)


def test_before_anything_is_scored_all_new_scenarios_are_drawn(renew):
    _, after, _ = renew("accel", Levels.unknown(SIZE), [1, 2])
    assert (after.scenarios.at < EDITED).all()


def test_plr_draws_every_new_scenario_by_the_key_itself(renew):
    _, after, levels = renew("plr", known(), [1, 2])
    drawn = np.asarray(generate_bank(Numbered(), jax.random.key(1), count=SIZE, difficulty=(0.0, 1.0)).scenarios.at)
    is_new = ~levels.is_scored & ~np.isin(np.arange(SIZE), [1, 2])
    assert is_new.sum() > SIZE / 2
    np.testing.assert_array_equal(after.scenarios.at[is_new], drawn[is_new])


SMALL = dataclasses.replace(GENERATED, curriculum=dataclasses.replace(SETTINGS, replay_share=0.5))
FIRST_PAYS = table(rewards=[[0, 0, 5]] + [[0, 0, 0]] * (STATES - 1), observations=np.zeros((STATES, STATES)))


@pytest.fixture(scope="module")
def play():
    """(state, supersteps) -> state, which it keeps as it is."""
    superstep = ppo.make_superstep(SMALL, Editable())

    def run(state, supersteps):
        state = jax.tree.map(jnp.copy, state)
        for _ in range(supersteps):
            state, _ = superstep(state, FIRST_PAYS, SMALL.hyper)
        return state

    return run


@pytest.fixture(scope="module")
def halfway(play):
    """The state after three supersteps."""
    return play(ppo.init(jax.random.key(0), FIRST_PAYS, config=SMALL, env=Editable()), 3)


@pytest.fixture(scope="module")
def played(play, halfway):
    """The state after six."""
    return play(halfway, 3)


def test_edits_are_scored_and_edited_in_turn(played):
    """In state 0 alone something is left to learn; six supersteps later most edits are its descendants."""
    lane = jax.tree.map(lambda x: np.asarray(x[0]), (played.lanes.bank.scenarios.at, played.lanes.levels))
    at, levels = lane
    generation, start = np.divmod(at, 3 * EDITED)
    assert levels.is_scored[generation > 0].any()
    assert generation.max() > 1
    assert (start[generation > 0] == 0).mean() > 0.5  # a third of those that are drawn


def test_a_run_resumes_bit_for_bit(play, halfway, played, tmp_path):
    progress = Progress(superstep=2, env_steps=1, seconds=0.1, scenarios="first")
    with Checkpoints(tmp_path, SMALL) as checkpoints:
        checkpoints.save(halfway, progress)
    with Checkpoints(tmp_path, SMALL) as checkpoints:
        restored, _ = checkpoints.restore(progress, jax.eval_shape(lambda: halfway), scenarios="first")
    for one, other in zip(*map(jax.tree.leaves, (play(restored, 3), played)), strict=True):
        is_key = jnp.issubdtype(one.dtype, jax.dtypes.prng_key)
        one, other = (jax.random.key_data(leaf) if is_key else leaf for leaf in (one, other))
        np.testing.assert_array_equal(one, other)


def test_an_environment_without_edits_is_refused_before_anything_is_compiled():
    message = "Table-v0 does not edit scenarios, which --curriculum accel does .* or train with --curriculum plr"
    with pytest.raises(ValueError, match=message):
        train.train(Table(), PROBES["observation"], SMALL, show_progress=False)
    curriculum.check_edits(SMALL, Editable())
    curriculum.check_edits(dataclasses.replace(SMALL, curriculum=Curriculum(curriculum="plr")), Table())


def test_settings_out_of_bounds_are_refused():
    with pytest.raises(ValueError, match="edit_share must be within"):
        Curriculum(edit_share=1.5)
    with pytest.raises(ValueError, match="num_edits must be within 1 to 1,000, got 0"):
        Curriculum(num_edits=0)
    with pytest.raises(ValueError, match="a curriculum needs generated scenarios and refresh 1"):
        Config(env="any", training=Scenarios(refresh=2), curriculum=SETTINGS)
