"""The options of `python -m train ppo`: a preset and what changes it, or a run and how it goes on."""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

import jaxenv
from train import presets, task
from train.config import Config
from train.run_folder import RunFolder
from train.settings import MAY_CHANGE, differences, fixed, option, to_json

CHANGEABLE = ", ".join(option(name) for name in MAY_CHANGE if name != "run_dir")
DESCRIPTION = (
    "Train PPO. What is not given comes from the preset of the environment, or from --preset NAME: "
    f"{', '.join(presets.PRESETS)}. --env-args NAME=VALUE ... is what the environment's constructor takes, such as "
    "num_agents=2 or limits.channels=9; the numbers of its params, such as --weights.send, are the last options below. "
    "--resume RUN_DIR goes on with a run that was killed or stopped and takes its settings from there; of them "
    f"{CHANGEABLE} may be given anew."
)


@dataclasses.dataclass(frozen=True)
class Options:
    """What was asked for."""

    config: Config
    resumed: RunFolder | None  # the run to go on with, or None for a new one


def parse(argv: Sequence[str]) -> Options:
    """The settings, whole and checked.

    Raises:
        ValueError: for an unknown environment, argument, or preset, a folder that is no run, or a setting that a
            resumed run cannot change.
    """
    first = argparse.ArgumentParser(prog="python -m train ppo", add_help=False, allow_abbrev=False)
    for name in ("--env", "--preset", "--resume"):
        first.add_argument(name)
    first.add_argument("--env-args", nargs="*")
    named, rest = first.parse_known_args(list(argv))
    is_help = bool({"-h", "--help"} & set(rest))
    if named.resume is not None and not is_help:
        folder = RunFolder(Path(named.resume))
        return Options(_resumed(folder, named, rest), folder)
    default = presets.preset(named.preset) if named.preset else presets.for_environment(named.env or "ID")
    default = dataclasses.replace(default, env=named.env or default.env)
    if default.env not in jaxenv.registered() and not is_help:
        wanted = f"no environment {named.env!r}." if named.env else "which environment? Name it by --env ID."
        raise ValueError(wanted + presets.nearest(default.env, jaxenv.registered()))
    return Options(_changed(_with_arguments(default, named), rest), None)


def _resumed(folder: RunFolder, named: argparse.Namespace, rest: Sequence[str]) -> Config:
    """The settings of a run, but for those that may change; a ValueError tells what was given besides."""
    path, begun = folder.path, folder.read_config()
    if named.preset is not None:
        raise ValueError(
            f"--preset {named.preset} begins a run; one that is resumed has its settings in {folder.config}"
        )
    default = dataclasses.replace(begun, env=named.env or begun.env)
    other = differences(fixed({"env": begun.env}), fixed({"env": default.env}))
    config = default if other else _changed(_with_arguments(default, named), rest)
    other = other or differences(fixed(to_json(begun)), fixed(to_json(config)))
    if other:
        told = ", ".join(f"{_asked(name, here)} (it has {_plain(there)})" for name, there, here in other)
        raise ValueError(f"{path} cannot go on with {told}; what may change is {CHANGEABLE}")
    if config.run_dir != path:
        raise ValueError(f"--run-dir {config.run_dir} is not --resume {path}: a run goes on in its own folder")
    return config


def _with_arguments(default: Config, named: argparse.Namespace) -> Config:
    """The settings with the arguments of the environment that were given."""
    given = task.parse_arguments(named.env_args or ())
    return dataclasses.replace(default, env_args={**default.env_args, **given})


def _changed(default: Config, argv: Sequence[str]) -> Config:
    """The settings with the options of a command line, those for the numbers of the environment's params too."""
    known = task.numbers(task.make(default)[1]) if default.env in jaxenv.registered() else {}
    fields = [
        (name.replace(".", "__"), Annotated[type(value), tyro.conf.arg(name=name, help="")], value)
        for name, value in known.items()
    ]
    numbers: Any = dataclasses.make_dataclass("Params", fields, frozen=True)
    numbers.__doc__ = f"The numbers of {default.env}: weights of the reward and what else its rules have."
    asked: Any = dataclasses.make_dataclass("Asked", [("settings", Config), ("params", numbers)], frozen=True)
    found = tyro.cli(
        tyro.conf.configure(tyro.conf.OmitArgPrefixes)(asked),
        args=argv,
        default=asked(default, numbers()),
        prog="python -m train ppo",
        description=DESCRIPTION,
    )
    given = zip(known, dataclasses.astuple(found.params), strict=True)
    changed = {name: value for name, value in given if value != known[name]}
    return dataclasses.replace(found.settings, params={**default.params, **changed})


def _asked(name: str, value: object) -> str:
    """A setting and its value as the command line takes them."""
    group, _, entry = name.partition(".")
    if group == "env_args":
        return f"--env-args {entry}={_plain(value)}"
    return f"{option(entry if group == 'params' else name)} {_plain(value)}"


def _plain(value: object) -> str:
    """A value as the command line takes it."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
