"""The command line: what it prints, what it returns, and never a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import scenarios
from scenarios.__main__ import main
from scenarios.loading import SHIPPED

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
    page = capsys.readouterr().out
    assert page.startswith("day · at most 5 steps\n")  # called as its file
    assert "Requests, first come\n  none" in page


def test_show_of_all_days(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops"]) == 0
    page = capsys.readouterr().out
    assert all(id in page for id in scenarios.load("lifeops").ids)


def test_show_of_an_unknown_day(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops/easy_3"]) == 1
    assert "Did you mean" in capsys.readouterr().err


def test_new_prints_or_writes_an_example(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["new", "lifeops"]) == 0
    assert capsys.readouterr().out == scenarios.new("lifeops")
    file = tmp_path / "my days" / "monday.yaml"
    assert main(["new", "lifeops", str(file)]) == 0
    written, then = capsys.readouterr().out.splitlines()
    assert written.startswith(f"{file} is written, and lifeops.schema.json beside it")
    assert then.endswith(f"python -m scenarios check {file}")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 scenario, 0 warnings\n"
    assert main(["new", "lifeops", str(file)]) == 1
    assert capsys.readouterr() == ("", f"error: {file}: the file exists already and is left as it is. Name another.\n")


def test_schema_prints_or_writes(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["schema", "lifeops"]) == 0
    assert json.loads(printed := capsys.readouterr().out) == scenarios.schema("lifeops")
    (file := tmp_path / "day.schema.json").write_text("old")
    assert main(["schema", "lifeops", "--output", str(file)]) == 0
    assert file.read_text("utf-8") == printed
    assert main(["schema", "lifeops", "--output", str(tmp_path / "nowhere" / "x.json")]) == 1
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["new", "lifeop"], ["schema", "lifeop"]])
def test_unknown_environments_teach(command: list[str], capsys: pytest.CaptureFixture) -> None:
    assert main(command) == 1
    assert "Did you mean 'lifeops'?" in capsys.readouterr().err


def test_compile_writes_what_is_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    shipped, schema = scenarios.lifeops.ARRAYS.read_bytes(), (SHIPPED / "lifeops.schema.json").read_bytes()
    monkeypatch.setattr(scenarios.lifeops, "ARRAYS", tmp_path / "library.npz")
    monkeypatch.setattr("scenarios.__main__.SHIPPED", tmp_path)
    assert main(["compile"]) == 0
    assert "12 scenarios" in capsys.readouterr().out
    assert (tmp_path / "library.npz").stat().st_size == len(shipped)
    assert (tmp_path / "lifeops.schema.json").read_bytes() == schema


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_the_commands(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 0
    help = capsys.readouterr().out
    for words in ("new", "check", "show", "schema", "compile", "python -m train ppo --env LifeOps-v0"):
        assert words in help


def test_unknown_commands_are_refused(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as exit:
        main(["chek"])
    assert exit.value.code == 2
    assert "'check'" in capsys.readouterr().err


def test_as_a_program(tmp_path: Path) -> None:
    (file := tmp_path / "day.yaml").write_text("")
    command = [sys.executable, "-m", "scenarios", "check", str(file)]
    root = Path(scenarios.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"error: {file}: the file is empty, expected a scenario (a mapping).\n"
