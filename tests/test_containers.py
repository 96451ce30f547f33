"""Dockerfile and openenv.yaml name files, extras, commands and an application that exist. No engine is needed."""

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from jaxenv import __main__ as cli

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
MANIFEST = yaml.safe_load((ROOT / "openenv.yaml").read_text("utf-8"))


def test_what_is_copied_and_installed_exists():
    copied = [name for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()]
    assert {"jaxenv", "scenarios", "train", "pyproject.toml", "README.md", "LICENSE"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    asked = [name for group in re.findall(r"'\.\[(.*?)\]'", DOCKERFILE) for name in group.split(",")]
    assert len(asked) > 3
    assert set(asked) <= set(extras)


def test_the_commands_are_those_of_the_package(monkeypatch, capsys):
    command = json.loads(re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])
    served = []
    app = pytest.importorskip("scenarios.serving.app", exc_type=ImportError)
    monkeypatch.setattr(app, "serve", lambda *given: served.append(given))
    assert command[0] == "jaxenv"
    monkeypatch.setattr("sys.argv", command)
    assert cli.main(command[1:]) == 0
    assert served[0][:2] == ("0.0.0.0", MANIFEST["port"])
    assert f"EXPOSE {MANIFEST['port']}" in DOCKERFILE


def test_the_application_of_the_manifest_exists():
    module, _, factory = MANIFEST["app"].partition(":")
    assert callable(getattr(pytest.importorskip(module, exc_type=ImportError), factory))
    assert importlib.import_module(MANIFEST["name"])
