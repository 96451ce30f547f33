"""The policy of a run, as the commands that play it read it."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import jaxenv
from jaxenv.core import Environment
from jaxenv.host.names import short
from jaxenv.host.regular_files import read_regular
from train.cli import options
from train.networks import own
from train.networks.policy import LearnedPolicy
from train.save.folder import RunFolder, policy_path
from train.save.policy_file import MAX_BYTES, load_policy, network_of, read_header
from train.settings import task
from train.settings.config import Config


class Trained(NamedTuple):
    """A policy, and the environment that it was trained in."""

    policy: LearnedPolicy
    env: Environment
    params: Any
    header: dict[str, Any]  # of its file, see `read_header`


def read(
    run_dir: Path, env: str | None, network: str | None, *, best: bool, greedy: bool, as_trained: bool = False
) -> Trained:
    """The policy of a run.

    Args:
        run_dir: the folder of a run, or its policy file.
        env: MODULE:FACTORY of an environment of the user's own that it was trained in.
        network: MODULE:FACTORY of a network of the user's own that it was trained with.
        best: the policy that had the best validation return, not the last one.
        greedy: whether it takes the most probable action, or samples one.
        as_trained: whether the environment has the numbers of training, such as weights of rewards; otherwise it has
            its defaults.
    """
    path = policy_path(run_dir, best=best)
    header = read_header(path)
    if env is not None:
        options.register_own(env)
    if network is not None:
        own.import_again(network, network_of(path, header))
    if env is None and header["env"] not in jaxenv.registered():
        raise ValueError(
            f"{path} was trained in {header['env']}, which is not registered here: for an environment of your own add "
            f"--env {_env_of(run_dir)}"
        )
    numbers = header.get("params", {}) if as_trained else {}
    made, params = task.make(Config(env=env or header["env"], env_args=header.get("env_args", {}), params=numbers))
    policy = load_policy(path, made, params, any_params=not as_trained).replace(greedy=greedy)
    return Trained(policy, made, params, header)


def digest(path: Path) -> str:
    """The SHA-256 of a policy file, in hexadecimal digits."""
    return hashlib.sha256(read_regular(path, MAX_BYTES)).hexdigest()


def _env_of(run_dir: Path) -> str:
    """The environment's name on the command line of a run; if that is unknown, a placeholder."""
    try:
        name = RunFolder(run_dir).read_config().env
    except ValueError:
        name = ""
    return short(name) if ":" in name else "MODULE:FACTORY"
