"""Playing by hand: the game is `TextEnv`, undo leaves no trace, episodes replay, and the page asks nobody else."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

import scenarios
from scenarios.playing.game import Game, replay
from scenarios.text.errors import ScenarioError
from train.cli.main import main

pytest.importorskip("uvicorn", reason="the extra `play` is not installed")
from scenarios.playing.app import PAGE, Inline

DAY = "s1_basic_conflict"


@pytest.fixture(scope="module")
def address() -> str:
    return Inline("LifeOps-v0").address


def ask(address: str, path: str, body: object = None, **headers: str):
    """(status, answer) of a request, a POST where it has a body."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, data, headers)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize(("id", "scenario"), [("LifeOps-v0", DAY), ("TeamsClone-v0", "general"), ("Week-v0", 0)])
def test_a_game_is_an_episode_in_words(id: str, scenario: str) -> None:
    game, env = Game(id), scenarios.TextEnv(id, scenario, seed=3)
    env.reset()
    moment = game.begin(scenario, 3)
    for _ in range(5):
        actions = [index for group in moment["groups"] for index, _ in group["actions"]]
        assert sorted(actions) == sorted(env.legal_actions)
        if moment["end"]:
            break
        text, reward, done, info = env.step(actions[-1])
        moment = game.take(actions[-1])
        assert moment["reward"] == reward
        assert bool(moment["end"]) == done
        assert moment["text"] in text
        assert moment["parts"] == {name.replace("_", " "): part for name, part in info["reward_parts"].items() if part}


def test_undo_takes_back_a_step_and_its_chance() -> None:
    game = Game("TeamsClone-v0")
    first = game.begin("general", 5)
    told = [game.take(action) for action in (0, 15, 1)]
    assert [game.undo() for _ in range(3)] == [told[1], told[0], first]
    assert game.undo() == first
    game.take(2)
    game.undo()
    assert [game.take(action) for action in (0, 15, 1)] == told


def test_an_episode_replays_to_the_same_bits_and_another_one_is_refused() -> None:
    game = Game("LifeOps-Shaped-v0")
    game.begin("generated", 7)
    rewards = []
    while not game.moment()["end"]:
        rewards.append(game.take(game.moment()["groups"][0]["actions"][0][0])["reward"])
    assert game.moment()["best"] is None  # nothing is known of what was drawn
    record = json.loads(json.dumps(game.record()))
    assert replay(record).rewards == rewards
    assert record["return"] == pytest.approx(sum(rewards))
    with pytest.raises(ScenarioError, match="the return of the episode is"):
        replay(record | {"return": 100.0})
    with pytest.raises(ScenarioError, match="the bank of the episode is"):
        replay(record | {"bank": "0" * 16})
    with pytest.raises(ScenarioError, match="seed is missing"):
        replay({name: value for name, value in record.items() if name != "seed"})
    with pytest.raises(ScenarioError, match="not a legal action"):
        replay(record | {"actions": [99]})


@pytest.mark.slow
def test_a_hint_names_the_best_play() -> None:
    game = Game("LifeOps-v0")
    game.begin(DAY)
    best = game.hint()
    assert best["is_exact"]
    assert best["policy"] == "PPO"
    assert set(best["values"]) == {index for group in game.moment()["groups"] for index, _ in group["actions"]}
    assert best["values"][best["best"]] == max(best["values"].values())
    total = best["values"][best["best"]]
    while not game.moment()["end"]:
        game.take(game.hint()["best"])
    assert game.moment()["total"] == pytest.approx(total, abs=1e-5) == pytest.approx(game.moment()["best"], abs=1e-3)
    assert game.hint() == {}


def test_among_several_agents_the_first_is_played_without_hints() -> None:
    game = Game("TeamsClone-MultiAgent-v0")
    assert not game.begin("general")["has_hints"]
    assert game.take(game.moment()["groups"][0]["actions"][0][0])["step"] == 1
    with pytest.raises(ScenarioError, match="has several agents, and credit is for one"):
        game.hint()


def test_the_page_is_played_over_http(address: str) -> None:
    status, told = ask(address, "/about")
    assert status == 200
    assert json.loads(told)["scenarios"] == [*scenarios.load("lifeops").ids, "generated"]
    assert json.loads(ask(address, "/begin", {"scenario": DAY, "seed": 1})[1])["scenario"] == DAY
    moved = json.loads(ask(address, "/take", {"action": 0})[1])
    assert (moved["reward"], moved["total"], moved["step"]) == (-10.0, -10.0, 1)
    assert moved["picture"].startswith("<svg ")
    assert replay(json.loads(ask(address, "/episode")[1])).rewards == [-10.0]
    assert json.loads(ask(address, "/undo", {})[1])["step"] == 0


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/take", {"action": 99}, "99 is not a legal action now."),
        ("/take", {"action": True}, "true is not a legal action now."),
        ("/take", {"move": 1}, "expected a JSON object of action"),
        ("/take", {}, "null is not a legal action now."),
        ("/take", [1], "expected a JSON object of action"),
        ("/begin", {"scenario": "s1_basic_conflct"}, "Did you mean 's1_basic_conflict'?"),
        ("/begin", {"seed": -1}, "the seed is -1"),
        ("/undo", {"steps": 2}, "expected a JSON object of nothing"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(address: str, path: str, body: object, expected: str) -> None:
    status, told = ask(address, path, body)
    assert (status, expected in json.loads(told)["detail"]) == (422, True)


def test_other_sites_may_not_play(address: str) -> None:
    assert ask(address, "/undo", {}, origin="http://example.org")[0] == 403
    assert ask(address, "/about", host="example.org")[0] == 400
    assert ask(address, "/undo", {}, origin=address)[0] == 200


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = PAGE.read_text("utf-8")
    assert not re.findall(r"https?://|@import|src=", page)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no browser")
def test_a_browser_shows_the_actions(address: str) -> None:
    ask(address, "/begin", {"scenario": "easy_1"})
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]
    shown = subprocess.run(["chromium", *options, address], capture_output=True, text=True, timeout=120, check=True)
    assert ">accept Design review</span>" in shown.stdout
    assert "Thursday" in shown.stdout


def test_the_command_replays_a_file(tmp_path, capsys) -> None:
    game, file = Game("LifeOps-v0"), tmp_path / "episode.json"
    game.begin(DAY)
    game.take(1)
    file.write_text(json.dumps(game.record()), "utf-8")
    assert main(["play", str(file)]) == 0
    assert capsys.readouterr().out == "1 steps, return -4.00, as recorded\n"
    file.write_text("{", "utf-8")
    assert main(["play", str(file)]) == 2
    assert "not a recorded episode" in capsys.readouterr().err
    assert main(["play", "LifeOps"]) == 2
    assert "Did you mean 'LifeOps-v0'?" in capsys.readouterr().err
