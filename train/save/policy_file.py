"""Policies in files: one file holds everything needed to act, and describes itself.

Everything else that resuming needs (optimizer, environments, keys) is in checkpoints.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import serialization

from jaxenv.core import Environment
from jaxenv.host.companions import command
from jaxenv.host.names import short
from jaxenv.host.regular_files import RefusedFile, read_regular
from train.experience.rollout import observation_shapes
from train.networks.custom import UnknownNetwork
from train.networks.network import PureNetwork, make_network
from train.networks.policy import LearnedPolicy, Reader, make_policy
from train.save.arrays import digest
from train.save.folder import policy_path, runs_in
from train.save.writing import VERSION, write_atomic, written_by
from train.settings import task
from train.settings.config import Config
from train.settings.groups import Network
from train.settings.serialize import differences, from_json, in_words, to_json

_FORMAT = "jaxenv policy 1"
_FIELDS = {"env": str, "network": object, "weights": dict, "env_args": dict, "params": dict, "scenarios": str}
_FIELDS |= {"version": str, "algorithm": str, "validation_return": float}
_NEEDED = ("env", "network", "weights", "env_args", "params", "scenarios")
_MAX_TEXT = 200  # characters of a name
_OF_VALUES = ("pqn", "dqn")  # algorithms whose policies are values of actions
MAX_BYTES = 2**30  # of a policy file: a quarter of a billion weights


class PolicyError(ValueError):
    """A file that is not a policy, or not one for this environment."""


def save_policy(
    path: Path,
    policy: LearnedPolicy,
    config: Config,
    *,
    scenarios: str,
    algorithm: str = "",
    validation_return: float | None = None,
) -> None:
    """Writes a policy file, completely or not at all.

    >>> import functools, pathlib, tempfile, jax, jax.numpy as jnp, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> policy = train.ppo.policy_of(state, config=config, env=env)
    >>> policy = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), policy)  # instead of training it
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.msgpack"
    >>> train.save_policy(path, policy, config, scenarios=params.bank.fingerprint(), algorithm="ppo")
    >>> read_header(path)["env"], read_header(path)["algorithm"]
    ('LifeOps-v0', 'ppo')

    Args:
        path: the file.
        policy: what to save.
        config: the settings of the training, of which those of network, environment and params are stored. If the last
            two are empty (`run.runner` fills them in), `load_policy` cannot compare them.
        scenarios: fingerprint of the bank that training started with.
        algorithm: name of the algorithm that trained it, such as `"ppo"`.
        validation_return: its mean return on the validation set, if there is one.

    Raises:
        NotWritten: if it cannot be written.
    """
    settings = to_json(config)
    record = {
        "format": _FORMAT,
        **VERSION,
        "env": policy.env.name,
        **{name: settings[name] for name in ("env_args", "params", "network")},
        "scenarios": scenarios,
        **({"algorithm": algorithm} if algorithm else {}),
        **({} if validation_return is None else {"validation_return": validation_return}),
        "weights": serialization.to_state_dict(jax.device_get(policy.weights)),
    }
    content = serialization.msgpack_serialize({**record, "digest": digest(record, empty=True)})
    write_atomic(path, content)


def read_header(path: str | Path) -> dict[str, Any]:
    """The contents of a policy file, or of the one in a run's folder, with its `weights` as stored.

    `env`, `env_args` and `params` describe the task of training (see `train.settings.task`), `network` describes the
    network, `scenarios` is the fingerprint of the bank that training started with, and `algorithm` is the name of the
    algorithm that trained it, if recorded. `validation_return` is in a `policy_best.msgpack`.
    """
    path = policy_path(Path(path))
    try:
        record = serialization.msgpack_restore(read_regular(path, MAX_BYTES))
    except FileNotFoundError as error:
        raise PolicyError(f"{path} does not exist") from error
    except RefusedFile as error:
        raise PolicyError(f"{path} is not a policy file: it is {error}") from error
    except Exception as error:  # msgpack has no base error: whatever it raises, these are not its bytes
        raise PolicyError(f"{path} is not a policy file, or is incomplete") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        if isinstance(record, dict) and str(record.get("format", "")).startswith("jaxenv policy"):
            raise PolicyError(f"{path} has another format ({short(repr(record['format']))}): {written_by(record)}")
        raise PolicyError(f"{path} is not a policy file of this version ({_FORMAT!r})")
    try:
        return _checked(path, record)
    except RecursionError:
        raise PolicyError(f"{path} is not a policy file: it nests without end") from None


def _checked(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """A record without its checksum; a PolicyError if it is not that of a policy, or not as it was written."""
    written = record.pop("digest", None)
    for name, kind in _FIELDS.items():
        if not _is_field(record.get(name, kind()), kind) or (name in _NEEDED and name not in record):
            raise PolicyError(f"{path} is not a policy file: its {name!r} is {str(record.get(name, 'missing'))[:40]!r}")
    if unknown := [name for name in record if name not in ("format", *_FIELDS)]:
        raise PolicyError(f"{path} is damaged, or from a later version: it has {str(unknown[0])[:40]!r}")
    if not _is_intact(record, written):
        raise PolicyError(f"{path} is damaged: it is not what was written")
    return record


def _is_field(value: Any, kind: type) -> bool:
    """Whether an entry is of its type, a text one to be printed and a number finite."""
    if isinstance(value, str):
        return kind in (str, object) and value.isprintable() and len(value) <= _MAX_TEXT
    return isinstance(value, kind) and not (isinstance(value, float) and not math.isfinite(value))


def _is_intact(record: dict[str, Any], written: Any) -> bool:
    """Whether a record has its checksum, and all but its weights could be JSON.

    That of an early version, which names none, need not have a checksum.
    """
    names_version = "version" in record
    try:
        json.dumps({**record, "weights": None})
        return digest(record, empty=names_version) == written if written is not None else not names_version
    except (TypeError, ValueError):  # keys of several types, bytes
        return False


def check_algorithm(run_dir: Path, algorithm: str) -> None:
    """A ValueError if the policy in a run folder, or of a population's first member, was trained by another algorithm.

    Checkpoints of two algorithms may have the same arrays. A run without a policy does not say.
    """
    try:
        name = read_header(runs_in(run_dir)[0].policy).get("algorithm")
    except PolicyError:  # checkpoints do not depend on it
        return
    if name not in (algorithm, None):
        raise ValueError(f"{run_dir} is a run of {name}: resume it with {command('train')} {name} --resume {run_dir}")


def load_policy(path: str | Path, env: Environment, params: Any, *, any_params: bool = False) -> LearnedPolicy:
    """Reads the policy of a run for `env`.

    >>> import functools, pathlib, tempfile, jax, jax.numpy as jnp, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> policy = train.ppo.policy_of(state, config=config, env=env)
    >>> policy = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), policy)  # instead of training it
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.msgpack"
    >>> train.save_policy(path, policy, config, scenarios=params.bank.fingerprint())
    >>> train.load_policy(path, env, params).greedy
    True

    Args:
        path: the folder of a run, for its last policy, or a policy file.
        env: the environment to act in.
        params: its params. Their bank may differ from that of the training, but their shared data, such as a
            text embedding, must have the same width, and keeps its meaning only if it is the same embedding.
        any_params: accept params whose numbers differ from those of the training, for example to score a policy that
            was trained with other reward weights by the default ones.

    Raises:
        PolicyError: if the file is broken or not a policy, or if the policy was trained on another environment, with
            other arguments or shapes, or with other params.
    """
    record = read_header(path)
    if record["env"] != env.name:
        raise PolicyError(f"{path} holds a policy for {record['env']}, not for {env.name}")
    _check_task(path, record, task.describe(env, params), any_params)
    settings = network_of(path, record)
    try:
        network = make_network(settings, env.num_actions)
    except UnknownNetwork as error:
        raise PolicyError(f"{path} cannot be loaded: {error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PolicyError(f"{path} cannot be loaded: {short(str(error))}; {written_by(record)}") from error
    weights = fitting_weights(path, record, initial_shapes(network, env, params), env)
    return make_policy(weights, network, env).replace(of_values=record.get("algorithm") in _OF_VALUES)


def network_of(path: str | Path, record: dict[str, Any]) -> Network:
    """The settings of the network in a policy file, from `read_header`'s result; missing ones get their defaults."""
    try:
        return from_json({"env": record["env"], "network": record["network"]}).network
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PolicyError(f"{path} comes from another version: {short(str(error))}; {written_by(record)}") from error


