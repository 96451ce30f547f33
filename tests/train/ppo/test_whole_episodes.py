"""Training sees whole episodes: they end, they count, and the critic is calibrated at every step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import GENERATED

import jaxenv
from strategies.ids import FIRST_OF_ITS_ENGINE
from strategies.tables import Table, table
from train import ppo
from train.log.metrics import reduce_metrics
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.score.calibration import calibrate
from train.score.held_out import validation_params
from train.settings import presets
from train.settings.groups import Network, Rollout

LENGTH, LATE = 24, 16  # steps of an episode, and of a superstep; only steps that a superstep does not reach are paid


class Late(Table):
    """Episodes longer than a superstep: the clock is seen, and 1 is paid for each step from the seventeenth on."""

    def transition(self, key, state, action, params):
        after, _, terminated, info = super().transition(key, state, action, params)
        return after, (state.clock >= LATE).astype(jnp.float32), terminated, info

    def observe(self, state, params):
        share = state.clock / LENGTH
        vector = jnp.stack([share, jnp.square(share), jnp.float32(1)])
        return super().observe(state, params).replace(vector=vector)


def train(config, env, params, supersteps):
    """(the trained policy, the metrics of each superstep)."""
    superstep, records = ppo.make_superstep(config, env), []
    state = ppo.init(jax.random.key(0), params, config=config, env=env)
    for _ in range(supersteps):
        state, metrics = superstep(state, params, config.hyper)
        records.append(reduce_metrics(metrics))
    return NetworkPolicy(state.weights, make_network(config.network, env.num_actions), env), records


@pytest.fixture(scope="module")
def late():
    config = dataclasses.replace(
        GENERATED,
        total_steps=80 * GENERATED.steps_per_superstep,
        rollout=dataclasses.replace(GENERATED.rollout, bootstrap_truncated=False),
        hyper=GENERATED.hyper.replace(gamma=1.0),
    )
    params = table(ends=False, limit=LENGTH)
    assert config.steps_per_superstep == 32 * LATE
    return config, params, *train(config, Late(), params, config.num_supersteps)


@pytest.mark.slow
def test_episodes_finish_although_the_bank_is_renewed_earlier(late):
    *_, records = late
    assert [record["episodes"] > 0 for record in records[2:]] == [True] * (len(records) - 2)
    assert all(record["return"] == LENGTH - LATE for record in records[2:])
    assert all(record["length"] == LENGTH for record in records[2:])


def test_the_critic_is_calibrated_at_every_step(late):
    config, params, policy, _ = late
    found = calibrate(policy, Late(), validation_params(Late(), params), config.hyper, key=jax.random.key(1))
    expected = np.minimum(LENGTH - LATE, LENGTH - np.arange(LENGTH))
    np.testing.assert_array_equal(found.return_to_go, expected)
    np.testing.assert_allclose(found.value, expected, atol=0.1 * expected[0])  # a smooth function of the clock
    assert (found.count == 512).all()


@pytest.mark.slow
@pytest.mark.parametrize("env_id", FIRST_OF_ITS_ENGINE)
def test_every_preset_finishes_episodes_in_training(env_id):
    """With its own lengths of rollout, superstep and refresh; few environments and a small network."""
    env, params = jaxenv.make(env_id)
    config = presets.for_environment(env_id)
    small = Rollout(**{**dataclasses.asdict(config.rollout), "num_envs": 16, "epochs": 1})
    config = dataclasses.replace(config, rollout=small, network=Network(hidden=(4,)))
    steps = small.num_steps * small.updates_per_superstep
    longest = int(validation_params(env, params).max_steps_in_episode)
    _, records = train(config, env, params, supersteps=1 + 2 * -(-longest // steps))
    later = records[-(-longest // steps) :]
    assert all(record["episodes"] >= 16 * (steps // longest) for record in later)
    assert sum(record["episodes"] for record in later) >= 16
    if env_id in ("TeamsClone-v0", "TeamsClone-MultiTask-v0"):  # whose episodes all have one length
        assert {record["length"] for record in later} == {longest}


# The error of the critic: the greatest difference of the means at a step that at least a tenth of the episodes reach,
# as a share of the return-to-go at the start.
STATED_ERROR = 0.05


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ["LifeOps-Shaped-v0", "LifeStack-v0", "TeamsClone-v0"])
def test_the_critic_of_a_preset_is_calibrated_on_held_out_episodes(env_id):
    env, params = jaxenv.make(env_id)
    config = dataclasses.replace(presets.for_environment(env_id), total_steps=3_000_000)
    policy, _ = train(config, env, params, config.num_supersteps)
    found = calibrate(policy, env, validation_params(env, params), config.hyper, key=jax.random.key(1), repetitions=16)
    is_frequent = found.count >= found.count[0] / 10
    error = np.abs(found.value - found.return_to_go)[is_frequent].max()
    assert error <= STATED_ERROR * abs(found.return_to_go[0])
