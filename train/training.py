"""Training as one call from Python: an environment and settings in, a policy and its metrics out."""

import dataclasses
from contextlib import nullcontext
from typing import Any, Literal

from flax import linen as nn

from jaxenv.core import Environment
from jaxenv.host.names import require_one_of
from train import dqn, ppo, pqn
from train.learning.algorithm import Algorithm
from train.log.recorder import Callback
from train.networks import custom
from train.processes import is_writer
from train.run.job import ALONE, prepare
from train.run.outputs import Outcome
from train.run.progress import length
from train.run.runner import run_members
from train.save import folder as folders
from train.save.policy_file import check_algorithm
from train.score.held_out import has_generator
from train.settings import presets
from train.settings.config import Config, is_population
from train.settings.groups import Scenarios

ALGORITHMS: dict[str, Algorithm] = {ppo.name: ppo, pqn.name: pqn, dqn.name: dqn}
"""The learning algorithms by name; a new one is a package beside `train.ppo` and a row here."""


def train(
    env: Environment,
    params: Any,
    config: Config | None = None,
    *,
    algorithm: str = "ppo",
    callback: Callback | None = None,
    network: nn.Module | None = None,
    show_progress: bool = True,
    if_finished: Literal["raise", "return"] = "raise",
) -> Outcome:
    """Trains a policy in any environment that keeps the contract of `jaxenv.Environment`.

    >>> import jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset(env.name).replace(total_steps=1_000_000)
    >>> def is_good_enough(record):
    ...     return record["return"] is not None and record["return"] > -20.0
    >>> config.num_supersteps  # of `outcome = train.train(env, params, config, callback=is_good_enough)`, if none is
    16

    Args:
        env: the environment, wrapped or not. It only has to keep the contract: it need not be registered, and
            its params need no bank.
        params: its params; training uses their bank, unless the settings ask for generated scenarios.
        config: the settings; by default the preset of the environment's id, or else the defaults of `Config`, as the
            algorithm needs them, with generated scenarios where the environment generates them. With `run_dir`
            everything that `jaxenv` writes is written there, and a folder that holds a run resumes it;
            without, nothing is.
        algorithm: its name: "ppo", "pqn" or "dqn".
        callback: called with the record of each superstep (a line of `metrics.jsonl`), while the next one runs;
            if it returns True, the run ends as by a signal: cleanly, with a checkpoint.
        network: a Flax module `features -> (logits [..., A], value [...])`, instead of the one that the settings
            describe; docs/training.md has one under "Your network".
        show_progress: whether to print the length of the run and draw a progress bar.
        if_finished: of a run in `run_dir` that has done all its steps, "return" gives the outcome: a notebook may run
            all its cells again.

    Returns:
        The policy, the metrics as arrays over supersteps, and how long it took.

    Raises:
        ValueError: for settings that do not fit each other or the environment, or a run folder of another run.
        Finished: if the run in `run_dir` has done all its steps; a greater `total_steps` continues it.
        NotFinite: if a loss or gradient is NaN or infinite; `run_dir/not_finite` has the state before that update.
    """
    config = _complete(env, config, network, algorithm)
    if is_population(config):
        raise ValueError("seeds and sweep describe a population: train.train_population trains one")
    options = {"callback": callback, "show_progress": show_progress, "returns_finished": if_finished == "return"}
    return _run(config, env, params, algorithm, **options)[ALONE]


def train_population(
    env: Environment,
    params: Any,
    config: Config | None = None,
    *,
    algorithm: str = "ppo",
    network: nn.Module | None = None,
    show_progress: bool = True,
    if_finished: Literal["raise", "return"] = "raise",
) -> dict[str, Outcome]:
    """Trains several seeds (`config.seeds`) or hyperparameters (`config.sweep`) side by side: name -> outcome.

    All members share a compiled program, or `config.at_once` of them, the others in turns; where that is not given and
    they need more memory than the device has, half of them, and so on, and a warning says so. Each computes the same
    as a single run. With `run_dir` each writes into a folder of its name there.

    >>> import train
    >>> from train.settings.config import members
    >>> config = train.preset("LifeOps-v0").replace(seeds=2, sweep=("learning_rate=1e-3,1e-4",))
    >>> for name in members(config):  # the names of the outcomes of `train_population(env, params, config)`
    ...     print(name)
    learning_rate=1e-3,seed=0
    learning_rate=1e-3,seed=1
    learning_rate=1e-4,seed=0
    learning_rate=1e-4,seed=1

    The arguments are those of `train`. A member whose loss is not finite stops; the others continue.

    Returns:
        Name of a member -> its outcome. One whose loss was not finite says so in `failure`. Members that were finished
        before, in turns, are left out.

    Raises:
        ValueError: for settings that do not fit each other or the environment, or a run folder of another run.
        Finished: if all members in `run_dir` have done all their steps; a greater `total_steps` continues them.
    """
    config = _complete(env, config, network, algorithm)
    options = {"show_progress": show_progress, "returns_finished": if_finished == "return"}
    return _run(config, env, params, algorithm, **options)


def _complete(env: Environment, config: Config | None, network: nn.Module | None, algorithm: str) -> Config:
    """The settings, by default those of environment and algorithm, with the network that was given.

    Raises:
        ValueError: for an unknown algorithm, with the nearest name.
    """
    require_one_of(algorithm, ALGORITHMS, f"no algorithm {algorithm!r}")
    config = presets.for_algorithm(algorithm, defaults(env)) if config is None else config
    if network is None:
        return config
    options = {"normalize_observations": config.network.normalize_observations}
    return config.replace(network=dataclasses.replace(custom.settings_of(network), **options))


def _run(
    config: Config, env: Environment, params: Any, algorithm: str, *, show_progress: bool, **options: Any
) -> dict[str, Outcome]:
    """Runs it in the folder that the settings name, which is found or made, or in none: name -> outcome.

    Where progress is shown, the first line is the length of the run, which is rounded up to whole supersteps.
    """
    existing = None
    if config.run_dir is not None and (config.run_dir / "config.json").exists():
        existing = folders.RunFolder(config.run_dir)
        check_algorithm(existing.path, algorithm)
    if (source := config.training.scenarios) not in ("generated", "library"):
        raise ValueError(
            f"scenarios {source!r}: expected 'generated' or 'library'. To train on a file or folder take 'library', "
            "and env.params_for(scenarios.load(PATH).bank) as params"
        )
    job = prepare(ALGORITHMS[algorithm], config, env, params, is_new=existing is None)
    if show_progress and is_writer():
        print(length(job.config, env.num_agents), flush=True)
    with nullcontext() if config.run_dir is None else folders.of_run(job.config, existing) as folder:
        return run_members(job, folder, show_progress=show_progress, **options)


def defaults(env: Environment) -> Config:
    """The preset of an environment, or the defaults, with the scenarios that it has."""
    config = presets.for_environment(env.name)
    return dataclasses.replace(config, training=scenarios_of(env, config))


def scenarios_of(env: Environment, config: Config) -> Scenarios:
    """The training scenarios of settings; those of the params where an environment generates none."""
    is_missing = config.is_generated and not has_generator(env)
    return dataclasses.replace(config.training, scenarios="library") if is_missing else config.training
