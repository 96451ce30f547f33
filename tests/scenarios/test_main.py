"""The command line: what it prints, what it returns, and never a traceback."""

import json
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
    assert warning.startswith(f"warning: {file}:1: persona: 'Office' is missing from travel_times")
    assert last == "1 scenario, 1 warning"


def test_check_reports_every_problem(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (one := tmp_path / "one.yaml").write_text(GOOD.replace("30", "-30"))
    (two := tmp_path / "two.yaml").write_text("a:\n\t- b")
    missing = tmp_path / "three.yaml"
    assert main(["check", str(one), str(two), str(missing)]) == 1
    out, err = capsys.readouterr()
    assert out == "There may be more once these mistakes are mended.\n"
    first, second, third = err.splitlines()
    assert first.startswith(f"error: {one}:2: tasks item 1 ('t1'): remaining_minutes is -30")
    assert second.startswith(f"error: {two}:2: ")
    assert third.startswith(f"error: {missing}: there is no such file")


def test_check_reads_the_files_beside_one_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (one := tmp_path / "one.yaml").write_text("a:\n\t- b")
    (two := tmp_path / "two.yaml").write_text(GOOD.replace("30", "-30"))
    assert main(["check", str(tmp_path)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: {one}:2: ")
    assert second.startswith(f"error: {two}:2: tasks item 1")


def test_check_warns_beside_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Of the document that has one, of another file, and beside a file that cannot be read."""
    repeated = GOOD.replace("tasks: [", "tasks: [{task_id: t1, remaining_minutes: 30}, ")
    (one := tmp_path / "one.yaml").write_text(repeated.replace("Office", "Moon"))
    (two := tmp_path / "two.yaml").write_text(GOOD.replace("Office", "Mars"))
    (three := tmp_path / "three.yaml").write_text("a:\n\t- b")
    for broken in ([one], [three], [one, three]):
        folder = tmp_path / "-".join(file.stem for file in broken)
        folder.mkdir()
        for file in (*broken, two):
            (folder / file.name).write_text(file.read_text())
        assert main(["check", str(folder)]) == 1
        out, err = capsys.readouterr()
        assert [line.partition(":")[0] for line in err.splitlines()] == ["error"] * len(broken)
        *warnings, last = out.splitlines()
        expected = [file.name for file in (*broken, two) if file != three]
        assert len(warnings) == len(expected)
        for warning, name in zip(warnings, expected, strict=True):
            assert warning.startswith(f"warning: {folder / name}:1: persona: 'Office' is missing from travel_times")
        assert last == "There may be more once these mistakes are mended."


def test_check_does_not_search_what_is_too_long(tmp_path: Path) -> None:
    many = ", ".join(f"{{task_id: t{n}, remaining_minutes: 30}}" for n in range(100))
    (file := tmp_path / "long.yaml").write_text(GOOD.replace("Office", "Moon").replace("tasks: [", f"tasks: [{many}, "))
    with pytest.raises(scenarios.ScenarioError, match="the capacity is") as found:
        scenarios.load(file)
    assert found.value.warnings == ()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("lifeops/s1_basic_conflict", "9:30–10:00  Team stand-up"),
        ("lifestack/flight_crisis_task_main", "Succeeds when all hold\n  ✗ flight_rebooked = true\n"),
        ("teamsclone/tea_shop", "at the start  Lotte  greeting  The kettle is on."),
    ],
)
def test_show_prints_the_first_state_and_the_document(what: str, words: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["show", what]) == 0
    library, page = scenarios.load(what), capsys.readouterr().out
    assert page.startswith(f"{library.ids[0]}\n=====")
    assert words in page
    assert page.endswith(scenarios.dump(library.documents))  # with all that is hidden from the agent


def test_show_calls_a_document_without_an_id_as_its_file(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (file := tmp_path / "day.yaml").write_text(GOOD)
    assert main(["show", str(file)]) == 0
    page = capsys.readouterr().out
    assert page.startswith("day\n===\nday · step 0 of 5\n")
    assert "Requests\n  none" in page


def test_show_of_all_days(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops"]) == 0
    page = capsys.readouterr().out
    assert all(id in page for id in scenarios.load("lifeops").ids)


def test_show_of_an_unknown_day(capsys: pytest.CaptureFixture) -> None:
    assert main(["show", "lifeops/easy_3"]) == 2
    assert "Did you mean" in capsys.readouterr().err


def test_new_prints_or_writes_an_example(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["new", "lifeops"]) == 0
    assert capsys.readouterr().out == scenarios.new("lifeops")
    file = tmp_path / "my days" / "monday.yaml"
    assert main(["new", "lifeops", str(file)]) == 0
    written, then = capsys.readouterr().out.splitlines()
    assert written.startswith(f"Wrote {file}, and lifeops.schema.json beside it")
    assert then.endswith(f"jaxenv scenarios check {file}")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 scenario, 0 warnings\n"
    assert main(["new", "lifeops", str(file)]) == 2
    assert capsys.readouterr() == (
        "",
        f"error: {file}: the file already exists and is left unchanged. Choose another name.\n",
    )


def test_schema_prints(capsys: pytest.CaptureFixture) -> None:
    assert main(["schema", "lifeops"]) == 0
    assert json.loads(capsys.readouterr().out) == scenarios.schema("lifeops")


@pytest.mark.parametrize("command", [["new", "lifeop"], ["schema", "lifeop"]])
def test_unknown_environments_teach(command: list[str], capsys: pytest.CaptureFixture) -> None:
    assert main(command) == 2
    assert "Did you mean 'lifeops'?" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_the_commands(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    assert main(arguments) == 0
    help = capsys.readouterr().out
    for words in ("new", "check", "show", "schema", "serve", "jaxenv ppo --env LifeOps-v0"):
        assert words in help


def test_serve_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "openenv", None)  # as if it were not installed
    for module in [name for name in sys.modules if name.startswith(("openenv.", "scenarios.serving"))]:
        monkeypatch.delitem(sys.modules, module)
    assert main(["serve"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "pip install '.[openenv]'" in err


@pytest.mark.parametrize("option", ["--port=0", "--port=65536", "--sessions=many", "--idle=-1"])
def test_serve_refuses_odd_numbers(option: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["serve", option]) == 2
    assert "expected a whole number from 1 to" in capsys.readouterr().err


def test_unknown_commands_are_refused(capsys: pytest.CaptureFixture) -> None:
    assert main(["chek"]) == 2
    assert "'check'" in capsys.readouterr().err


def test_as_a_program(tmp_path: Path) -> None:
    (file := tmp_path / "day.yaml").write_text("")
    command = [sys.executable, "-m", "scenarios", "check", str(file)]
    root = Path(scenarios.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 1
    assert done.stdout == "There may be more once these mistakes are mended.\n"
    assert done.stderr == f"error: {file}: the file is empty, expected a scenario (a mapping).\n"
