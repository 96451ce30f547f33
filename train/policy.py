"""A trained policy as a value: callable like a baseline, and saved in one file that tells what it is.

The file holds what is needed to act. What is needed to go on training (optimiser, environments, keys) is not in it.
"""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import serialization, struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train import task
from train.config import Config
from train.networks import PureNetwork, make_network
from train.run_folder import write_whole
from train.settings import differences, from_json, in_words, to_json

_FORMAT = "jaxenv policy 1"


class PolicyError(ValueError):
    """A file that is no policy, or not one for this environment."""


class NetworkPolicy(struct.PyTreeNode):
    """(key, observation, params) -> action: the most probable one, or a draw."""

    weights: Any
    network: PureNetwork = struct.field(pytree_node=False)
    env: Environment = struct.field(pytree_node=False)
    greedy: bool = struct.field(pytree_node=False, default=True)

    def __call__(self, key: Key, observation: Any, params: Any) -> jax.Array:
        """[] int32, for one observation of the environment."""
        features = self.network.read(self.env, observation, params)
        policy = self.network.apply(self.weights, features, observation.action_mask, method="policy")
        return policy.mode() if self.greedy else policy.sample(key)


def save_policy(path: Path, policy: NetworkPolicy, config: Config, *, scenarios: str) -> None:
    """Writes a policy whole or not at all.

    Args:
        path: the file.
        policy: what to save.
        config: the settings that it was trained with; those of its network, environment and params go with it. Where
            they tell nothing of the last two (`runner.run` fills them in), `load_policy` cannot compare them.
        scenarios: fingerprint of the bank that training began with.
    """
    settings = to_json(config)
    record = {
        "format": _FORMAT,
        "env": policy.env.name,
        **{name: settings[name] for name in ("env_args", "params", "network")},
        "scenarios": scenarios,
        "weights": serialization.to_state_dict(jax.device_get(policy.weights)),
    }
    write_whole(path, serialization.msgpack_serialize(record))


def read_header(path: str | Path) -> dict[str, Any]:
    """What a policy file says of itself, and its `weights` as they lie there.

    `env`, `env_args` and `params` tell what it was trained on (see `train.task`), `network` what it is, `scenarios` is
    the fingerprint of the bank that training began with.
    """
    try:
        record = serialization.msgpack_restore(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise PolicyError(f"{path} does not exist") from error
    except Exception as error:  # msgpack has no common error: whatever it raises, the bytes are not its own
        raise PolicyError(f"{path} is no policy file, or is cut short") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise PolicyError(f"{path} is no policy file of this version ({_FORMAT!r})")
    return record


def load_policy(path: str | Path, env: Environment, params: Any, *, any_params: bool = False) -> NetworkPolicy:
    """Reads a policy for `env`.

    Args:
        path: the file.
        env: the environment that it is to act in.
        params: its params; the bank may be another than that of the training, but what scenarios share, such as an
            embedding of texts, is to be of the same width, and means what it did only if it is the same embedding.
        any_params: whether the numbers may differ from those of the training too, as where a policy that was trained
            with other weights is scored by those of the rules.

    Raises:
        PolicyError: where the file is broken, foreign, made for an environment of other arguments or shapes, or trained
            with other params.
    """
    record = read_header(path)
    if record["env"] != env.name:
        raise PolicyError(f"{path} holds a policy for {record['env']}, not for {env.name}")
    here = task.describe(env, params)
    for group in ("env_args",) if any_params else here:
        other = differences(record.get(group) or here[group], here[group])  # where the file tells of them
        if other:
            way_out = "; any_params=True loads it all the same" if group == "params" else ""
            raise PolicyError(f"{path} was trained otherwise: {in_words(other)}{way_out}")
    settings = from_json({"env": env.name, "network": record["network"]})
    network = make_network(settings.network, env.num_actions)

    def init() -> Any:
        observation, _ = env.reset_env(jax.random.key(0), params)
        return network.init(jax.random.key(0), network.read(env, observation, params), observation.action_mask)

    expected = jax.eval_shape(init)
    found = jax.tree.map(np.shape, record["weights"])
    if found != jax.tree.map(lambda x: x.shape, serialization.to_state_dict(expected)):
        raise PolicyError(f"{path} was trained on other shapes than those of {env.name} here: {found}")
    weights = serialization.from_state_dict(expected, record["weights"])
    return NetworkPolicy(weights=weights, network=network, env=env)
