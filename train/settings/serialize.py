"""Settings as JSON and back, and the differences between those of two runs."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from jaxenv.host.names import did_you_mean, short
from train.settings.config import Config

MUTABLE = ("total_steps", "run_dir", "devices", "validate_every", "checkpoint_every", "tensorboard", "wandb")
"""Settings that may change when a run is resumed. None of them alters the weights so far; the schedules decay over
`total_steps`, so a new value changes them from there on."""

TASK = ("env_args", "params")
"""The groups that are filled in from the environment and its params, see `train.settings.task.describe`."""

REMOVED = ("csv", "edit_share", "num_edits")
"""Settings of removed code that files still name; they are ignored."""

_NAMES = (
    ("env", "env_name env_id"),
    ("num_envs", "n_envs"),
    ("num_steps", "n_steps"),
    ("total_steps", "total_timesteps"),
    ("minibatch_size", "num_minibatches"),
    ("epochs", "update_epochs num_epochs n_epochs"),
    ("validate_every", "eval_freq"),
    ("learning_rate", "lr"),
    ("learning_rate_end", "anneal_lr"),
    ("clip", "clip_eps clip_coef clip_range"),
    ("entropy_coef", "ent_coef"),
    ("value_coef", "vf_coef"),
    ("hidden", "hidden_layer_sizes"),
)
ELSEWHERE = {there: here for here, names in _NAMES for there in names.split()}
"""Settings of other trainers (PureJaxRL, CleanRL, Stable-Baselines3, rejax) -> the setting that is nearest here."""

MAX_UNKNOWN = 12  # names that one error tells

MAX_DEPTH = 20  # levels of nesting in settings, which have four; deeper nesting would be endless to walk through

_DEFAULT = Config(env="")
_GROUPS = [name for name, value in vars(_DEFAULT).items() if dataclasses.is_dataclass(value)]
_GROUP_OF = {field.name: name for name in _GROUPS for field in dataclasses.fields(getattr(_DEFAULT, name))}


def to_json(config: Config) -> dict[str, Any]:
    """The settings as JSON holds them: groups as mappings, tuples as lists, a path as text.

    Raises:
        ValueError: for an argument of a network of the user's that JSON cannot hold, such as a function.
    """
    for name, value in config.network.arguments.items():
        if not _is_plain(value):
            raise ValueError(
                f"{config.network.module} has {name} {short(repr(value))}, which a run cannot save: expected a number, "
                "a text, a truth value, None, or a tuple of them; without a run folder it trains"
            )
    return json.loads(json.dumps(dataclasses.asdict(config), default=str))


def from_json(settings: Mapping[str, Any], base: Config | None = None) -> Config:
    """The settings that `to_json` wrote, without `run_dir`; missing ones are those of `base`, or the defaults.

    A setting that a later version adds is therefore no difference to an older run: its default must match the
    earlier behaviour of the trainer. An entry of a group may stand without it, as on the command line: `learning_rate`
    for `hyper.learning_rate`.

    Raises:
        ValueError: for an unknown setting, a value that is not of its type or out of its bounds, or endless nesting.
    """
    if _is_too_deep(settings):
        raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
    if not isinstance(settings, Mapping):
        raise ValueError(f"expected settings by name, got {short(repr(settings))}")
    given = {name: value for name, value in grouped(settings).items() if name != "run_dir"}
    return _replace(Config(env="") if base is None else base, given)


def grouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with each entry in its group."""
    grouped: dict[str, Any] = {}
    for name, value in settings.items():
        is_group = name in _GROUPS and isinstance(value, Mapping)
        group = name if is_group else _GROUP_OF.get(name)
        if group is not None:
            grouped[group] = {**grouped.get(group, {}), **(value if is_group else {name: value})}
        elif name in _GROUPS:
            raise ValueError(f"{name} is {short(repr(value))}: expected a group of settings")
        else:
            grouped[name] = value
    return grouped


def hint(name: str) -> str:
    """` Did you mean 'x'?` for the name of a setting that there is not, in another trainer or with a mistake.

    >>> hint("lr"), hint("gama")
    (" Did you mean 'learning_rate'?", " Did you mean 'gamma'?")
    """
    known = ELSEWHERE.get(str(name).lower().replace("-", "_"))
    return f" Did you mean {known!r}?" if known else did_you_mean(name, [*_GROUP_OF, *Config.__dataclass_fields__])


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


def in_words(differing: list[tuple[str, Any, Any]], form: str = "{} is {} there and {} here", *, most: int = 3) -> str:
    """The first few differences: `seed is 1 there and 2 here`."""
    text = ", ".join(form.format(*(short(str(part)) for part in parts)) for parts in differing[:most])
    return text + (f", and {len(differing) - most} more" if len(differing) > most else "")


def _is_too_deep(settings: Any, levels: int = MAX_DEPTH) -> bool:
    """Whether mappings and lists hold each other in more levels."""
    parts = settings.values() if isinstance(settings, Mapping) else settings
    is_nested = isinstance(settings, Mapping | list | tuple)
    return is_nested and (levels == 0 or any(_is_too_deep(part, levels - 1) for part in parts))


def _is_plain(value: Any) -> bool:
    is_list = isinstance(value, tuple | list)
    return all(map(_is_plain, value)) if is_list else value is None or isinstance(value, bool | int | float | str)


def _replace(record: Any, settings: Mapping[str, Any]) -> Any:
    """A frozen record with some entries replaced, nested groups included."""
    settings = {name: value for name, value in settings.items() if name not in REMOVED}
    unknown = [name for name in settings if name not in record.__dataclass_fields__][:MAX_UNKNOWN]
    if unknown:
        kind = type(record).__name__
        raise ValueError(" ".join(f"{kind} has no setting {short(repr(name))}.{hint(name)}" for name in unknown))
    entries = {}
    for name, value in settings.items():
        group = getattr(record, name)
        entries[name] = _replace(group, value) if dataclasses.is_dataclass(group) else value
    return dataclasses.replace(record, **entries)
