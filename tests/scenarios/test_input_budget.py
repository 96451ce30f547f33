"""What is read at all: regular files of a bounded size, and in folders what can be read; a sentence for the rest."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios import ScenarioError
from scenarios.text import source
from scenarios.text.input_budget import MAX_BYTES

DAY = "persona: busy_parent\ntasks: [{task_id: t1, remaining_minutes: 30}]\n"


def refused(path: Path | str) -> str:
    with pytest.raises(ScenarioError) as error:
        scenarios.load(path)
    (problem,) = error.value.problems
    return problem


def test_only_regular_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "a_pipe.yaml")
    (tmp_path / "b_device.yaml").symlink_to("/dev/zero")
    (tmp_path / "c_nowhere.yaml").symlink_to(tmp_path / "missing")
    (tmp_path / "d.yaml").write_text(DAY)
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("e_socket.yaml")
        with pytest.raises(ScenarioError) as error:
            scenarios.load(tmp_path)
    pipe, device, nowhere, served = error.value.problems
    for name, problem in (("a_pipe", pipe), ("b_device", device), ("e_socket", served)):
        assert problem == f"{tmp_path / name}.yaml: not a regular file, expected one."
    assert nowhere == f"{tmp_path / 'c_nowhere'}.yaml: No such file or directory."
    assert "not a regular file" in refused(tmp_path / "a_pipe.yaml")


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "day.txt").write_text(DAY)
    (tmp_path / "day.yaml").symlink_to(tmp_path / "day.txt")
    assert scenarios.load(tmp_path).ids == ("day",)


def test_large_files_are_not_read_to_their_end(tmp_path: Path) -> None:
    with (path := tmp_path / "a.yaml").open("wb") as file:
        file.truncate(3 * 10**9)
    assert refused(path) == f"{path}: more than {MAX_BYTES} bytes: split it into several files."
    path.write_text(DAY + "#" * (MAX_BYTES - len(DAY)))
    assert scenarios.load(path).ids == ("a",)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 300, "File name too long"),
        ("lifeops/" + "x" * 300, "no scenario 'xxx"),
        ("a\0b", "embedded null"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_names_that_no_file_has(name: str, words: str) -> None:
    problem = refused(name)
    assert words in problem
    assert len(problem) < 400


@pytest.mark.parametrize("what", [None, 3, b"lifeops", ["lifeops"]])
def test_what_is_no_name(what: Any) -> None:
    with pytest.raises(ScenarioError, match="load takes a name or a path, found"):
        scenarios.load(what)


def test_folders_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open/day.yaml").write_text(DAY)
    (tmp_path / "shut").mkdir()
    scan = os.scandir

    def forbidden(path: str) -> object:
        if "shut" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    assert refused(tmp_path) == refused(tmp_path / "shut") == f"{tmp_path / 'shut'}: Permission denied."


def test_whatever_a_parser_raises_has_its_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(text: str, budget: source.Budget) -> list:
        budget.line = 3
        raise RecursionError("too deep")

    monkeypatch.setattr(source, "yaml_nodes", parse)
    (path := tmp_path / "a.yaml").write_text(DAY)
    assert refused(path) == f"{path}:3: cannot be read: RecursionError: too deep."


def test_names_of_files_can_be_printed(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\n.yaml"
    with open(name, "w") as file:
        file.write(DAY.replace("busy_parent", "nobody"))
    refused(tmp_path).encode()
    with open(name, "w") as file:
        file.write(f"{DAY}travel_times: {{Home: {{Moon: 20}}}}\n")
    library = scenarios.load(tmp_path)
    assert library.warnings
    for text in (*library.ids, *library.warnings):
        assert text.isprintable()


def test_the_line_of_a_wrong_number_in_a_list(tmp_path: Path) -> None:
    for name, text in (("a.yaml", "a:\n- 1\n- 1e999\n- 2\n"), ("a.json", '{"a": [\n1,\n1e999\n, 2]}')):
        (path := tmp_path / name).write_text(text)
        assert refused(path).startswith(f"{path}:3: found 1e999, expected a finite number")


def test_problems_of_many_files_are_bounded(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.yaml").write_text("a: [")
    with pytest.raises(ScenarioError) as error:
        scenarios.load(tmp_path)
    assert len(error.value.problems) == 201
    assert error.value.problems[-1] == "and 100 more."
