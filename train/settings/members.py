"""The members of a population: the same settings with other seeds, or other hyperparameters."""

import dataclasses
import itertools

from jaxenv.host.names import did_you_mean_one_of
from train.settings.config import Config
from train.settings.groups import Hyper


def is_population(config: Config) -> bool:
    """Whether the settings describe more than one run."""
    return config.seeds > 1 or bool(config.sweep)


def members(config: Config) -> dict[str, Config]:
    """Name -> settings of each member, of which a single one has no name.

    >>> found = members(Config(env="LifeOps-v0", seeds=2, sweep=("gamma=0.9,1",)))
    >>> list(found)
    ['gamma=0.9,seed=0', 'gamma=0.9,seed=1', 'gamma=1,seed=0', 'gamma=1,seed=1']
    >>> found["gamma=1,seed=1"].hyper.gamma, found["gamma=1,seed=1"].seed
    (1.0, 1)

    Raises:
        ValueError: for a sweep over something that is not a number of `Hyper`.
    """
    axes = [[(name, value) for value in values] for name, values in map(_axis, config.sweep)]
    if len({axis[0][0] for axis in axes}) < len(axes):
        raise ValueError(f"sweep {' '.join(config.sweep)}: each setting may be named once")
    if config.seeds > 1:
        axes.append([("seed", str(config.seed + number)) for number in range(config.seeds)])
    return {
        ",".join(f"{name}={value}" for name, value in chosen): _member(config, dict(chosen))
        for chosen in itertools.product(*axes)
    }


def _member(config: Config, chosen: dict[str, str]) -> Config:
    """The settings of one member."""
    seed = int(chosen.pop("seed", config.seed))
    hyper = config.hyper.replace(**{name: float(value) for name, value in chosen.items()})
    return dataclasses.replace(config, seed=seed, hyper=hyper, seeds=1, sweep=(), at_once=None)


def _axis(text: str) -> tuple[str, list[str]]:
    """The setting and the values of one entry of a sweep, `gamma=0.9,0.99`."""
    name, has_values, values = text.partition("=")
    name = name.strip().removeprefix("--").replace("-", "_")
    known = [field.name for field in dataclasses.fields(Hyper)]
    if name not in known:
        raise ValueError(f"sweep {text}: {name!r} cannot be swept over.{did_you_mean_one_of(name, known)}")
    found = [value.strip() for value in values.split(",")]
    try:
        numbers = [float(value) for value in found]
    except ValueError:
        numbers = []
    if not has_values or not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"sweep {text}: expected different numbers, such as {name}=0.1,0.2")
    return name, found
