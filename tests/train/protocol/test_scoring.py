"""One call scores a policy as the published tables do, whatever it is made of."""

import contextlib
import hashlib
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import baselines
from scenarios.playing.game import Game
from train.cli.main import main
from train.protocol import Score, leaderboard, scoring
from train.settings.config import Config

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "leaderboard" / "LifeOps-v0"
ID = "LifeOps-v0"
ENV, PARAMS = jaxenv.make(ID)


def reject(key, observation, params):
    return jnp.int32(1)


@pytest.fixture(scope="module")
def careful():
    return jaxenv.score(baselines.for_environment(ENV)["Careful"], ID)


def test_the_published_row_is_found_again(careful):
    published = Score.load(PUBLISHED / "Careful.npz")
    assert careful.scenarios == published.scenarios
    assert careful.sets == published.sets == ("test", "easy", "medium", "hard", "shifted", "library")
    for name in scoring.NAMES:
        np.testing.assert_allclose(careful.returns[name][0], published.returns[name][0], atol=1e-3)
        assert careful.less(published, name).value == pytest.approx(0.0, abs=1e-3)


def test_a_score_is_printed_in_a_few_lines(careful):
    head, *rows, last = str(careful).splitlines()
    assert head.split() == [f"{ID},", "1", "seed", "return"]
    assert [row.split()[0] for row in rows] == list(careful.sets)
    assert rows[0].split()[1] == f"{np.mean([careful.returns[name] for name in ('easy', 'medium', 'hard')]):.2f}"
    assert last == f"library, score {careful.library_score}: 0 is Random, 1 the best return, exact by search"


def test_a_saved_score_is_the_same_one(careful, tmp_path):
    careful.save(tmp_path / "a.npz")
    assert str(Score.load(tmp_path / "a.npz")) == str(careful)


def test_agents_on_other_scenarios_are_not_compared(careful):
    other = jaxenv.score(reject, ID, sets=["library"])
    assert careful.less(other, "library").value > 0
    moved = Score(careful.returns, careful.succeeded, {"asked": {"scenarios": {"library": "of another version"}}})
    with pytest.raises(ValueError, match="measured on other scenarios of 'library'"):
        careful.less(moved, "library")
    for figure in (other.mean, other.success):
        with pytest.raises(ValueError, match=r"no set 'test' was played\. Available: library\.$"):
            figure()


def test_a_python_function_is_scored_like_the_same_in_jax():
    def outside(flat):
        return np.ones(flat.shape[:-1], np.int32)

    def policy(key, observation, params):
        flat = ENV.flatten(observation, params)
        return jax.pure_callback(outside, jax.ShapeDtypeStruct((), np.int32), flat, vmap_method="broadcast_all")

    ours, theirs = (jaxenv.score(each, ID, sets=["library"]).returns["library"] for each in (reject, policy))
    np.testing.assert_array_equal(ours, theirs)


def test_the_whole_test_set_and_the_validation_set_have_names(monkeypatch):
    """Banks of the library's days, since the sets take long."""
    params = dict.fromkeys(("easy", "medium", "hard", "shifted"), PARAMS)
    monkeypatch.setattr(scoring, "held_out", lambda *_: params)
    monkeypatch.setattr(scoring, "validation_params", lambda *_: PARAMS)
    assert jaxenv.score(reject, ID, sets="test").sets == ("test", "easy", "medium", "hard")
    assert jaxenv.score(reject, ID, sets=["validation"]).sets == ("validation",)
    assert "validation" not in scoring.marks_of(ENV, PARAMS)


@pytest.mark.parametrize(
    "policy",
    [
        lambda key, observation, params: np.asarray(observation.action_mask).argmax(),
        lambda key, observation, params: 1 if observation.action_mask[0] else 0,
        lambda key, observation, params: int(observation.action_mask[0]),
    ],
    ids=["numpy", "if", "int"],
)
def test_what_cannot_be_compiled_in_a_policy_is_refused_with_what_to_do(policy):
    with pytest.raises(ValueError, match="read no traced array"):
        jaxenv.score(policy, ID, sets="library")


def test_a_file_of_another_kind_is_not_written(careful, tmp_path):
    with pytest.raises(ValueError, match=r"leaderboard\.save writes a row"):
        careful.save(tmp_path / "row.json")


def test_a_list_of_policies_is_the_seeds_of_one_agent():
    found = jaxenv.score([reject, baselines.random_policy], ID, sets=["library"])
    assert found.returns["library"].shape == (2, 12)
    assert str(found).startswith(f"{ID}, 2 seeds")


