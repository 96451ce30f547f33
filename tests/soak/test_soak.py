"""A short soak of one environment, a longer one of all, and laws that are broken on purpose."""

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from soak import pieces
from soak.__main__ import main

import jaxenv
from jaxenv import registry, wrappers

ID = "LifeOps-v0"
SMALL = pieces.Sizes(num_envs=8, num_steps=40, num_scenarios=0)
ARGUMENTS = ["--env", ID, "--num-envs", "8", "--num-steps", "40", "--scenarios", "0", "--seed", "3"]


def test_a_soak_goes_on_from_its_last_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert main([*ARGUMENTS, "--steps", "960", "--out", str(whole)]) == 0
    lines = whole.read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    assert [record["piece"] for record in records] == [0, 1, 2]
    assert all(record["episodes"] > 8 and record["broken"] == {} for record in records)
    assert "960 steps" in capsys.readouterr().out
    cut.write_text(lines[0] + lines[1][:30])  # as a kill may leave it
    assert main([*ARGUMENTS, "--steps", "960", "--out", str(cut)]) == 0
    again = [json.loads(line) for line in cut.read_text().splitlines()]
    assert [_timeless(record) for record in again] == [_timeless(record) for record in records]


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "seconds"}


def test_another_soak_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "soak.jsonl"
    assert main([*ARGUMENTS, "--steps", "320", "--out", str(out)]) == 0
    assert main([*ARGUMENTS[:-1], "4", "--steps", "640", "--out", str(out)]) == 2
    assert "holds another soak in line 1" in capsys.readouterr().err
    assert main(["--env", "LifeOp-v0", "--out", str(out)]) == 2
    assert "Did you mean 'LifeOps-v0'?" in capsys.readouterr().err


class Broken(wrappers.Wrapper):
    """Pays what is not a number, and counts back."""

    def transition(self, key, state, action, params):  # pyright: ignore
        state, reward, terminated, info = self.env.transition(key, state, action, params)
        state = state.replace(handled=jnp.where(state.clock > 1, -1, state.handled).astype(state.handled.dtype))
        return state, reward + jnp.float32(jnp.nan), terminated, info


def test_what_breaks_a_law_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._FACTORIES, "LifeOps-Broken-v0", lambda: Broken(jaxenv.make(ID)[0]))
    broken = pieces.player("LifeOps-Broken-v0", SMALL)(0, 0)["broken"]
    assert broken["a finite reward"] == SMALL.steps
    assert {"state in its space", "counters never go back"} <= set(broken)


@pytest.mark.slow
def test_ten_million_steps_of_all_environments(tmp_path: Path) -> None:
    assert main(["--steps", "1e7", "--out", str(tmp_path / "soak.jsonl")]) == 0
