"""Settings as plain JSON and back, and what differs between those of two runs."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from train.config import Config

MAY_CHANGE = ("total_steps", "run_dir", "validate_every", "checkpoint_every", "tensorboard")
"""What may be told anew when a run is resumed. None of it changes what has been learned so far; the schedules fall to
their ends over `total_steps`, so from there on a new one changes them."""

TASK = ("env_args", "params")
"""The groups that are filled in from the environment and its params, see `train.task.describe`."""


def to_json(config: Config) -> dict[str, Any]:
    """The settings as JSON holds them: groups as mappings, tuples as lists, a path as text."""
    return json.loads(json.dumps(dataclasses.asdict(config), default=str))


def from_json(settings: Mapping[str, Any]) -> Config:
    """The settings that `to_json` wrote, `run_dir` apart; what is not told there has its default.

    So a setting of the trainer that a later version adds is no difference to a run that began before: its default is to
    mean what was done until then.

    Raises:
        ValueError: for a setting that there is not.
    """
    told = {name: value for name, value in settings.items() if name != "run_dir"}
    return _changed(Config(env=""), told)


def option(name: str) -> str:
    """A setting as the command line calls it."""
    return f"--{name.replace('_', '-')}"


def fixed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that may not change, by the names that the command line has for them, without their groups.

    Those of the environment and its params keep the group, `env_args.num_agents`: their names are not ours to choose.
    """
    flat: dict[str, Any] = {}
    for group, value in settings.items():
        entries = value if isinstance(value, Mapping) else {group: value}
        flat |= {f"{group}.{name}": entry for name, entry in entries.items()} if group in TASK else entries
    return {name: value for name, value in flat.items() if name not in MAY_CHANGE}


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """(name, value there, value here) where two mappings differ; a value that is not there is `nothing`."""
    names = [*there, *(name for name in here if name not in there)]
    pairs = ((name, there.get(name, "nothing"), here.get(name, "nothing")) for name in names)
    return [(name, a, b) for name, a, b in pairs if a != b]


def in_words(other: list[tuple[str, Any, Any]]) -> str:
    """The first few differences: `seed is 1 there and 2 here`."""
    told = ", ".join(f"{name} is {there} there and {here} here" for name, there, here in other[:3])
    return told + (f", and {len(other) - 3} more" if len(other) > 3 else "")


def _changed(record: Any, settings: Mapping[str, Any]) -> Any:
    """A frozen record with some entries changed, those of its groups too."""
    entries = {}
    for name, value in settings.items():
        if not hasattr(record, name):
            raise ValueError(f"{type(record).__name__} has no setting {name!r}")
        group = getattr(record, name)
        if dataclasses.is_dataclass(group):
            value = _changed(group, value)
        entries[name] = tuple(value) if isinstance(value, list) else value
    return dataclasses.replace(record, **entries)
