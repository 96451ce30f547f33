"""The options of `python -m train ppo`: a preset and what changes it, or a run and how it goes on."""

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import tyro

import jaxenv
from train import presets
from train.config import Config
from train.run_folder import RunFolder
from train.settings import MAY_CHANGE, differences, fixed, option, to_json

CHANGEABLE = ", ".join(option(name) for name in MAY_CHANGE if name != "run_dir")
DESCRIPTION = (
    "Train PPO. What is not given comes from the preset of the environment, or from --preset NAME: "
    f"{', '.join(presets.PRESETS)}. --resume RUN_DIR goes on with a run that was killed or stopped and takes its "
    f"settings from there; of them {CHANGEABLE} may be given anew."
)


@dataclasses.dataclass(frozen=True)
class Options:
    """What was asked for."""

    config: Config
    resumed: RunFolder | None  # the run to go on with, or None for a new one


def parse(argv: Sequence[str]) -> Options:
    """The settings, whole and checked.

    Raises:
        ValueError: for an unknown environment or preset, a folder that is no run, or a setting that a resumed run
            cannot change.
    """
    first = argparse.ArgumentParser(prog="python -m train ppo", add_help=False, allow_abbrev=False)
    for name in ("--env", "--preset", "--resume"):
        first.add_argument(name)
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
    return Options(_changed(default, rest), None)


def _resumed(folder: RunFolder, named: argparse.Namespace, rest: Sequence[str]) -> Config:
    """The settings of a run, but for those that may change; a ValueError tells what was given besides."""
    path, begun = folder.path, folder.read_config()
    if named.preset is not None:
        raise ValueError(
            f"--preset {named.preset} begins a run; one that is resumed has its settings in {folder.config}"
        )
    config = _changed(dataclasses.replace(begun, env=named.env or begun.env), rest)
    other = differences(fixed(to_json(begun)), fixed(to_json(config)))
    if other:
        told = ", ".join(f"{option(name)} {_plain(here)} (it has {_plain(there)})" for name, there, here in other)
        raise ValueError(f"{path} cannot go on with {told}; what may change is {CHANGEABLE}")
    if config.run_dir != path:
        raise ValueError(f"--run-dir {config.run_dir} is not --resume {path}: a run goes on in its own folder")
    return config


def _changed(default: Config, argv: Sequence[str]) -> Config:
    settings = tyro.conf.configure(tyro.conf.OmitArgPrefixes)(Config)
    return tyro.cli(settings, args=argv, default=default, prog="python -m train ppo", description=DESCRIPTION)


def _plain(value: object) -> str:
    """A value as the command line takes it."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
