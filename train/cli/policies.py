"""The policy of a run: read by the commands that play it, scored by `jaxenv evaluate`, recorded by `jaxenv collect`."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import jax
import tyro
from tqdm import tqdm
from tyro.conf import Positional

import jaxenv
from jaxenv.core import Environment
from jaxenv.host.names import short
from jaxenv.host.regular_files import read_regular
from train import ppo
from train.cli import comparison, options
from train.data import dataset, minari_format
from train.experience.bank import with_generated
from train.experience.teacher import teacher_named
from train.networks import custom
from train.networks.policy import LearnedPolicy
from train.planning import planner
from train.save.folder import MAX_REASON, RunFolder, policy_path
from train.save.policy_file import MAX_BYTES, PolicyError, load_policy, network_of, read_header
from train.score.held_out import has_generator
from train.settings import task
from train.settings.config import Config
from train.settings.presets import preset


@dataclasses.dataclass(frozen=True)
class Which:
    """The policy of a run, or of a file, that a command is about."""

    run_dir: Positional[Path]  # The folder of a run, or its policy file.
    env: str | None = None  # MODULE:FACTORY of an environment of your own that it was trained in.
    network: str | None = None  # MODULE:FACTORY of a network of your own that it was trained with.
    best: bool = False  # The policy that had the best validation return, not the last one.
    greedy: bool = True  # Take the most probable action instead of sampling one; of PQN and DQN always.


Chosen = Annotated[Which, tyro.conf.arg(name="")]
"""An argument of a command whose options are those of `Which`."""


class Trained(NamedTuple):
    """A policy, and the environment that it was trained in."""

    policy: LearnedPolicy
    env: Environment
    params: Any
    header: dict[str, Any]  # of its file, see `read_header`


def read(which: Which, *, as_trained: bool = False) -> Trained:
    """The policy of a run.

    Args:
        which: that is.
        as_trained: whether the environment has the numbers of training, such as weights of rewards; otherwise it has
            its defaults.
    """
    path, env, network = policy_path(which.run_dir, best=which.best), which.env, which.network
    header = read_header(path)
    if env is not None:
        options.register_own(env)
    if network is not None:
        custom.import_again(network, network_of(path, header))
    if env is None and header["env"] not in jaxenv.registered():
        raise ValueError(
            f"{path} was trained in {header['env']}, which is not registered here: for an environment of your own add "
            "--env MODULE:FACTORY"
        )
    numbers = header.get("params", {}) if as_trained else {}
    try:
        made, params = task.make(Config(env=env or header["env"], env_args=header.get("env_args", {}), params=numbers))
    except (ValueError, TypeError) as error:
        raise PolicyError(f"{path} was trained in another task: {short(str(error), MAX_REASON)}") from error
    policy = load_policy(path, made, params, any_params=not as_trained).replace(greedy=which.greedy)
    if policy.of_values and not policy.greedy:
        raise ValueError(f"--no-greedy: {path} is of {header['algorithm']}, which gives no probabilities")
    return Trained(policy, made, params, header)


def sha256(path: Path) -> str:
    """The SHA-256 of a policy file, in hexadecimal digits."""
    return hashlib.sha256(read_regular(path, MAX_BYTES)).hexdigest()


def evaluate(
    which: Chosen,
    scenarios: str | None = None,
    repetitions: int = comparison.EPISODES,
    simulations: int = 0,
    worlds: int = 0,
) -> None:
    """Score the policy of a run on the scenarios of the library.

    Args:
        which: The policy.
        scenarios: A file or folder of scenarios; default: the environment's library.
        repetitions: Episodes per scenario, whose returns are averaged.
        simulations: Steps that a search tries before each action, from the true state; needs the extra plan.
        worlds: Share them among so many states that look the same to the agent, and leave the true one alone.
    """
    policy, made, params, header = read(which)
    library = comparison.library_of(made, scenarios)
    name = header.get("algorithm", ppo.name).upper()  # an older file does not say
    if simulations or worlds:
        name, policy = f"{name} + search", planner(policy, _config(which.run_dir, made), simulations, worlds)
    table, _ = comparison.compare(policy, made, params, library, name=name, repetitions=repetitions)
    print(f"{table}{comparison.training_note(header.get('params', {}), made)}")


def _config(run_dir: Path, env: Environment) -> Config:
    """The settings of a run; for a policy file alone, the preset."""
    folder = RunFolder(policy_path(run_dir).parent)
    return folder.read_config() if folder.config.exists() else preset(env.name)


def collect(
    which: Chosen,
    out: Path,
    episodes: int = 1000,
    scenarios: str | None = None,
    seed: int = 0,
    at_once: int = 64,
    label: str | None = None,
    simulations: int | None = None,
    format: Literal["npz", "minari"] = "npz",
    name: str | None = None,
) -> None:
    """Write the transitions of a policy as a dataset, for learning offline; docs/datasets.md has its layout.

    Args:
        which: The policy.
        out: The file, .npz.
        episodes: Episodes, of the scenarios in turns.
        scenarios: generated, or a file or folder of scenarios; default: the environment's library.
        seed: Random seed of actions, episodes and generated scenarios.
        at_once: Episodes that are played side by side, and kept in memory.
        label: Whose action in every state is kept beside the one that was taken: a rule of the environment, Myopic, or
            search, which looks ahead from the true state with the policy and needs the extra plan.
        simulations: Steps that the search tries before each label; default: 32.
        format: minari adds it to the local datasets of Minari too, if that is installed.
        name: The name of the dataset in Minari; default: ENV/ALGORITHM-v0.
    """
    if format == "minari":
        minari_format.minari()  # or it would be missed when all is played
    if simulations is not None and label != "search":
        raise ValueError("--simulations are those of --label search")
    policy, made, params, header = read(which, as_trained=True)
    path = policy_path(which.run_dir, best=which.best)
    teacher = None
    if label is not None:
        tries = 32 if simulations is None else simulations
        teacher = teacher_named(label, made, lambda: planner(policy, _config(which.run_dir, made), tries))
    key, bank_key = jax.random.split(jax.random.key(seed))
    params = _with_scenarios(made, params, scenarios, bank_key, episodes)
    source = {"algorithm": header.get("algorithm", ""), "file": path.name, "sha256": sha256(path)}
    source |= {"scenarios": header["scenarios"], "seed": seed, "label": label}
    with tqdm(total=episodes, unit=" episodes", desc=made.name) as bar:
        found = dataset.collect(
            *(out, policy, made, params, episodes),
            key=key,
            source=source,
            at_once=at_once,
            teacher=teacher,
            on_progress=bar.update,
        )
    print(f"{found['transitions']:,} transitions, mean return {found['mean_return']:.2f}, written to {out}")
    if format == "minari":
        title = name or f"{made.name.lower()}/{source['algorithm'] or 'policy'}-v0"
        minari_format.convert(out, title)
        print(f"added to Minari as {title}")


def _with_scenarios(env: Environment, params: Any, source: str | None, key: jax.Array, episodes: int) -> Any:
    """The params with the scenarios that are played; generated ones are as many as episodes."""
    if source == "generated":
        if not has_generator(env):
            raise ValueError(f"--scenarios generated: {env.name} generates none; leave it out, or name a path")
        return with_generated(env, params, key, count=episodes)
    library = comparison.library_of(env, source)
    return params if library is None else params.replace(bank=library.bank)
