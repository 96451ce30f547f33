"""Options of a training command that are read before the others: they decide what the others are, or their defaults."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.text import source
from scenarios.text.input_budget import plain
from train.cli.numbers import whole_number
from train.processes import wait_for_all
from train.save.folder import RunFolder
from train.settings.bounds import MAX_BATCH, local
from train.settings.serialize import grouped

DISTRIBUTED, OR_RESUME = "--distributed", "--or-resume"
JOIN_TIMEOUT = 60  # seconds


def read(argv: Sequence[str], program: str) -> tuple[argparse.Namespace, list[str]]:
    """The options that name an environment, settings or a run, and the rest of a command line.

    With `--or-resume` the run to resume is the one in `--run-dir`, if it holds one.
    """
    parser = argparse.ArgumentParser(prog=program, add_help=False, allow_abbrev=False)
    for name in ("--env", "--preset", "--config", "--resume", "--network"):
        parser.add_argument(name)
    parser.add_argument("--env-args", nargs="*")
    for flag in (DISTRIBUTED, OR_RESUME):
        parser.add_argument(flag, action="store_true")
    named, rest = parser.parse_known_args(list(argv))
    if named.or_resume and named.resume is None:
        named.resume = _run_to_resume(rest)
    return named, rest


def settings_in(path: str) -> dict[str, Any]:
    """The settings in a file of YAML or JSON, by name; a ValueError if it holds anything else."""
    found = [plain(document.value) for document in source.read(path)]
    if len(found) != 1 or not isinstance(found[0], dict) or not isinstance(found[0].get("env", ""), str):
        raise ValueError(f"--config {path}: expected settings by name, such as the config.json of a run")
    return found[0]


def join_timeout(argv: Sequence[str]) -> int:
    """The seconds that `--join-timeout` names, which are needed ahead of the other options; its default without it."""
    return whole_number(_value_of("join-timeout", argv) or str(JOIN_TIMEOUT))


def num_envs(argv: Sequence[str], given: Mapping[str, Any]) -> int | None:
    """The number of environments on a command line or in a file; None if none is named, or an impossible one."""
    try:
        number = whole_number(_value_of("num-envs", argv) or str(grouped(given).get("rollout", {}).get("num_envs")))
    except ValueError:
        return None  # who reads the settings reports the mistake
    return number if 1 <= number <= MAX_BATCH else None


def _run_to_resume(argv: Sequence[str]) -> str | None:
    """The folder that `--run-dir` names, if it holds a run; all of several processes look before one makes it."""
    run_dir = _value_of("run-dir", argv)
    if run_dir is None:
        raise ValueError(f"{OR_RESUME} needs --run-dir PATH, the folder of the run")
    exists = RunFolder(local(run_dir)).config.exists()
    wait_for_all("a run was looked for")
    return run_dir if exists else None


def _value_of(name: str, argv: Sequence[str]) -> str | None:
    """The value of an option that is read before the others; None if it is missing, which tyro reports."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", dest="value")
    try:
        return parser.parse_known_args(list(argv))[0].value
    except (argparse.ArgumentError, SystemExit):
        return None
