"""Results by hand, held-out sets that nobody trains on, and runs that are never made twice."""

import json

import jax
import numpy as np
import pytest
from probes import GENERATED, LIBRARY, PROBES

import jaxenv
from jaxenv import registry
from lab.__main__ import main
from lab.results import figure, markdown, measure, summary
from lab.results.agents import LEARNERS, settings
from strategies.tables import Table
from train.protocol import shipped
from train.protocol.score import Score
from train.score import scores
from train.score.held_out import COUNT, SETS, TEST, held_out, validation_params
from train.score.scores import ReferenceReturns
from train.settings import presets
from train.training import ALGORITHMS

FAMILIES = ("LifeOps-v0", pytest.param("LifeStack-v0", marks=pytest.mark.slow), "TeamsClone-v0")


def rows_of(bank):
    """The scenarios of a bank as a set of bytes."""
    leaves = [np.asarray(leaf).reshape(bank.size, -1) for leaf in jax.tree.leaves(jax.device_get(bank.scenarios))]
    return {b"".join(leaf[row].tobytes() for leaf in leaves) for row in range(bank.size)}


@pytest.mark.parametrize("env_id", FAMILIES)
def test_nobody_trains_or_validates_on_the_test_set(env_id):
    env, params = jaxenv.make(env_id)
    sets = {name: rows_of(each.bank) for name, each in held_out(env, params).items()}
    assert {name: len(rows) for name, rows in sets.items()} == dict.fromkeys(SETS, COUNT)
    config = presets.for_environment(env_id)
    of_run = ALGORITHMS["ppo"].training_bank(jax.random.key(config.seed), params, config=config, env=env)
    others = rows_of(of_run) | rows_of(validation_params(env, params).bank)
    for rows in sets.values():
        assert not rows & others
        others |= rows


MACHINE = {"cpu": "a chip", "cores": 2, "device": "cpu", "versions": {"jax": "0.10"}, "command": "python -m train"}
ABOUT = {"env_steps": 7, "seconds": 60.0, "asked": {"scenarios": {"easy": "abc"}}, **MACHINE}