def fitting_weights(path: str | Path, record: dict[str, Any], expected: Any, env: Environment) -> Any:
    """The weights in a policy file, from `read_header`'s result, as the tree that `initial_shapes` describes.

    Raises:
        PolicyError: if a name, shape or dtype differs, or a number is not finite.
    """
    differing = differences(_shapes(record["weights"]), _shapes(serialization.to_state_dict(expected)))
    if differing:
        ((name, *values), *_) = differing
        first = in_words([(".".join(map(str, name)), *values)])
        raise PolicyError(f"{path} does not fit {env.name} as it is here: {first}")
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(record["weights"])):
        raise PolicyError(f"{path} has weights that are not finite")
    return serialization.from_state_dict(expected, record["weights"])


def _shapes(tree: Any, path: tuple = ()) -> dict[Any, str]:
    """The dtype and shape of each array, by the names on the way to it: `float32[3, 16]`."""
    if isinstance(tree, Mapping) and tree:
        return {name: text for key, part in tree.items() for name, text in _shapes(part, (*path, key)).items()}
    is_array = isinstance(tree, np.ndarray | np.generic | jax.Array | jax.ShapeDtypeStruct)
    return {path: f"{tree.dtype}{list(tree.shape)}" if is_array else f"of type {type(tree).__name__}"}


def initial_shapes(network: PureNetwork, env: Environment, params: Any) -> Any:
    """The tree of a network's weights, as shapes and dtypes."""
    return jax.eval_shape(Reader(network, env, params).init, jax.random.key(0), observation_shapes(env, params))


def _check_task(path: str | Path, record: dict[str, Any], here: dict[str, dict[str, Any]], any_params: bool) -> None:
    """Raises a PolicyError if a policy was trained on another task.

    A file whose settings did not describe it is taken as it is. A number that came later may be missing where it is 0.
    """
    for group in ("env_args",) if any_params else here:
        there = record[group] or here[group]
        came_later = {name: value for name, value in here[group].items() if name not in there and value == 0}
        differing = differences({**there, **came_later}, here[group])
        if differing:
            hint = "; any_params=True loads it anyway" if group == "params" else ""
            raise PolicyError(f"{path} was trained on another task: {in_words(differing)}{hint}")
