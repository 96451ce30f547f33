"""Options of a training command that are read before the others: they decide what the others are, or their defaults."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scenarios.text import source
from scenarios.text.input_budget import plain
from train.cli.numbers import whole_number
from train.processes import join, wait_for_all
from train.save.folder import RunFolder
from train.settings.bounds import MAX_BATCH, local
from train.settings.serialize import grouped, option

JOIN_TIMEOUT = 60  # seconds
SHARED = ("num_envs", "run_dir", "join_timeout")  # options that the reader of the others checks


def read(argv: Sequence[str], program: str, *, joins: bool = False) -> tuple[argparse.Namespace, list[str]]:
    """The options that name an environment, settings or a run, and the rest of a command line.

    Options may have `-` or `_` between their words. With `--distributed` it joins the other processes, if it `joins`
    any. With `--or-resume` the run to resume is the one in `--run-dir`, if it holds one.
    """
    argv = [re.sub("^--[^=]+", lambda name: name[0].replace("_", "-"), word) for word in argv]
    parser = argparse.ArgumentParser(prog=program, add_help=False, allow_abbrev=False)
    for name in ("env", "preset", "config", "resume", "network", *SHARED):
        parser.add_argument(option(name))
    parser.add_argument("--env-args", nargs="*", action="extend")
    for flag in ("--distributed", "--or-resume"):
        parser.add_argument(flag, action="store_true")
    named, rest = parser.parse_known_args(argv)
    given = [(name, value) for name in SHARED if (value := getattr(named, name)) is not None]
    if joins and named.distributed:
        join(whole_number(named.join_timeout or str(JOIN_TIMEOUT)))
    if named.or_resume and named.resume is None:
        named.resume = _run_to_resume(named.run_dir)
    return named, [*rest, *(f"{option(name)}={value}" for name, value in given)]


def settings_in(path: str) -> dict[str, Any]:
    """The settings in a file of YAML or JSON, by name; a ValueError if it holds anything else."""
    found = [plain(document.value) for document in source.read(path)]
    if len(found) != 1 or not isinstance(found[0], dict) or not isinstance(found[0].get("env", ""), str):
        raise ValueError(f"--config {path}: expected settings by name, such as the config.json of a run")
    return found[0]


def num_envs(text: str | None, given: Mapping[str, Any]) -> int | None:
    """The number of environments of `--num-envs` or in a file; None if none is named, or an impossible one."""
    try:
        number = whole_number(text or str(grouped(given).get("rollout", {}).get("num_envs")))
    except ValueError:
        return None  # who reads the settings reports the mistake
    return number if 1 <= number <= MAX_BATCH else None


def _run_to_resume(run_dir: str | None) -> str | None:
    """The folder, if it holds a run; all of several processes look before one makes it."""
    if run_dir is None:
        raise ValueError("--or-resume needs --run-dir PATH, the folder of the run")
    exists = RunFolder(local(run_dir)).config.exists()
    wait_for_all("a run was looked for")
    return run_dir if exists else None
