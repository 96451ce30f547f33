"""The commands of `python -m lab`: each has a module that runs it, and a line of help."""

import importlib

import pytest

from lab import mutation
from lab.__main__ import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_module_that_runs_it(name, capsys):
    if name == "notebooks":
        pytest.importorskip("nbformat")
    assert callable(importlib.import_module(COMMANDS[name][0]).main)
    assert main(["--help"]) == 0
    assert f"  {name:<13}{COMMANDS[name][1]}\n" in capsys.readouterr().out


def test_arguments_that_a_command_does_not_take_are_refused(capsys):
    assert main(["tables", "docs"]) == 2
    assert capsys.readouterr().err == "python -m lab: tables takes no arguments, got docs\n"
    assert main(["results", "--seed", "3"]) == 2


def test_a_page_that_no_command_makes_is_refused(capsys):
    assert main(["gallery", "week_exam.gif"]) == 2
    assert (
        "no file 'week_exam.gif' in the gallery. Did you mean 'week_exam.png'? Available: " in capsys.readouterr().err
    )
    pytest.importorskip("nbformat")
    assert main(["notebooks", "01_tuor"]) == 2
    assert "no notebook '01_tuor'. Did you mean '01_tour'? Available: 01_tour, " in capsys.readouterr().err


def test_mutation_changes_modules_that_exist():
    for engine, modules in mutation.FILES.items():
        missing = [name for name in modules if not (mutation.ROOT / "jaxenv/envs" / engine / f"{name}.py").is_file()]
        assert not missing, f"{engine} has no {missing}"
