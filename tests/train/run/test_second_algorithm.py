"""A run knows no algorithm by name: one with other metrics runs, is drawn, and is scored like any other."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from flax import struct
from probes import PROBES, run_alone

from jaxenv.wrappers import EpisodeSummary
from train.experience.rollout import EpisodeTotals
from train.lanes import SHARED
from train.learning.algorithm import Metrics
from train.log import plots
from train.log.metrics import read_metrics
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.policy_file import read_header

PARAMS = PROBES["one step"]


class IdleState(struct.PyTreeNode):
    """Weights that stay as they are."""

    weights: dict
    updates: jax.Array


class Idle:
    """An algorithm that learns nothing."""

    name = "idle"
    SPECS = IdleState(weights=SHARED, updates=SHARED)

    def init(self, key, env_params, *, config, env, lanes=None):
        network = make_network(config.network, env.num_actions)
        observation, _ = env.reset(key, env_params)
        weights = network.init(key, network.read(env, observation, env_params), observation.action_mask)
        return IdleState(weights, jnp.int32(0))

    def training_bank(self, key, env_params, *, config, env):
        return env_params.bank

    def make_superstep(self, config, env, lanes=None):
        def superstep(state, env_params, hyper):
            one = jnp.ones(config.rollout.updates_per_superstep, jnp.int32)
            totals = EpisodeTotals(EpisodeSummary(count=one, return_sum=2.0 * one, length_sum=one), one)
            return state.replace(updates=state.updates + len(one)), Metrics(totals, {"drift": 0.5 * one}, {})

        return jax.jit(superstep)

    def policy_of(self, state, *, config, env):
        return NetworkPolicy(state.weights, make_network(config.network, env.num_actions), env)


def test_an_algorithm_without_statistics_says_so(config, env):
    network = dataclasses.replace(config.network, normalize_observations=True)
    with pytest.raises(ValueError, match="idle has no --normalize-observations"):
        prepare(Idle(), dataclasses.replace(config, network=network), env, PARAMS)


@pytest.mark.parametrize("option", ["target_kl", "clip_end"])
def test_an_algorithm_without_a_ratio_says_so(config, env, option):
    config = dataclasses.replace(config, hyper=config.hyper.replace(**{option: 0.1}))
    with pytest.raises(ValueError, match=f"idle has no --{option.replace('_', '-')}$"):
        prepare(Idle(), config, env, PARAMS)


def test_an_algorithm_with_other_metrics(config, env, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    folder = run_folder.create(config)
    outcome = run_alone(prepare(Idle(), config, env, PARAMS), folder, show_progress=True)
    assert outcome.env_steps == config.total_steps
    records = list(read_metrics(folder.metrics))
    assert [(record["return"], record["drift"]) for record in records] == [(2.0, 0.5)] * config.num_supersteps
    assert "entropy" not in records[0]
    assert read_header(folder.policy)["algorithm"] == "idle"
    pytest.importorskip("matplotlib")
    plots.learning_curves([folder], folder.learning_curve)
    assert folder.learning_curve.stat().st_size > 1000
