"""The options of a training command: a preset and changes to it, or a run to resume."""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

import jaxenv
from jaxenv.core import Environment, terms
from jaxenv.host.companions import command
from jaxenv.host.named import import_function, made
from jaxenv.host.names import did_you_mean, did_you_mean_one_of, short
from train.cli import ahead
from train.cli.numbers import REGISTRY
from train.networks import custom
from train.save.folder import RunFolder
from train.save.policy_file import check_algorithm
from train.settings import presets, task
from train.settings.bounds import local
from train.settings.config import Config
from train.settings.serialize import ELSEWHERE, MUTABLE, differences, from_json, immutable, in_words, option, to_json
from train.training import scenarios_of

CHANGEABLE = ", ".join(option(name) for name in MUTABLE if name != "run_dir")
DESCRIPTION = (
    "Train {algorithm}. Omitted options use --config FILE, then the preset of the environment, or --preset NAME: "
    f"{', '.join(presets.PRESETS)}. --env-args NAME=VALUE ... sets constructor arguments of the environment, such as "
    "num_agents=2 or limits.channels=9; the numbers of its params, such as --weights.send, are the last options of "
    "--env ID --help. "
    "--env MODULE:FACTORY trains in an environment of your own, --network MODULE:FACTORY with your own Flax module. "
    "--resume RUN_DIR resumes a run that was killed or interrupted, with its own settings; only "
    f"{CHANGEABLE} may be changed. --distributed trains with several processes, started alike on each machine."
)


