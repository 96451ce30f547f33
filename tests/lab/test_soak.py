"""A short soak of one environment, a longer one of all, and laws that are broken on purpose."""

import functools
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxenv
from lab import soak
from lab.soak import main

ID = "LifeOps-v0"
ARGUMENTS = ["--env", ID, "--num-envs", "8", "--num-steps", "40", "--scenarios", "0", "--seed", "3"]


@pytest.mark.slow
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


def test_what_breaks_a_law_is_found() -> None:
    env, params = jaxenv.make(ID)
    before = env.reset(jax.random.key(0), params, 0)
    outcome = env.step(jax.random.key(1), before[1], 1, params)
    laws = jax.jit(functools.partial(soak.broken_laws, env))

    def broken(before: Any = before, outcome: Any = outcome) -> set[str]:
        return {law for law, is_broken in zip(soak.LAWS, laws(params, before, outcome), strict=True) if is_broken}

    assert broken() == set()
    observation, state = before
    after, following, reward, _, _, info = outcome
    mask = observation.replace(action_mask=jnp.zeros_like(observation.action_mask))
    assert broken((mask, state)) == {"a legal action"}
    assert "state in its space" in broken((observation, state.replace(clock=jnp.int16(-1))))
    goes_on = jnp.bool_(False)
    back = following.replace(clock=jnp.int16(0), handled=jnp.int8(-1))
    assert {"counters never go back", "the clock counts steps"} <= broken(
        outcome=(after, back, reward, goes_on, goes_on, info)
    )
    lost = (after, following, jnp.float32(jnp.nan), goes_on, goes_on, {**info, "invalid_action": jnp.bool_(True)})
    assert {"a finite reward", "a legal action is taken"} <= broken(outcome=lost)
    assert "one end" in broken(outcome=(after, following, reward, jnp.bool_(True), jnp.bool_(True), info))


@pytest.mark.slow
def test_ten_million_steps_of_every_environment(tmp_path: Path) -> None:
    assert main(["--steps", "1e7", "--out", str(tmp_path / "soak.jsonl")]) == 0
