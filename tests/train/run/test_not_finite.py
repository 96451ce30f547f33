"""A loss that is not finite: training stops at once, reports where, saves the state, and damages nothing."""

import dataclasses
import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import SMALL, run_alone

import train
from jaxenv import registry
from strategies.tables import Table, table
from train import ppo
from train.cli.main import main
from train.learning.updates import not_finite_terms
from train.log.metrics import not_finite
from train.protocol import shipped
from train.run.group import Group
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.arrays import by_name
from train.save.checkpoint import Checkpoints
from train.save.policy_file import load_policy

PARAMS = table(rewards=1.0, ends=False)  # the clock runs forever, and starts at up to 999
POISONED = 1040  # a clock that some environment reaches after a few supersteps of 16 steps


class Poisoned(Table):
    """A reward that is NaN, after a while."""

    @property
    def default_params(self):
        return PARAMS

    def transition(self, key, state, action, params):
        after, reward, terminated, info = super().transition(key, state, action, params)
        return after, jnp.where(state.clock == POISONED, jnp.nan, reward), terminated, info


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """(settings, folder of the run, what was raised)."""
    config = dataclasses.replace(SMALL, run_dir=tmp_path_factory.mktemp("failed") / "run", checkpoint_every=0.0)
    folder = run_folder.create(config)
    with pytest.raises(train.NotFinite) as caught:
        run_alone(prepare(ppo, config, Poisoned(), PARAMS), folder, show_progress=False)
    return folder.read_config(), folder, str(caught.value)


def restored(config, path):
    with Checkpoints(path, config) as checkpoints:
        return Group(prepare(ppo, config, Poisoned(), PARAMS)).restore_or_begin(checkpoints)


def test_the_error_names_the_update_and_its_terms(failed):
    config, folder, message = failed
    update, of, terms = re.match(r"not finite in update (\d+) of (\d+): ([\w, ]+)\.", message).groups()
    assert (int(of), terms) == (config.num_updates, "grad_norm, policy_loss, value_loss")
    assert str(folder.not_finite) in message
    first = ppo.init(
        jax.random.key(config.seed), PARAMS, config=config, env=Poisoned()
    ).lanes.envs.state.env_state.clock
    assert int(update) == (POISONED - int(first.max())) // config.rollout.num_steps + 1
    assert int(update) > 2 * config.rollout.updates_per_superstep


@pytest.mark.slow
def test_the_state_before_the_failure_is_saved_and_fails_again(failed):
    config, folder, message = failed
    state, progress = restored(config, folder.not_finite)
    assert f"in update {int(state.updates) + 1} " in message
    assert progress.env_steps == int(state.updates) * config.rollout.batch_size
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.weights))
    update = jax.jit(ppo.make_update(config, Poisoned()))
    after, metrics = update(state, PARAMS, config.hyper)
    terms = not_finite(jax.tree.map(lambda leaf: leaf[None], metrics))
    assert terms == ["grad_norm", "policy_loss", "value_loss"]
    assert_equal(after, state)


def test_checkpoints_and_policy_stay_as_they_were(failed):
    config, folder, _ = failed
    state, progress = restored(config, folder.checkpoints)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.weights))
    assert int(state.updates) == progress.superstep * config.rollout.updates_per_superstep
    assert_equal(load_policy(folder.policy, Poisoned(), PARAMS).weights, state.weights)
    failing, _ = restored(config, folder.not_finite)
    assert 0 <= int(failing.updates) - int(state.updates) < config.rollout.updates_per_superstep


def test_the_metrics_are_valid_json_to_the_end(failed):
    _, folder, _ = failed

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    *before, last = [json.loads(line, parse_constant=refuse) for line in folder.metrics.read_text().splitlines()]
    assert last["value_loss"] is last["policy_loss"] is last["grad_norm"] is None
    assert None not in [record["value_loss"] for record in before]


def test_resuming_fails_again(failed):
    """A resumed run fails in the same update, and overwrites the saved state."""
    config, folder, message = failed
    with pytest.raises(train.NotFinite) as caught:
        run_alone(prepare(ppo, config, Poisoned(), PARAMS), folder, show_progress=False)
    assert str(caught.value) == message


def test_the_command_ends_with_one_line_and_status_1(failed, monkeypatch, capsys):
    _, folder, message = failed
    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Poisoned)
    monkeypatch.setattr(shipped, "library_for", lambda env, path=None: type("Library", (), {"bank": PARAMS.bank}))
    assert main(["ppo", "--resume", str(folder.path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"jaxenv: {message}"


def test_the_first_failing_gradient_step_is_reported():
    """What comes after it is NaN in every term."""
    steps = np.ones((6, 2, 3), np.float32)
    steps[1:3, 1, 0] = np.inf
    steps[:, 1, 1:] = np.nan
    names = ("policy_loss", "value_loss", "entropy")
    terms = {name: jnp.asarray(values) for name, values in zip(names, steps, strict=False)}
    found = not_finite_terms(terms)
    assert [name for name, is_bad in found.items() if is_bad] == ["value_loss", "entropy"]
    fine = not_finite_terms(jax.tree.map(jnp.ones_like, terms))
    assert not any(fine.values())


def assert_equal(found, expected):
    for (name, a), (_, b) in zip(by_name(found).items(), by_name(expected).items(), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
