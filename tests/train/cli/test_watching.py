"""`watch`: what a terminal shows of a policy, and what a file gets."""

import functools
import importlib
import io
import json
import os
import re
import sys
import termios
from pathlib import Path

import jax.numpy as jnp
import pytest
from flax import struct
from rich.console import Console

import jaxenv
import scenarios
from jaxenv import rendering
from train.cli import policies, watching
from train.cli.main import main

ENV, PARAMS = jaxenv.make("LifeOps-Shaped-v0")
ID = "s1_basic_conflict"
EVIL = "\x1b[2J[bold red]a review"


class First(struct.PyTreeNode):
    """The first legal action."""

    def __call__(self, key, observation, params):
        return jnp.argmax(observation.action_mask)


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """The command on a day whose first event has a name that would do harm."""
    (document,) = scenarios.load(f"lifeops/{ID}").documents
    plain = document.plain()
    plain["calendar"][0]["title"] = EVIL
    (tmp_path / "day.json").write_text(json.dumps(plain))
    wanted = []

    def read(which):
        wanted.append(which)
        return policies.Trained(First(), ENV, PARAMS, {})

    monkeypatch.setattr(policies, "read", read)

    def call(*options):
        status = main(["watch", "runs/1", "--scenarios", str(tmp_path / "day.json"), *options])
        assert wanted == [policies.Which(Path("runs/1"))]
        return status

    return call


def test_without_a_terminal_every_step_is_printed(watch, capsys):
    assert watch("--scenario", ID, "--episodes", "2") == 0
    out = capsys.readouterr().out
    assert out.startswith("compiling …\n")
    assert out.count("· step 0 of") == 2
    steps, total = out.count("\nreturn ") // 2, out.rpartition("\nreturn ")[2].partition(".  ")[0]
    assert out.count(f"\n{ID}: {steps} steps, return {total}\n") == 2


def test_a_terminal_shows_one_step_in_the_place_of_another(watch, monkeypatch):
    out, waited = io.StringIO(), []
    console = functools.partial(Console, file=out, force_terminal=True, width=100, height=50, color_system=None)
    monkeypatch.setattr(watching, "Console", console)
    monkeypatch.setattr(watching.time, "sleep", waited.append)
    assert watch("--fps", "4") == 0
    shown = out.getvalue()
    steps = len(waited) - 1
    assert waited == [0.25] * (steps + 1)
    assert shown.count(f"{ENV.name} · {ID}") == steps + 2  # the last one stays
    assert len(re.findall(r"─ reward [+−]?[\d.]+   return [+−]?[\d.]+ ─", shown)) == steps + 1
    assert shown.index("\x1b[?1049l") < shown.rindex("─ reward")  # where the screen of its own is left
    assert r"\x1b[2J[bold red]a review" in shown  # as text


def test_keys_pause_step_and_end(monkeypatch):
    """In a terminal of its own, whose keys are those of a user."""
    import pty

    ours, theirs = pty.openpty()
    stdin = os.dup(0)
    try:
        os.dup2(theirs, 0)
        monkeypatch.setattr(sys, "stdin", os.fdopen(os.dup(theirs)))
        before = termios.tcgetattr(0)
        with watching._keys() as pressed:
            clock = watching.Clock(pressed, 0.01)
            assert clock.wait()  # it is time
            os.write(ours, b"xn")
            assert clock.wait()  # the next one, then it is paused
            os.write(ours, b"n")
            assert clock.wait()
            os.write(ours, b" ")
            assert clock.wait()  # it is time again
            os.write(ours, b"q")
            assert not clock.wait()
        assert termios.tcgetattr(0) == before
    finally:
        os.dup2(stdin, 0)
        for each in (stdin, ours, theirs):
            os.close(each)


def test_an_environment_without_scenarios_is_shown_too(monkeypatch, capsys):
    def scenes(env, states, params, names):
        nothing = {"main": lambda canvas: None, "side": lambda canvas: None}
        return [rendering.Scene("a walk", f"at {state.position}", "text", **nothing) for state in states]

    monkeypatch.syspath_prepend(Path(__file__).parent)
    env = importlib.import_module("gridworld").Gridworld()
    monkeypatch.setitem(rendering.VIEWS, type(env), rendering.View(scenes, lambda *_: "walk"))
    monkeypatch.setattr(policies, "read", lambda which: policies.Trained(First(), env, env.default_params, {}))
    assert main(["watch", "runs/1", "--episodes", "2"]) == 0
    assert re.findall(r"\nepisode (\d): \d+ steps, return", capsys.readouterr().out) == ["0", "1"]


def test_a_scenario_that_is_not_there_is_one_line(watch, capsys):
    assert watch("--scenario", "s1_basic_conflct") == 2
    assert "no scenario 's1_basic_conflct' in the library. Did you mean 's1_basic_conflict'?" in capsys.readouterr().err
