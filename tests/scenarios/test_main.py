"""The command line: what it prints, what it returns, and never a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

import scenarios
from scenarios.__main__ import main

GOOD = """\
persona: busy_parent
tasks: [{task_id: t1, remaining_minutes: 30, title: Laundry}]
travel_times: {Home: {Office: 20}}
"""


def test_check_counts(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "day.yaml").write_text(GOOD)
    assert main(["check", str(tmp_path), "lifeops"]) == 0
    assert capsys.readouterr() == ("13 scenarios, 0 warnings\n", "")


def test_check_warns(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (file := tmp_path / "day.yaml").write_text(GOOD.replace("Office", "Moon"))
    assert main(["check", str(file)]) == 0
    warning, last = capsys.readouterr().out.splitlines()
    assert warning.startswith(f"warning: {file}:1: persona: 'Office' stands nowhere")
    assert last == "1 scenario, 1 warning"


def test_check_tells_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (one := tmp_path / "one.yaml").write_text(GOOD.replace("30", "-30"))
    (two := tmp_path / "two.yaml").write_text("a:\n\t- b")
    missing = tmp_path / "three.yaml"
    assert main(["check", str(one), str(two), str(missing)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    first, second, third = err.splitlines()
    assert first.startswith(f"error: {one}:2: tasks item 1 ('t1'): remaining_minutes is -30")
    assert second.startswith(f"error: {two}:2: ")
    assert third.startswith(f"error: {missing}: there is no such file")


def test_show_prints_a_day(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops/s1_basic_conflict"]) == 0
    page = capsys.readouterr().out
    for words in (
        "s1_basic_conflict · Wednesday · hard · at most 6 steps",
        "Early-bird Engineer: lives at Home, works at Office",
        " 9:30–10:00  e1  Office  meeting  importance 2  Team stand-up",
        "r1  Office  meeting  importance 3  inflexible  Escalation with the customer from Nadia",
        "t1  90 min  priority 3  Fix the release",
        "  Home      0     25      35        20   12",
    ):
        assert words in page
    (file := tmp_path / "day.yaml").write_text(GOOD)
    assert main(["show", str(file)]) == 0
    assert "Requests, first come\n  none" in capsys.readouterr().out


def test_show_of_all_days(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops"]) == 0
    page = capsys.readouterr().out
    assert all(id in page for id in scenarios.load("lifeops").ids)


def test_show_of_an_unknown_day(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops/easy_3"]) == 1
    assert "Did you mean" in capsys.readouterr().err


def test_compile_writes_the_shipped_bank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    shipped = scenarios.lifeops.ARRAYS.read_bytes()
    monkeypatch.setattr(scenarios.lifeops, "ARRAYS", tmp_path / "library.npz")
    assert main(["compile"]) == 0
    assert "12 scenarios" in capsys.readouterr().out
    assert (tmp_path / "library.npz").stat().st_size == len(shipped)


def test_commands_are_asked_for(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "check" in capsys.readouterr().err


def test_as_a_program(tmp_path: Path) -> None:
    (file := tmp_path / "day.yaml").write_text("")
    command = [sys.executable, "-m", "scenarios", "check", str(file)]
    root = Path(scenarios.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"error: {file}: the file is empty, expected a scenario (a mapping).\n"
