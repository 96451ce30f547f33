"""The rolling bank: scenarios in play stay, others are new, and every start is a fresh draw."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import GENERATED, PROBES

import jaxenv
from jaxenv.core import masking
from jaxenv.wrappers import Vectorize
from strategies.ids import FIRST_OF_ITS_ENGINE
from strategies.tables import Table
from train import ppo
from train.experience.bank import AT_ONCE, first_bank, generate_bank, renew, with_bank
from train.score.held_out import COUNT, validation_params
from train.settings.config import Config
from train.settings.groups import Rollout, Scenarios

CONFIG = Config(env="any", rollout=Rollout(num_envs=16, num_steps=8), training=Scenarios(count=32))


class Numbered(Table):
    """A scenario is a number that no other draw has."""

    def generate(self, key, difficulty):
        return super().generate(key, difficulty).replace(at=jax.random.bits(key).astype(jnp.int32))


def numbers(bank):
    return np.asarray(bank.scenarios.at)


def starts(bank):
    drawn = jax.vmap(bank.sample)(jax.random.split(jax.random.key(9), 4000))
    return np.bincount(drawn, minlength=bank.size) / 4000


@pytest.fixture(scope="module")
def bank():
    return first_bank(jax.random.key(0), CONFIG, Numbered(), PROBES["one step"])


def renewed(bank, live):
    return renew(jax.random.key(1), bank, live=jnp.array(live, jnp.int32), config=CONFIG, env=Numbered())


def test_a_bank_in_parts_is_the_one_of_a_compiled_program_and_shares_its_program_with_others():
    """As many calls as fit, the last of them in part; the count is no part of what is compiled."""
    draws = []

    class Counted(Numbered):
        def generate(self, key, difficulty):
            draws.append(key)  # when it is traced
            return super().generate(key, difficulty)

    def draw(key, env, count):
        return generate_bank(env, key, count=count, difficulty=(0.0, 1.0))

    env = Counted()
    for count in (AT_ONCE, 2 * AT_ONCE + 3):
        compiled = jax.jit(draw, static_argnums=(1, 2))(jax.random.key(0), Numbered(), count)
        assert numbers(draw(jax.random.key(0), env, count)).tolist() == numbers(compiled).tolist()
    assert len(draws) == 1
    assert AT_ONCE == COUNT


def test_scenarios_in_play_stay_and_others_are_new(bank):
    live = [3, 3, 7, 31]
    after = renewed(bank, live)
    kept = numbers(after) == numbers(bank)
    assert np.flatnonzero(kept).tolist() == [3, 7, 31]
    assert len(np.unique(np.concatenate([numbers(bank), numbers(after)]))) == 32 + 29


def test_episodes_start_only_in_new_scenarios(bank):
    assert starts(bank) == pytest.approx(1 / 32, abs=0.015)
    shares = starts(renewed(bank, [0, 5, 31]))
    assert (shares[[0, 5, 31]] == 0).all()
    assert np.delete(shares, [0, 5, 31]) == pytest.approx(1 / 29, abs=0.015)


def test_a_bank_fully_in_play_stays(bank):
    after = renewed(bank, range(32))
    np.testing.assert_array_equal(numbers(after), numbers(bank))
    assert starts(after) == pytest.approx(1 / 32, abs=0.015)


@pytest.mark.parametrize(
    ("refresh", "expected"),
    [
        (2, [0, 0, 1, 0]),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in [(1, [0, 1, 1, 1]), (0, [0, 0, 0, 0])]),
    ],
)
def test_an_update_renews_the_bank_when_due_and_resets_nothing(refresh, expected):
    """Episodes never end, so their clocks run on, and the bank stays only where one is playing."""
    env, params = Numbered(), PROBES["one step"].replace(ends=jnp.zeros((3, 3), bool))
    config = dataclasses.replace(GENERATED, training=Scenarios(refresh=refresh))
    update, state = jax.jit(ppo.make_update(config, env)), ppo.init(jax.random.key(0), params, config=config, env=env)
    for is_renewed in expected:
        following, _ = update(state, params, config.hyper)
        changed = np.flatnonzero((numbers(following.lanes.bank) != numbers(state.lanes.bank))[0])
        live = set(np.asarray(state.lanes.envs.state.env_state.scenario).ravel())
        assert set(changed) == (set(range(128)) - live if is_renewed else set())
        clocks = following.lanes.envs.state.env_state.clock - state.lanes.envs.state.env_state.clock
        np.testing.assert_array_equal(clocks, config.rollout.num_steps)
        state = following


@pytest.mark.parametrize(
    "env_id", [id if "LifeOps" in id else pytest.param(id, marks=pytest.mark.slow) for id in FIRST_OF_ITS_ENGINE]
)
def test_a_refresh_keeps_running_episodes_bit_for_bit(env_id):
    """Two futures of the same episodes with the same keys, in one of them with a new bank: until they end, the same."""
    env, params = jaxenv.make(env_id)
    num_envs, batch = CONFIG.rollout.num_envs, Vectorize(env, CONFIG.rollout.num_envs)
    bank = first_bank(jax.random.key(0), CONFIG, env, params)
    params = params.replace(bank=bank)

    @jax.jit
    def play(carry, keys, params):
        def step(carry, key):
            observation, state = carry
            action = masking.sample_uniform(key, observation.action_mask)
            observation, state, *ends, info = batch.step(key, state, action, params)
            outputs = (info["final_observation"], *ends, info["reward_parts"])
            return (observation, state), (outputs, jax.vmap(env.scenario_index)(state))

        return jax.lax.scan(step, carry, keys)

    steps = 64 + int(params.max_steps_in_episode) // 2  # of which two stretches are longer than any episode
    keys, later = jax.random.split(jax.random.key(3), (2, steps))
    start, _ = play(batch.reset(jax.random.key(2), params), keys, params)
    live = jax.vmap(env.scenario_index)(start[1])
    after = renew(jax.random.key(4), bank, live=live, config=CONFIG, env=env)
    is_new = ~np.isin(np.arange(32), live)
    assert (rows(after) != rows(bank)).any(axis=1)[is_new].all()

    _, (old, _) = play(start, later, params)
    _, (new, index) = play(start, later, params.replace(bank=after))
    done = np.asarray(old[2] | old[3])
    still = np.concatenate([np.ones((1, num_envs), bool), ~np.logical_or.accumulate(done)[:-1]])
    assert still.sum() >= 2 * num_envs  # steps of the episodes that were under way
    for a, b in zip(jax.tree.leaves(old), jax.tree.leaves(new), strict=True):
        np.testing.assert_array_equal(np.asarray(a)[still], np.asarray(b)[still])
    over = ~still | done
    assert over.any()
    assert is_new[np.asarray(index)[over]].all()


def rows(bank):
    """[S, numbers]: all of a scenario in a row."""
    leaves = [np.asarray(leaf).reshape(bank.size, -1) for leaf in jax.tree.leaves(bank.scenarios)]
    return np.concatenate(leaves, axis=1)


def test_shared_data_of_scenarios_is_trained_with():
    """A custom embedding, wider and longer than the default one, reaches network and critic."""
    env, params = jaxenv.make("TeamsClone-v0")
    table = jnp.ones((315, 64), jnp.float32)
    params = params.with_text_embedding(table)
    trained = with_bank(params, first_bank(jax.random.key(0), CONFIG, env, params))
    np.testing.assert_array_equal(trained.text_embedding, table)
    np.testing.assert_array_equal(validation_params(env, params).text_embedding, table)
    observation, _ = jax.eval_shape(env.reset_env, jax.random.key(0), params)
    wide = jax.eval_shape(env.flatten, observation, trained)
    assert wide.shape == jax.eval_shape(env.flatten, observation, params).shape
    assert wide.shape[0] == 442 + 10 * (64 - 16)
