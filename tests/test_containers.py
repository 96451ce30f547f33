"""Dockerfile and openenv.yaml name files, extras, commands and an application that exist. No engine is needed."""

import json
import re
import tomllib
from pathlib import Path

import yaml

from scenarios import __main__ as commands

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


def test_the_commands_are_those_of_the_package():
    program, module, *arguments = json.loads(re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])
    assert (program, module) == ("jaxenv", "scenarios")
    given = commands._parser().parse_args(arguments)
    assert (given.run, given.host, given.port) == (commands.serve, "0.0.0.0", MANIFEST["port"])
    assert f"EXPOSE {MANIFEST['port']}" in DOCKERFILE


def test_the_application_of_the_manifest_exists():
    module, _, factory = MANIFEST["app"].partition(":")
    assert f"\ndef {factory}(" in (ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8")
