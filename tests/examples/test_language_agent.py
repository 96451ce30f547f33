"""The loop of a language model, against an endpoint on this machine that answers by a rule."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import language_agent
import numpy as np
import pytest

import scenarios
from train.protocol import Score

ACTION = re.compile(r"^ *(\d+)  ", re.MULTILINE)


class Endpoint(BaseHTTPRequestHandler):
    """Chat completions whose answer number i names the last legal action but i; what was asked is kept."""

    asked: ClassVar[list] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers["Authorization"], body))
        legal = ACTION.findall(body["messages"][-1]["content"].partition("Actions: ")[2])
        answers = [f"I think.\n\nAction: {legal[-1 - i % len(legal)]}" for i in range(body["n"])]
        choices = [{"message": {"role": "assistant", "content": answer}} for answer in answers]
        told = json.dumps({"choices": choices}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_) -> None:
        """Silence."""


@pytest.fixture(scope="module")
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_a_model_plays_whole_episodes(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "secret")
    Endpoint.asked.clear()
    options = ["--url", url, "--model", "stub", "--key-from", "KEY"]
    returns = language_agent.main(["LifeOps-v0", "model", *options])
    expected = []
    for scenario in scenarios.load("lifeops").ids:
        env = scenarios.TextEnv("LifeOps-v0", scenario)
        expected.append(language_agent.play(env, lambda text, env: max(env.legal_actions), env.reset()))
    assert returns == pytest.approx(expected)
    path, key, body = Endpoint.asked[0]
    assert (path, key, body["model"], body["temperature"]) == ("/v1/chat/completions", "Bearer secret", "stub", 0.0)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    roles = [message["role"] for message in Endpoint.asked[1][2]["messages"]]
    assert roles in (["system", "user"], ["system", "user", "assistant", "user"])  # an episode may have one step


def test_the_best_of_several_answers_is_no_worse_than_the_first(url: str) -> None:
    returns = language_agent.main(["LifeOps-v0", "best-of", "--url", url, "--n", "3"])
    first = language_agent.main(["LifeOps-v0", "model", "--url", url])
    assert Endpoint.asked[-1][2]["n"] == 1
    assert returns.mean() > first.mean()


def test_a_held_out_set_in_words_has_the_published_returns() -> None:
    published = Score.load(Path(__file__).parents[2] / "leaderboard" / "LifeOps-v0" / "Careful.npz").returns["hard"][0]
    assert language_agent.main(["LifeOps-v0", "rule", "--set", "hard", "--first", "8"]) == pytest.approx(published[:8])


@pytest.mark.slow
def test_agents_without_a_model_are_in_order() -> None:
    """By what they know: nothing, a rule, a rule and the model of the world, everything."""
    means = [language_agent.main(["LifeOps-v0", name]).mean() for name in ("random", "rule", "planner")]
    assert means == sorted(means)
    assert means[-1] == pytest.approx(1.53, abs=0.01)


def test_a_rule_plays_the_first_of_several_agents() -> None:
    id = "TeamsClone-MultiAgent-v1"
    env = scenarios.TextEnv(id, 0)
    assert language_agent.Rule(id)(env.reset(), env) in env.legal_actions


def test_the_planner_is_for_one_agent(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        language_agent.main(["TeamsClone-MultiAgent-v1", "planner"])
    assert "TeamsClone-MultiAgent-v1 has several agents, and the planner is for one" in capsys.readouterr().err


def test_an_agent_that_never_answers_is_given_up() -> None:
    env, asked = scenarios.TextEnv("LifeOps-v0", "easy_1"), []

    def silent(text: str, env: scenarios.TextEnv) -> str:
        asked.append(text)
        return "I would rather not."

    assert language_agent.play(env, silent, env.reset()) == 0.0
    assert len(asked) == language_agent.TRIES
    assert np.isneginf(language_agent.BestOf(None, 1, silent)._value(env, "nothing"))