def measured(low, seeds=3):
    """Returns low, low + 1, ... of the seeds; of the scenarios of `hard` 10 less each."""
    seeded = low + np.arange(seeds, dtype=np.float32)[:, None]
    returns = {name: np.repeat(seeded - 10 * (name == "hard"), 8, axis=1) for name in SETS}
    succeeded = {name: np.full((seeds, 8), 0.25, np.float32) for name in SETS}
    figures = {name: {"messages": [6.0] * (seeds - 1), "coverage": [0.25] * (seeds - 1)} for name in SETS}
    about = ABOUT | {"seeds": seeds, "figures": figures}
    return Score(returns | {"library": np.repeat(seeded, 2, axis=1)}, succeeded, about)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Fewer resamples than for a table that is published."""
    monkeypatch.setattr(scores, "RESAMPLES", 50)


def test_a_row_by_hand():
    reference = ReferenceReturns(("a", "b"), np.array([0.0, 1.0]), np.array([4.0, np.nan]), "upper bound")
    ours, theirs = summary.rows({"PPO": measured(1.0), "PQN": measured(2.0)}, reference)
    assert ours.returns["test"].value == pytest.approx((2.0 + 2.0 - 8.0) / 3)
    assert ours.interquartile.value == pytest.approx(np.sort([1, 2, 3] * 16 + [-9, -8, -7] * 8)[18:54].mean())
    assert ours.returns["shifted"].value == 2.0
    assert ours.returns["hard"].value == -8.0
    assert ours.succeeded["easy"].value == ours.succeeded["test"].value == 0.25
    assert ours.library_score.value == pytest.approx(2.0 / 4.0)  # the second scenario has no reference
    assert ours.score_is == "upper bound"
    assert ours.returns["library"].value == 2.0
    assert (ours.better, ours.return_gained, ours.success_gained) == (None, {}, {})
    assert theirs.better.value == pytest.approx((1 + 1 + 1 + 0.5 + 0.5 + 1 + 1 + 1 + 0) / 9)  # pairs of 2 3 4 and 1 2 3
    assert theirs.better.low <= theirs.better.value <= theirs.better.high <= 1.0
    assert {name: gain.value for name, gain in theirs.return_gained.items()} == {"test": 1.0, "shifted": 1.0}
    assert theirs.return_gained["test"].low < 1.0 < theirs.return_gained["test"].high  # seeds differ
    assert [gain.value for gain in theirs.success_gained.values()] == [0.0, 0.0]
    assert ours.figures == {"messages": [6.0] * 2, "coverage": [0.25] * 2}


def test_a_page_says_what_scores_1_and_what_to_know_before():
    reference = ReferenceReturns(("a", "b"), np.array([0.0, 1.0]), np.array([4.0, 9.0]), "upper bound")
    page = markdown.page(
        {env_id: summary.rows({"PPO": measured(1.0)}, reference) for env_id in ("LifeOps-v0", "A")}, None
    )
    assert page.count(" | library, 1 = upper bound | ") == 2
    assert page.count("never accepts a meeting") == 1


def test_the_median_seed():
    found = measured(0.0)
    found.returns["easy"][0] += 100
    assert measure.median_seed(found, list(TEST)) == 2
    assert measure.median_seed(measured(0.0, seeds=4), list(TEST)) == 1


def test_what_was_measured_is_read_again(tmp_path):
    path = measure.path_of(tmp_path, "A-v0", "PPO")
    measured(1.0).save(path)
    [(agent, found)] = measure.load_all(tmp_path, "A-v0").items()
    assert agent == "PPO"
    assert found.about == measured(1.0).about
    jax.tree.map(np.testing.assert_array_equal, found.returns, dict(measured(1.0).returns))
    jax.tree.map(np.testing.assert_array_equal, found.succeeded, dict(measured(1.0).succeeded))


def test_the_page_has_a_row_for_each_agent_and_no_empty_column(tmp_path):
    agents = {"Random": measured(-5.0), "PPO": measured(1.0)}
    for agent in agents.values():
        del agent.returns["library"]
    rows = summary.rows(agents, None)
    page = markdown.page({"A-v0": rows}, "picture.png", ["results/1M/README.md"])
    assert "(picture.png)" in page
    assert "\nTrained for other numbers of steps: [1M](results/1M/README.md).\n" in page
    reached = "| agent | test | shifted | easy | medium | hard | succeeded, test | succeeded, shifted | IQM |"
    assert f"{reached} seeds | time each |\n" in page
    assert f"| PPO | {rows[1].returns['test'].value:.2f} (" in page
    assert "| 25% (25% to 25%) |" in page
    compared = (
        "| less PPO | return, test | return, shifted | points of success, test | points of success, shifted | better |"
    )
    assert f"{compared}\n" in page
    assert "\n| Random | -6.00 (" in page
    assert "| +0.0 (+0.0 to +0.0) | 0.00 (0.00 to 0.00) |\n" in page
    assert page.count("\n| PPO | ") == 1  # less itself there is nothing to say
    assert "| on the test set | messages | coverage |\n" in page
    assert "\n| PPO, 2 of 3 seeds | 6.00 | 0.25 |\n" in page
    place = "a chip, 2 cores, cpu, jax 0.10: `python -m train`"
    assert f"7 environment steps a seed. {place}. Scenarios: easy `abc`." in page
    pytest.importorskip("matplotlib")
    figure.draw({"A-v0": rows}, tmp_path / "results.png")
    assert (tmp_path / "results.png").stat().st_size > 1000


@pytest.fixture
def command(tmp_path, monkeypatch):
    """() -> exit status of two agents in a table, in a folder."""
    monkeypatch.setattr(registry, "_FACTORIES", {"Table-v0": Table})
    monkeypatch.setitem(presets.PRESETS, "Table-v0", GENERATED)
    monkeypatch.setattr(shipped, "library_for", lambda env, path=None: LIBRARY)
    monkeypatch.setattr(Table, "default_params", PROBES["observation"])
    folders = {"out": "out", "page": "out/R.md", "runs": "runs", "release": "released"}
    options = [part for name, place in folders.items() for part in (f"--{name}", str(tmp_path / place))]
    sizes = ["--seeds", "2", "--total-steps", "2048", "--no-progress"]
    return lambda *others: main(["results", "--env", "Table-v0", "--agents", "PPO", *sizes, *options, *others])


@pytest.mark.slow
def test_nothing_is_measured_twice(command, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        killed = type("Killed", (), {"stopped": True})()
        patch.setattr(measure.training, "train_population", lambda *_, **__: {"seed=0": killed})
        assert command() == 130
    assert "the same command goes on" in capsys.readouterr().out
    assert command() == 0
    assert capsys.readouterr().out.startswith("Table-v0: PPO\n")  # Random had been scored before
    random, myopic, ppo = json.loads((tmp_path / "out/results.json").read_text())["Table-v0"]
    assert [row["agent"] for row in (random, myopic, ppo)] == ["Random", "Myopic", "PPO"]
    assert [row["about"]["env_steps"] for row in (random, myopic, ppo)] == [0, 0, 2048]
    assert ppo["library_score"]["value"] == 0.5  # states 0 and 1 pay 1 and -1, whatever is done
    [runs] = tmp_path.glob("runs/Table-v0/PPO-*")
    policies = [path.read_bytes() for path in runs.glob("seed=*/policy.msgpack")]
    assert (tmp_path / "released/Table-v0.msgpack").read_bytes() in policies
    before = (tmp_path / "out/R.md").read_text()
    assert command() == 0
    assert capsys.readouterr().out.startswith("written to")
    path = measure.path_of(tmp_path / "out", "Table-v0", "PPO")
    earlier = Score.load(path)
    del earlier.about["asked"]["settings"]["curriculum"]["staleness"]  # a setting that came after it was measured
    earlier.save(path)
    assert command() == 0
    assert capsys.readouterr().out.startswith("written to")
    path.unlink()
    assert command() == 0  # its runs are there and finished
    assert (tmp_path / "out/R.md").read_text() == before
    (tmp_path / "out/1M").mkdir()
    (tmp_path / "out/1M/README.md").write_text("another page")
    assert command() == 0
    assert "[1M](1M/README.md)" in (tmp_path / "out/R.md").read_text()


def test_agents_differ_in_what_their_names_say():
    env, _ = jaxenv.make("LifeOps-v0")
    configs = {agent: settings(env, agent, seeds=2, total_steps=7) for agent in LEARNERS}
    assert {agent for agent, config in configs.items() if config.network.core == "gru"} == {"PPO-GRU"}
    curricula = {agent: config.curriculum.curriculum for agent, config in configs.items()}
    assert {agent for agent, curriculum in curricula.items() if curriculum == "plr"} == {"PPO-PLR"}
    assert set(curricula.values()) == {"uniform", "plr"}
    assert {config.total_steps for config in configs.values()} == {7}


@pytest.mark.slow
def test_what_was_measured_on_other_scenarios_is_left_out_and_measured_anew(command, tmp_path, capsys):
    assert command() == 0
    path = measure.path_of(tmp_path / "out", "Table-v0", "Random")
    stale, read_less = Score.load(path), Score.load(measure.path_of(tmp_path / "out", "Table-v0", "PPO"))
    stale.about["asked"]["scenarios"]["hard"] = "of another generator"
    for agent in ("Random", "PQN"):
        stale.save(measure.path_of(tmp_path / "out", "Table-v0", agent))
    stale.save(measure.path_of(tmp_path / "out", "Table-v0", "Somebody else's"))
    read_less.about["asked"]["weights"] = "of fewer features"
    read_less.save(measure.path_of(tmp_path / "out", "Table-v0", "DQN"))
    capsys.readouterr()
    assert command() == 0
    printed = capsys.readouterr().out
    words = "Table-v0: left out, since measured on other scenarios, or with networks that read others: DQN, PQN\n"
    assert printed.startswith(f"Table-v0: Random\n{words}")
    assert Score.load(path).about["asked"]["scenarios"]["hard"] != "of another generator"


@pytest.mark.slow
def test_a_seed_that_diverges_is_told_and_its_agent_left_out(command, tmp_path, monkeypatch, capsys):
    diverging = GENERATED.hyper.replace(learning_rate=1e30)
    monkeypatch.setitem(presets.PRESETS, "Table-v0", GENERATED.replace(hyper=diverging))
    assert command() == 2  # there is nothing to release
    error = capsys.readouterr().err
    assert "stopped early: a loss or gradient was not finite" in error
    assert "does not hold the runs that" in error
    assert not measure.path_of(tmp_path / "out", "Table-v0", "PPO").exists()


def test_a_wrong_request_is_one_line(command, capsys):
    for options, message in (
        (["--agents", "PPG"], "no agent 'PPG'. Did you mean 'PPO'?"),
        (["--env", "Tabel-v0"], "no environment 'Tabel-v0'. Did you mean 'Table-v0'?"),
        (["--seeds", "1"], "seeds must be at least 2"),
    ):
        assert command(*options) == 2
        assert message in capsys.readouterr().err
