"""Settings as JSON and back, and the differences between those of two runs."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from jaxenv.host.names import short
from train.settings.config import Config

MUTABLE = ("total_steps", "run_dir", "devices", "validate_every", "checkpoint_every", "tensorboard", "wandb")
"""Settings that may change when a run is resumed. None of them alters the weights so far; the schedules decay over
`total_steps`, so a new value changes them from there on."""

TASK = ("env_args", "params")
"""The groups that are filled in from the environment and its params, see `train.settings.task.describe`."""

REMOVED = ("csv", "edit_share", "num_edits")
"""Settings of removed code that files still name; they are ignored."""

MAX_DEPTH = 20  # levels of nesting in settings, which have four; deeper nesting would be endless to walk through


def to_json(config: Config) -> dict[str, Any]:
    """The settings as JSON holds them: groups as mappings, tuples as lists, a path as text."""
    return json.loads(json.dumps(dataclasses.asdict(config), default=str))


def from_json(settings: Mapping[str, Any]) -> Config:
    """The settings that `to_json` wrote, without `run_dir`; missing ones get their defaults.

    A setting that a later version adds is therefore no difference to an older run: its default must match the
    earlier behaviour of the trainer.

    Raises:
        ValueError: for an unknown setting, a value that is not of its type or out of its bounds, or endless nesting.
    """
    if _is_too_deep(settings):
        raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
    if not isinstance(settings, Mapping):
        raise ValueError(f"expected settings by name, got {short(repr(settings))}")
    return _replace(Config(env=""), {name: value for name, value in settings.items() if name != "run_dir"})


def option(name: str) -> str:
    """The command-line option of a setting."""
    return f"--{name.replace('_', '-')}"


def immutable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that must not change on resume, by their command-line names, without their groups.

    Those of the environment and its params keep the group, as in `env_args.num_agents`: an environment may name them
    as it likes.
    """
    flat: dict[str, Any] = {}
    for group, value in settings.items():
        entries = value if isinstance(value, Mapping) else {group: value}
        flat |= {f"{group}.{name}": entry for name, entry in entries.items()} if group in TASK else entries
    return {name: value for name, value in flat.items() if name not in MUTABLE}


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """(name, value there, value here) wherever two mappings differ; a missing value is `nothing`."""
    names = [*there, *(name for name in here if name not in there)]
    pairs = ((name, there.get(name, "nothing"), here.get(name, "nothing")) for name in names)
    return [(name, a, b) for name, a, b in pairs if a != b]


def in_words(differing: list[tuple[str, Any, Any]]) -> str:
    """The first few differences: `seed is 1 there and 2 here`."""
    shown = [[short(str(part)) for part in parts] for parts in differing[:3]]
    text = ", ".join(f"{name} is {there} there and {here} here" for name, there, here in shown)
    return text + (f", and {len(differing) - 3} more" if len(differing) > 3 else "")


def _is_too_deep(settings: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether mappings and lists hold each other in more levels."""
    parts = settings.values() if isinstance(settings, Mapping) else settings
    is_nested = isinstance(settings, Mapping | list | tuple)
    return is_nested and (levels == 0 or any(_is_too_deep(part, levels - 1) for part in parts))


def _replace(record: Any, settings: Mapping[str, Any]) -> Any:
    """A frozen record with some entries replaced, nested groups included."""
    entries = {}
    for name, value in settings.items():
        if name in REMOVED:
            continue
        if name not in record.__dataclass_fields__:
            raise ValueError(f"{type(record).__name__} has no setting {short(repr(name))}")
        group = getattr(record, name)
        if dataclasses.is_dataclass(group):
            if not isinstance(value, Mapping):
                raise ValueError(f"{name} is {short(repr(value))}: expected a group of settings")
            entries[name] = _replace(group, value)
            continue
        entries[name] = value
    return dataclasses.replace(record, **entries)
