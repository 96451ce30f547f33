"""Every row follows from its arrays; one that does not is refused by name."""

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import jaxenv
from jaxenv import baselines
from train.cli.main import main
from train.protocol import Score, leaderboard
from train.score import scores

FOLDER = Path(__file__).parents[3] / "leaderboard"
PATHS = leaderboard.paths(FOLDER)
ID = "LifeOps-v0"
slow = functools.partial(pytest.param, marks=pytest.mark.slow)


def test_every_agent_that_was_measured_has_a_row():
    assert sorted(path.with_suffix(".json") for path in FOLDER.rglob("*.npz")) == PATHS
    assert len(PATHS) > 80


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_values_of_every_row_are_those_of_its_arrays(path, monkeypatch):
    """The intervals, which take long, are computed for one row here and for all of them below."""
    monkeypatch.setattr(scores, "RESAMPLES", 1)
    row, score = leaderboard.read(path), Score.load(path.with_suffix(".npz"))
    found = leaderboard.row_of(score, row.agent, row.code)
    assert (row.env, row.agent) == (path.parent.name, path.stem)
    for name, figures in row.figures.items():
        assert figures.mean_return[0] == pytest.approx(found.figures[name].mean_return[0], abs=2e-4)
        assert figures.succeeded[0] == pytest.approx(found.figures[name].succeeded[0], abs=2e-4)
    computed = {"figures", "library_score"}
    assert row.model_dump(exclude=computed) == found.model_dump(exclude=computed)
    assert (row.library_score or [None])[0] == pytest.approx((found.library_score or [None])[0], abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_row_holds(path):
    leaderboard.check(path)


@pytest.fixture
def row(tmp_path):
    """A copy of a row and its arrays."""
    for suffix in (".json", ".npz"):
        shutil.copy(FOLDER / "1M" / ID / f"PPO{suffix}", tmp_path / f"PPO{suffix}")
    return tmp_path / "PPO.json"


def changed(path, change):
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row["figures"]["test"]["mean_return"].__setitem__(0, 0.0), "figures.test.mean_return.0 is 0.0"),
        (lambda row: row["figures"]["hard"]["mean_return"].__setitem__(2, 9.0), "figures.hard.mean_return.2 is 9.0"),
        slow(lambda row: row["library_score"].__setitem__(0, 1.5), "library_score.0 is 1.5"),
        slow(lambda row: row.update(seeds=50), "seeds is 50"),
        slow(lambda row: row.update(env_steps=10), "env_steps is 10"),
        slow(lambda row: row["figures"].pop("shifted"), "figures.shifted.mean_return.0 is nothing"),
        (lambda row: row.update(env="LifeOps-v9"), "there is no 'LifeOps-v9'"),
        (lambda row: row.update(rank=1), "rank: Extra inputs are not permitted"),
        (lambda row: row.pop("code"), "code: Field required"),
        (lambda row: row.update(code=""), "code: String should have at least 1 character"),
    ],
)
def test_a_row_that_was_edited_is_refused(row, change, message, capsys):
    changed(row, change)
    assert main(["leaderboard", "check", str(row)]) == 2
    assert message in capsys.readouterr().err


def test_arrays_that_were_edited_are_refused(row, capsys):
    score = Score.load(row.with_suffix(".npz"))
    Score({**score.returns, "hard": score.returns["hard"] + 1}, score.succeeded, score.about).save(
        row.with_suffix(".npz")
    )
    assert main(["leaderboard", "check", str(row)]) == 2
    assert "figures.hard.mean_return.0 is" in capsys.readouterr().err


def test_a_row_of_other_scenarios_is_refused(row, capsys):
    """Row and arrays agree with each other, and not with the scenarios of today."""
    score = Score.load(row.with_suffix(".npz"))
    asked = {**score.about["asked"], "scenarios": {**score.scenarios, "hard": "of another generator"}}
    Score(score.returns, score.succeeded, {**score.about, "asked": asked}).save(row.with_suffix(".npz"))
    changed(row, lambda record: record["scenarios"].update(hard="of another generator"))
    assert main(["leaderboard", "check", str(row)]) == 2
    assert "scenarios.hard is of another generator" in capsys.readouterr().err