@pytest.mark.parametrize(
    ("id", "sets", "message"),
    [
        (ID, ["hrad"], "no set 'hrad'. Did you mean 'hard'?"),
        ("LifeOps-v00", ["hard"], "LifeOps-v0"),
    ],
)
def test_a_mistake_is_named(id, sets, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        jaxenv.score(reject, id, sets=sets)


def test_the_command_scores_a_function_of_a_file_beside_a_published_agent(tmp_path, monkeypatch, capsys):
    (tmp_path / "my_agent.py").write_text("import jax.numpy as jnp\n\ndef reject(*_):\n    return jnp.int32(1)\n")
    monkeypatch.chdir(tmp_path)
    line = ["score", "my_agent:reject", "--env", ID, "--sets", "library", "--out", "mine.npz"]
    assert main([*line, "--less", str(PUBLISHED / "Random.npz")]) == 0
    printed = capsys.readouterr().out
    assert f"library, less {PUBLISHED / 'Random.npz'}: +" in printed
    found = Score.load(tmp_path / "mine.npz")
    assert printed.startswith(str(found))
    assert {"command", "versions", "cpu"} <= set(found.about)


@pytest.mark.slow
def test_the_command_scores_the_seeds_of_a_population(tmp_path, capsys):
    sizes = ["--num-envs", "8", "--num-steps", "4", "--minibatch-size", "32", "--hidden", "4", "--total-steps", "32"]
    options = ["--env", ID, "--seeds", "2", "--updates-per-superstep", "1", "--scenarios", "library", *sizes]
    assert main(["ppo", *options, "--run-dir", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    out = tmp_path / "mine.npz"
    assert main(["score", str(tmp_path / "runs"), "--sets", "library", "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith(f"{ID}, 2 seeds")
    seed = tmp_path / "runs" / "seed=1" / "policy.msgpack"
    assert Score.load(out).about["policies"][1] == hashlib.sha256(seed.read_bytes()).hexdigest()


def test_the_steps_of_a_search_that_taught_are_counted(monkeypatch):
    taught = Config(env=ID, teacher="search", simulations=8)
    monkeypatch.setattr(scoring, "runs_in", lambda path: [SimpleNamespace(metrics=None)] * 2)
    monkeypatch.setattr(scoring, "read_metrics", lambda path: [{"env_steps": 100, "seconds": 4.0}])
    for config, steps in ((taught, 900), (taught.replace(teacher="Myopic"), 100), (Config(env=ID), 100)):
        folder = SimpleNamespace(read_config=lambda config=config: config)
        monkeypatch.setattr(scoring, "RunFolder", lambda path, folder=folder: folder)
        assert scoring.cost(Path("runs")) == {"env_steps": steps, "seconds": 2.0}


def test_the_seconds_of_a_population_are_those_of_its_turns_whatever_their_order(monkeypatch):
    seconds = {"a": 4.0, "b": 3.0, "c": 4.0, "d": 3.0}  # two turns, whose members do not follow each other
    monkeypatch.setattr(scoring, "runs_in", lambda path: [SimpleNamespace(metrics=name) for name in seconds])
    monkeypatch.setattr(scoring, "read_metrics", lambda name: [{"env_steps": 100, "seconds": seconds[name]}])
    folder = SimpleNamespace(read_config=lambda: Config(env=ID).replace(at_once=2))
    monkeypatch.setattr(scoring, "RunFolder", lambda path: folder)
    assert scoring.cost(Path("runs"))["seconds"] == 7.0 / 4


def test_a_member_that_stopped_early_costs_what_the_others_do(monkeypatch):
    """The first one of three in a turn, and one that was alone in a later turn."""
    turn = [{"env_steps": 100 * n, "seconds": 10.0 * n} for n in range(1, 5)]
    records = {"a": turn[:1], "b": turn, "c": turn, "d": [{"env_steps": 100, "seconds": 7.0}]}
    monkeypatch.setattr(scoring, "runs_in", lambda path: [SimpleNamespace(metrics=name) for name in records])
    monkeypatch.setattr(scoring, "read_metrics", records.get)
    monkeypatch.setattr(scoring, "RunFolder", lambda path: SimpleNamespace(read_config=lambda: Config(env=ID)))
    assert scoring.cost(Path("runs")) == {"env_steps": 400, "seconds": 47.0 / 4}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("score nowhere", "nowhere: no such folder or file; a function is MODULE:POLICY"),
        ("score my_agent:reject", "my_agent:reject needs --env ID"),
        ("score nowhere_at_all:reject --env LifeOps-v0", "policy nowhere_at_all:reject: No module named"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(line, message, capsys):
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "protocol.md").read_text("utf-8"), re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec("\n".join(blocks), {"__name__": "page"})
    assert len(blocks) == 4
    assert leaderboard.check(tmp_path / "Mine.json").agent == "Mine"
    assert printed.getvalue().count("library, score") == 2


def test_episodes_played_by_hand_are_a_row(tmp_path, capsys):
    episodes, board = tmp_path / "episodes", tmp_path / "board"
    episodes.mkdir()
    game, totals = Game("LifeOps-v0"), []
    for name in game.scenarios:
        game.begin(name)
        while not (moment := game.moment())["end"]:
            game.take(moment["groups"][0]["actions"][0][0])
        totals.append(moment["total"])
        (episodes / f"{name}.json").write_text(json.dumps(game.record()), "utf-8")
    of_another_id = Game("LifeOps-Shaped-v0")
    of_another_id.begin(game.scenarios[2])
    while not (moment := of_another_id.moment())["end"]:
        of_another_id.take(moment["groups"][0]["actions"][0][0])
    row = board / "LifeOps-v0" / "Somebody.json"
    who = ["--name", "Somebody", "--code", "played by hand"]
    assert main(["score", str(episodes), "--out", str(row), *who]) == 0
    assert Score.load(row.with_suffix(".npz")).returns["library"][0] == pytest.approx(totals)
    assert main(["leaderboard", "check", str(row)]) == 0
    (episodes / f"{game.scenarios[2]}.json").unlink()
    assert main(["score", str(episodes)]) == 2
    assert f"there is no episode of {game.scenarios[2]}" in capsys.readouterr().err
    (episodes / f"{game.scenarios[2]}.json").write_text(json.dumps(of_another_id.record()), "utf-8")
    assert main(["score", str(episodes)]) == 2
    assert "expected a whole episode of the library of LifeOps-v0" in capsys.readouterr().err
    (episodes / f"{game.scenarios[2]}.json").unlink()
    (episodes / "again.json").write_text((episodes / f"{game.scenarios[0]}.json").read_text())
    assert main(["score", str(episodes)]) == 2
    assert "a scenario has several episodes" in capsys.readouterr().err
