"""`train` and `scenarios` are found beside jaxenv, whatever else has their names, and say what they need."""

import subprocess
import sys
from pathlib import Path

import pytest

import jaxenv
import scenarios
import train
from jaxenv.host.companions import command

ROOT = Path(jaxenv.__file__).parents[1]


def run(code, folder):
    """What a program prints that is started in a folder, where modules of its own are found first."""
    prefix = f"import sys; sys.path[1:1] = [{str(ROOT)!r}]; "
    return subprocess.run([sys.executable, "-c", prefix + code], cwd=folder, capture_output=True, text=True)


def test_they_are_attributes_of_jaxenv():
    assert jaxenv.train is train
    assert jaxenv.scenarios is scenarios
    assert {"baselines", "rendering", "scenarios", "testing", "train"} <= set(dir(jaxenv))
    assert jaxenv.testing.check_environment
    with pytest.raises(AttributeError, match=r"no attribute 'tran'\. Did you mean 'train'"):
        _ = jaxenv.tran


@pytest.mark.slow
def test_files_of_the_same_name_hide_nothing(tmp_path):
    (tmp_path / "train.py").write_text("")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "__init__.py").write_text("")
    done = run("from jaxenv.__main__ import main; main(['ppo', '--env', 'LifeOp-v0'])", tmp_path)
    assert "no environment 'LifeOp-v0'. Did you mean 'LifeOps-v0'?" in done.stderr
    done = run("import train, jaxenv; jaxenv.train", tmp_path)
    assert f"jaxenv.train is hidden by {tmp_path / 'train.py'}: give that another name" in done.stderr


def test_what_is_not_installed_is_named(tmp_path):
    done = run("sys.modules['tyro'] = None; from jaxenv.__main__ import main; sys.exit(main(['--help']))", tmp_path)
    expected = "jaxenv: jaxenv.train needs tyro: in a checkout of jaxenv, pip install '.[train]'\n"
    assert (done.returncode, done.stderr) == (2, expected)


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        ("/usr/bin/jaxenv", "jaxenv scenarios"),
        ("/here/scenarios/__main__.py", "python -m scenarios"),
        ("/here/train/__main__.py", "jaxenv scenarios"),
    ],
)
def test_a_command_is_called_as_it_was(monkeypatch, called, expected):
    monkeypatch.setattr(sys, "argv", [called])
    assert command("scenarios") == expected