def test_a_row_is_written_from_a_score_and_told_what_it_lacks(tmp_path, capsys):
    one = jaxenv.score(baselines.random_policy, ID, sets="library")
    path = tmp_path / "Mine.json"
    written = leaderboard.save(one, path, agent="Mine", code="https://example.org", env_steps=1e6, seconds=3)
    assert leaderboard.check(path) == written
    assert main(["leaderboard", "check", str(path)]) == 0
    assert capsys.readouterr().out.endswith("holds; 1 of at least 5 seeds; no easy, medium, hard, shifted\n")
    again = leaderboard.save(Score.load(path.with_suffix(".npz")), path, agent="Mine", code="https://example.org")
    assert (again.env_steps, again.seconds) == (1_000_000, 3.0)
    leaderboard.save(one, path, agent="Mine", code="https://example.org", env_steps=10)
    assert leaderboard.lacks(leaderboard.read(path))[-1] == "no seconds of training"
    before = path.with_suffix(".npz").read_bytes()
    with pytest.raises(ValueError, match="the name of the agent and the address of its code"):
        leaderboard.save(one, path, agent="Mine", code="")
    assert path.with_suffix(".npz").read_bytes() == before
    with pytest.raises(ValueError, match=r"Mine\.npz: expected \.json"):
        leaderboard.save(one, path.with_suffix(".npz"), agent="Mine", code="https://example.org")
    for_settings = Score({"validation": one.returns["library"]}, {"validation": one.succeeded["library"]}, one.about)
    with pytest.raises(ValueError, match="the validation set is for choosing settings"):
        leaderboard.save(for_settings, path, agent="Mine", code="https://example.org")
    path.write_bytes(path.with_suffix(".npz").read_bytes())
    with pytest.raises(ValueError, match=r"Mine\.json: Invalid JSON"):
        leaderboard.read(path)


@pytest.mark.slow
def test_the_row_of_an_agent_of_ones_own_is_written_checked_and_listed(tmp_path, monkeypatch, capsys):
    (tmp_path / "my_agents.py").write_text(
        "import jax.numpy as jnp\n\ndef reject(*_):\n    return jnp.int32(1)\n\nseeds = [reject, reject]\n"
    )
    monkeypatch.chdir(tmp_path)
    row = tmp_path / "board" / "Mine.json"
    who = ["--name", "Mine", "--code", "https://example.org", "--env-steps", "9e6", "--seconds", "5"]
    assert main(["score", "my_agents:seeds", "--env", ID, "--out", str(row), *who]) == 0
    assert main(["leaderboard", "check", "--folder", "board"]) == 0
    assert main(["leaderboard", "--folder", "board", "--env", ID]) == 0
    head, line = capsys.readouterr().out.splitlines()[-2:]
    assert head.split()[:6] == ["environment", "agent", "budget", "(M", "steps)", "seeds"]
    assert line.split()[:5] == [ID, "Mine", "10M", "(9)", "2"]
    returns = Score.load(row.with_suffix(".npz")).returns
    assert line.split()[5] == f"{np.mean([returns[name] for name in ('easy', 'medium', 'hard')]):.2f}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("leaderboard chekc", "chekc"),
        ("leaderboard --folder nowhere", "nowhere has no rows"),
        (f"leaderboard --folder {FOLDER} --env Week-v1", "no row of 'Week-v1'. Did you mean 'Week-v0'?"),
        ("leaderboard check --env Week-v0", "--env is for what is shown"),
        ("score runs --out row.json", "--out row.json: a row needs --name NAME and --code ADDRESS"),
        ("score runs --out row.json --name Mine --code ", "--out row.json: a row needs --name NAME"),
        ("score runs --out row.txt", "--out row.txt: expected .npz, or .json"),
    ],
)
def test_a_mistake_is_one_line(line, message, capsys):
    assert main(line.split(" ")) == 2
    assert message in capsys.readouterr().err
