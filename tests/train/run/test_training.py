"""`train.train`: any environment, any network, a callback, and a folder only where one is asked for."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import re
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import serialization
from probes import PROBES

import jaxenv
import train
from jaxenv.wrappers import FromGymnax
from strategies.tables import Table
from train import dqn, ppo, pqn
from train.log.metrics import read_metrics
from train.run import group, runner
from train.run.job import prepare
from train.save import folder as folders
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios
from train.training import ALGORITHMS

PARAMS = PROBES["observation"]
WEIGHTS = [0.0, 1.0, 0.0, 1.0]


def explained(*kinds):
    """The names in the table of docs/training.md that records of such runs have."""
    page = (Path(__file__).parents[3] / "docs" / "training.md").read_text("utf-8")
    section = page.partition("## Metrics")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", section, re.MULTILINE)
    assert {kind for _, kind in rows} >= set(kinds)
    return {name for name, kind in rows if kind in kinds}


def run(env, config, **options):
    return train.train(env, PARAMS, config, show_progress=False, **options)


def test_metrics_come_back_as_arrays_and_nothing_is_written(env, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    outcome = run(env, config, callback=seen.append)
    assert isinstance(outcome, train.Outcome)
    assert not outcome.stopped
    assert len(seen) == config.num_supersteps
    assert set(seen[0]) == set(seen[-1]) == set(outcome.metrics) == explained("all", "PPO")
    np.testing.assert_array_equal(outcome.metrics["return"], [record["return"] for record in seen])
    np.testing.assert_array_equal(outcome.metrics["env_steps"][-1], config.total_steps)
    assert np.isnan(outcome.metrics["validation_return"]).all()  # it trains on the bank of its params
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("algorithm", "changed", "kinds"),
    [
        (ppo, {}, ["PPO"]),
        (ppo, {"hyper": {"target_kl": 0.1}}, ["PPO", "PPO, `--target-kl`"]),
        (ppo, {"curriculum": {"curriculum": "plr"}}, ["PPO", "PPO, `--curriculum`"]),
        (ppo, {"rollout": {"normalize_rewards": True}, "network": {"normalize_observations": True}}, ["PPO"]),
        (pqn, {}, ["PQN, DQN"]),
        (dqn, {}, ["PQN, DQN"]),
    ],
)
def test_what_an_algorithm_records_is_explained(algorithm, changed, kinds, generated, env):
    """Beside what the loop adds to each record."""
    groups = {name: dataclasses.replace(getattr(generated, name), **group) for name, group in changed.items()}
    config = dataclasses.replace(generated, **groups)
    init = functools.partial(algorithm.init, config=config, env=env)
    state = jax.eval_shape(init, jax.random.key(0), PARAMS)
    _, metrics = jax.eval_shape(algorithm.make_update(config, env), state, PARAMS, config.hyper)
    of_the_loop = explained("all") - {"learning_rate", "grad_norm"}
    assert set(metrics.means) | of_the_loop == explained("all", *kinds)


def test_a_callback_stops_a_run_which_goes_on_later(env, config, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    first = run(env, config, callback=lambda record: record["superstep"] >= 2)
    assert first.stopped
    assert config.steps_per_superstep * 3 <= first.env_steps < config.total_steps
    second = run(env, config)
    assert not second.stopped
    assert len(second.metrics["return"]) == config.num_supersteps
    straight = run(env, dataclasses.replace(config, run_dir=None))
    for a, b in zip(*(jax.tree.leaves(x.policy.weights) for x in (second, straight)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(list(read_metrics(tmp_path / "run" / "metrics.jsonl"))) == config.num_supersteps


@pytest.mark.slow
def test_a_run_that_has_done_all_its_steps_says_how_it_goes_on(env, config, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run", total_steps=config.steps_per_superstep)
    run(env, config)
    with pytest.raises(train.Finished, match=r"512 of 512 steps are done; continue it with a greater total_steps$"):
        run(env, config)
    assert run(env, dataclasses.replace(config, total_steps=1024)).env_steps == 1024


def test_a_finished_run_gives_its_outcome_again_where_that_is_wanted(env, generated, tmp_path, monkeypatch):
    """Nothing is compiled for it."""
    config = dataclasses.replace(generated, run_dir=tmp_path / "run", total_steps=generated.steps_per_superstep)
    first = run(env, config, if_finished="return")
    monkeypatch.setattr(group.Group, "compile", lambda self: pytest.fail("it compiles"))
    monkeypatch.setattr(runner, "make_validator", lambda *_: pytest.fail("it compiles"))
    again = run(env, config, if_finished="return")
    assert (again.env_steps, again.stopped) == (first.env_steps, False)
    jax.tree.map(np.testing.assert_array_equal, again.policy.weights, first.policy.weights)
    np.testing.assert_array_equal(again.metrics["value_loss"], first.metrics["value_loss"])


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(jax.disable_jit, marks=pytest.mark.slow),
        functools.partial(jax.numpy_dtype_promotion, "strict"),
    ],
)
def test_modes_of_jax_reach_through_the_trainer(env, config, mode):
    sizes = Rollout(num_envs=2, num_steps=2, epochs=1, minibatch_size=4, updates_per_superstep=1)
    config, params = dataclasses.replace(config, rollout=sizes, total_steps=8), PARAMS.replace(max_steps_in_episode=2)
    with mode():
        assert train.train(env, params, config, show_progress=False).env_steps == 8


def test_the_first_line_tells_the_length_of_the_run(env, config, capsys):
    train.train(env, PARAMS, dataclasses.replace(config, total_steps=config.steps_per_superstep - 1))
    size = f"{config.steps_per_superstep:,}"
    assert capsys.readouterr().out.startswith(f"{size} environment steps: 1 superstep of {size} (rounded up from ")


def test_a_run_trains_in_any_thread(env, config):
    config = dataclasses.replace(config, total_steps=config.steps_per_superstep)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(run, env, config).result()
    assert outcome.env_steps == config.total_steps


@pytest.mark.parametrize("with_folder", [False, True])
def test_params_that_refuse_themselves_are_refused_before_there_is_a_folder(config, tmp_path, with_folder):
    env, params = jaxenv.make("LifeOps-v0")
    run_dir = tmp_path / "run" if with_folder else None
    config = dataclasses.replace(config, env=env.name, run_dir=run_dir)
    for begin in (train.train, train.train_population):
        with pytest.raises(ValueError, match=r"^departure_min is None, expected a whole number within 0 to 1,440$"):
            begin(env, params.replace(departure_min=None), config, show_progress=False)
    assert not list(tmp_path.iterdir())


def test_start_weights_that_would_not_be_heeded_are_refused(env, config, generated, tmp_path):
    """Training on generated scenarios has a bank of its own; equal weights say nothing."""
    generated = dataclasses.replace(generated, run_dir=tmp_path / "run")
    weighted, equal = (PARAMS.replace(bank=PARAMS.bank.with_start_weights(jnp.array(w))) for w in (WEIGHTS, [3.0] * 4))
    for call in (train.train, train.train_population):
        with pytest.raises(ValueError, match=r'start weights, .* set training=train.Scenarios\(scenarios="library"\)'):
            call(env, weighted, generated, show_progress=False)
    assert not generated.run_dir.exists()
    for settings, params in ((config, weighted), (generated, equal), (generated, PARAMS)):
        prepare(ppo, settings, env, params)


@pytest.mark.parametrize("source", ["lifeops/s1_basic_conflict", "generatd"])
@pytest.mark.parametrize("begin", [train.train, train.train_population])
def test_scenarios_that_only_a_command_reads_are_refused(begin, source):
    """They were taken for the bank of the params, which is the library that scores."""
    env, params = jaxenv.make("LifeOps-v0")
    config = Config(env=env.name, training=Scenarios(scenarios=source))
    with pytest.raises(ValueError, match=f"scenarios '{source}': expected 'generated' or 'library'"):
        begin(env, params, config, show_progress=False)


class Faulty(Table):
    """An environment that cannot be stepped."""

    def transition(self, key, state, action, params):
        raise LookupError("its own error")


@pytest.mark.parametrize("was_there", [False, True])
def test_a_run_that_fails_before_it_trains_leaves_no_folder(config, tmp_path, was_there):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    if was_there:  # an empty folder is no run
        config.run_dir.mkdir()
    with pytest.raises(LookupError, match="its own error"):
        run(Faulty(), config)
    assert [path.name for path in tmp_path.rglob("*")] == ["run"] * was_there
    with pytest.raises(LookupError, match="its own error"):
        train.train_population(Faulty(), PARAMS, config.replace(seeds=2), show_progress=False)
    assert [path.name for path in tmp_path.rglob("*")] == ["run"] * was_there


def test_a_folder_that_is_resumed_that_another_writes_or_that_has_results_stays(config, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")

    def failing(*existing, then=lambda folder: None):
        with folders.of_run(config, *existing) as folder:
            then(folder)
            raise LookupError

    cases = {
        "a line of the metrics": lambda folder: folder.metrics.write_text("{}\n"),
        "a policy": lambda folder: folder.policy.write_bytes(b"policy"),
        "a checkpoint": lambda folder: (folder.checkpoints / "1").mkdir(parents=True),
        "a state that was not finite": lambda folder: folder.not_finite.mkdir(),
        "a member": lambda folder: (folder.path / "seed=0" / "not_finite").mkdir(parents=True),
    }
    for what, then in cases.items():
        with pytest.raises(LookupError):
            failing(then=then)
        assert config.run_dir.exists(), what
        shutil.rmtree(config.run_dir)
    with contextlib.ExitStack() as other:
        with pytest.raises(LookupError):
            failing(then=lambda folder: other.enter_context(folder.locked()))
        assert config.run_dir.exists()
    with pytest.raises(LookupError):
        failing(folders.RunFolder(config.run_dir))
    assert config.run_dir.exists()
    shutil.rmtree(config.run_dir)
    with pytest.raises(LookupError):
        failing(then=lambda folder: folder.metrics.touch())
    assert not config.run_dir.exists()


def test_an_algorithm_that_is_not_there_is_named(env, config, tmp_path):
    with pytest.raises(ValueError, match=r"no algorithm 'pgn'\. Did you mean 'pqn'\?"):
        run(env, config, algorithm="pgn")
    (tmp_path / "config.json").write_text("{}")
    header = {"format": "jaxenv policy 1", "algorithm": "dqn", "env": "", "network": {}, "weights": {}}
    header |= {"env_args": {}, "params": {}, "scenarios": ""}
    (tmp_path / "policy.msgpack").write_bytes(serialization.msgpack_serialize(header))
    with pytest.raises(ValueError, match="is a run of dqn: resume it with"):
        run(env, dataclasses.replace(config, run_dir=tmp_path))


def test_the_docstring_of_train_names_what_a_reader_of_the_reference_can_find():
    """The algorithms by their names, and no module that has no page."""
    [algorithm] = re.findall(r"^ +algorithm: (.*)$", train.train.__doc__, re.MULTILINE)
    assert re.findall(r'"(\w+)"', algorithm) == list(ALGORITHMS)
    assert not re.search(r"`train\.\w+\.", train.train.__doc__)
    page, heading = re.search(r'(docs/\w+\.md) has one under "([\w ]+)"', train.train.__doc__).groups()
    assert f"\n## {heading}\n" in (Path(__file__).parents[3] / page).read_text("utf-8")


def test_an_environment_without_a_generator_says_so(env):
    class Fixed(type(env)):
        generate = jaxenv.Environment.generate

    with pytest.raises(ValueError, match="does not generate scenarios"):
        run(Fixed(), Config(env="Table-v0"))


CART_POLE = Config(
    env="CartPole-v1",
    total_steps=330_000,
    rollout=Rollout(num_envs=64, num_steps=32, epochs=4, minibatch_size=256),
    hyper=Hyper(learning_rate=2.5e-3, gae_lambda=0.95, entropy_coef=0.01),
    network=Network(hidden=(64, 64)),
    training=Scenarios(scenarios="library"),
)


@pytest.mark.slow
def test_the_pole_stays_up():
    """Five seeds in one program; 500 steps are the longest episode."""
    gymnax = pytest.importorskip("gymnax")
    env = FromGymnax(gymnax.make("CartPole-v1")[0])
    with jax.numpy_rank_promotion("allow"):
        members = train.train_population(env, env.default_params, CART_POLE.replace(seeds=5), show_progress=False)
        for outcome in members.values():
            score = train.evaluate(outcome.policy, env, env.default_params, repetitions=100).returns.mean()
            assert score >= 475


MEMORY_CHAIN = Config(
    env="MemoryChain-bsuite",
    total_steps=400_000,
    rollout=Rollout(num_envs=128, num_steps=16, epochs=4, minibatch_size=512),
    hyper=Hyper(learning_rate=2e-3, entropy_coef=0.01),
    network=Network(hidden=(32,)),
    training=Scenarios(scenarios="library"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("core", "least", "most"), [("none", -0.15, 0.15), ("gru", 0.95, 1.0), ("lru", 0.95, 1.0)])
def test_memory_solves_the_memory_chain(core, least, most):
    """What is shown in the first step alone pays in the last: chance without memory."""
    gymnax = pytest.importorskip("gymnax")
    env = FromGymnax(gymnax.make("MemoryChain-bsuite")[0])
    config = dataclasses.replace(MEMORY_CHAIN, network=dataclasses.replace(MEMORY_CHAIN.network, core=core))
    with jax.numpy_rank_promotion("allow"):
        outcome = train.train(env, env.default_params, config, show_progress=False)
        score = train.evaluate(outcome.policy, env, env.default_params, repetitions=1000).returns.mean()
    assert least <= score <= most