@dataclasses.dataclass(frozen=True)
class Start:
    """Where a run starts from. `parse` reads these before the others; here they have their lines in `--help`."""

    preset: str | None = None  # settings to change, instead of those of the environment
    # YAML or JSON with settings by name, such as the config.json of another run; its run_dir is not taken.
    config: Path | None = None
    resume: Path | None = None  # a run to go on with: its folder
    or_resume: bool = False  # go on with the run in --run-dir if there is one: a command to repeat after a preemption
    network: str | None = None  # MODULE:FACTORY of a Flax module of your own
    env_args: tuple[str, ...] = ()  # NAME=VALUE: constructor arguments of the environment
    distributed: bool = False  # one of several processes, started alike on each machine
    join_timeout: int = ahead.JOIN_TIMEOUT  # seconds within which all processes of a --distributed run are there


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of one call, and the environment that they make."""

    config: Config
    env: Environment = dataclasses.field(compare=False)
    params: Any = dataclasses.field(compare=False)
    resumed: RunFolder | None  # the run to resume, or None for a new one
    scaled: tuple[str, ...] = ()  # a line on the preset's changes for the number of environments, if there are any


def parse(algorithm: str, argv: Sequence[str], *, joins: bool = False) -> Options:
    """The complete settings of the command line of an algorithm, with their environment.

    Where it `joins`, `--distributed` joins the other processes, before anything else.

    >>> parse("ppo", ["--env", "LifeOps-v0", "--gamma", "0.9"]).config.hyper.gamma
    0.9

    Raises:
        ValueError: for an unknown environment, argument or preset, a folder that is not a run folder, or a setting that
            a resumed run cannot change.
    """
    named, rest = ahead.read(argv, f"{command('train')} {algorithm}", joins=joins)
    if named.env and ":" in named.env:
        register_own(named.env)
    is_help = bool({"-h", "--help"} & set(rest))
    if named.resume is not None and not is_help:
        return _resumed(algorithm, RunFolder(local(named.resume)), named, rest)
    given = {} if named.config is None else ahead.settings_in(named.config)
    named.env = named.env or given.get("env")
    chosen = _chosen_preset(named)
    base = presets.for_environment(chosen.env).replace(network=chosen.network)
    default = presets.for_algorithm(algorithm, dataclasses.replace(base, env=named.env or base.env))
    num_envs = ahead.num_envs(named.num_envs, given) or (None if chosen == base else chosen.rollout.num_envs)
    many = default if num_envs is None else presets.scaled(default, num_envs)
    config = _with_arguments(_changed(many, named, given), named)
    env: Any = None
    params = None
    if config.env in jaxenv.registered():
        env, params = task.make(config)
        config = dataclasses.replace(config, training=scenarios_of(env, config))
    elif not is_help:
        problem = f"no environment {named.env!r}." if named.env else "missing --env ID."
        raise ValueError(problem + did_you_mean_one_of(config.env, jaxenv.registered()))
    config, params = _with_options(algorithm, config, params, rest)
    return Options(config, env, params, None, _scaled_in_words(default, many, config))


def _changed(base: Config, named: argparse.Namespace, given: Mapping[str, Any]) -> Config:
    """Settings with those of a file in their place; a ValueError names the file."""
    try:
        return from_json({**given, "env": base.env}, base)
    except ValueError as error:
        raise ValueError(f"--config {named.config}: {error}") from error


def _chosen_preset(named: argparse.Namespace) -> Config:
    """The preset that is named, or that of the environment; one of another environment is refused."""
    if not named.preset:
        return presets.for_environment(named.env or "ID")
    chosen = presets.preset(named.preset)
    if named.env in presets.PRESETS and named.env != chosen.env:
        raise ValueError(f"--preset {named.preset} is for {chosen.env}, not for --env {named.env}")
    return chosen


def _scaled_in_words(base: Config, scaled: Config, config: Config) -> tuple[str, ...]:
    """A line on the settings that follow from the number of environments; none if none does."""
    rows = zip(*map(_sizes, (base, scaled, config)), strict=True)
    changed = [f"{name} {here:,} (from {old:,})" for (name, old), (_, new), (_, here) in rows if here == new != old]
    many, few = config.rollout.num_envs, base.rollout.num_envs
    return (f"{many:,} environments (the preset has {few:,}) change {', '.join(changed)}",) if changed else ()


def _sizes(config: Config) -> list[tuple[str, int]]:
    """The settings that a number of environments may change, by the options of the command line."""
    sizes = {name: getattr(config.rollout, name) for name in ("num_steps", "minibatch_size", "updates_per_superstep")}
    sizes |= {"refresh": config.training.refresh, "total_steps": config.total_steps}
    return [(option(name), size) for name, size in sizes.items()]


def register_own(name: str) -> None:
    """Registers the environment that `MODULE:FACTORY` on the command line stands for, under that name."""
    if name not in jaxenv.registered():
        factory = import_function(name, "--env")
        found = made(factory, name, "--env")
        if not isinstance(found, Environment):
            raise ValueError(f"--env {name}: expected a jaxenv.Environment, got {type(found).__name__}")
        jaxenv.register(name, factory)


def _resumed(algorithm: str, folder: RunFolder, named: argparse.Namespace, rest: Sequence[str]) -> Options:
    """The settings of a run with the changes that it allows; a ValueError names any other change."""
    path, saved = folder.path, folder.read_config()
    check_algorithm(path, algorithm)
    for name in ("preset", "config"):
        if (value := getattr(named, name)) is not None and not named.or_resume:
            raise ValueError(
                f"--{name} {value} starts a new run; a resumed run takes its settings from {folder.config}"
            )
    _require_same(path, saved.replace(env=named.env or saved.env), saved)
    env, params = _made(folder, saved)
    config, params = _with_options(algorithm, _with_arguments(saved, named), params, rest)
    _require_same(path, config, saved)
    if config.run_dir != path:
        raise ValueError(f"--run-dir {config.run_dir} is not --resume {path}: a run resumes in its own folder")
    return Options(config, env, params, folder)


def _require_same(path: Path, config: Config, saved: Config) -> None:
    """A ValueError with the first settings that differ from those of a run, but for those that it may change."""
    if other := differences(immutable(to_json(saved)), immutable(to_json(config))):
        raise ValueError(f"{path} cannot be resumed: {in_words(other)}; only {CHANGEABLE} may be changed")


def _made(folder: RunFolder, config: Config) -> tuple[Environment, Any]:
    """Environment and params of a run; a ValueError with the way to resume, or the file, if they cannot be made."""
    env = config.env
    if env not in jaxenv.registered():
        if ":" in env:
            raise ValueError(f"{folder.path} is a run in an environment of your own: add --env {short(env)}")
        raise ValueError(
            f"{folder.config} names the environment '{short(env)}', which is not registered here."
            f"{did_you_mean(env, jaxenv.registered())} A run that was begun from Python goes on by the same call there"
        )
    try:
        return task.make(config)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder.config} does not hold the settings of a run: {short(str(error))}") from error


def _with_arguments(default: Config, named: argparse.Namespace) -> Config:
    """The settings with the given arguments of the environment, and the given network."""
    given = task.parse_arguments(named.env_args or ())
    network = custom.import_again(named.network, default.network) if named.network else default.network
    return dataclasses.replace(default, env_args={**default.env_args, **given}, network=network)


def _with_options(algorithm: str, default: Config, params: Any, argv: Sequence[str]) -> tuple[Config, Any]:
    """Settings and params, changed by the options of a command line, which also name the numbers of the params."""
    known, docs = {} if params is None else task.numbers(params), _paid_for(params)
    fields = [
        (name.replace(".", "__"), Annotated[type(value), tyro.conf.arg(name=name, help=docs.get(name, ""))], value)
        for name, value in known.items()
    ]
    for word in (word.partition("=")[0] for word in argv if word.startswith("--")):
        name = word[2:].lower().replace("-", "_")
        if name in ELSEWHERE.keys() - known.keys():
            raise ValueError(f"no option {word}. Did you mean {option(ELSEWHERE[name])}?")
    numbers: Any = dataclasses.make_dataclass("Params", fields, frozen=True)
    numbers.__doc__ = (
        f"The numbers of {default.env}: weights of the reward and parameters of its rules, see their page."
    )
    settings: Any = Annotated[Config, tyro.conf.arg(help="What to train on, how long, and what to write.")]
    groups = [("settings", settings), ("start", Start), ("params", numbers)]
    options: Any = dataclasses.make_dataclass("Options", groups, frozen=True)
    found = tyro.cli(
        tyro.conf.configure(tyro.conf.OmitArgPrefixes)(options),
        args=argv,
        default=options(default, Start(), numbers()),
        prog=f"{command('train')} {algorithm}",
        description=DESCRIPTION.format(algorithm=algorithm.upper()),
        registry=REGISTRY,
    )
    given = zip(known, dataclasses.astuple(found.params), strict=True)
    changed = {name: value for name, value in given if value != known[name]}
    config = dataclasses.replace(found.settings, params={**default.params, **changed})
    return config, task.with_numbers(params, changed) if changed else params


def _paid_for(params: Any) -> dict[str, str]:
    """Weight of the reward -> the quantity that it is paid for, where the environment declares that."""
    try:
        rows = terms.rows(type(getattr(params, "weights", None)))
    except TypeError:
        return {}
    return {f"weights.{name}": row.doc for name, row in rows.items()}
