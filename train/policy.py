"""A trained policy as a value: callable like a baseline, and saved in one file that tells what it is.

The file holds what is needed to act. What is needed to go on training (optimiser, environments, keys) is not in it.
"""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import serialization, struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.config import Network
from train.networks import PureNetwork, make_network
from train.run_folder import write_whole

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


def save_policy(path: Path, policy: NetworkPolicy, *, network: Network, scenarios: str) -> None:
    """Writes a policy whole or not at all.

    Args:
        path: the file.
        policy: what to save.
        network: the settings that its network was made with.
        scenarios: fingerprint of the bank that training began with.
    """
    record = {
        "format": _FORMAT,
        "env": policy.env.name,
        "network": {**dataclasses.asdict(network), "hidden": list(network.hidden)},
        "scenarios": scenarios,
        "weights": serialization.to_state_dict(jax.device_get(policy.weights)),
    }
    write_whole(path, serialization.msgpack_serialize(record))


def read_header(path: str | Path) -> dict[str, Any]:
    """What a policy file says of itself: `env`, `network`, `scenarios`, and its `weights` as they lie there."""
    try:
        record = serialization.msgpack_restore(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise PolicyError(f"{path} does not exist") from error
    except Exception as error:  # msgpack has no common error: whatever it raises, the bytes are not its own
        raise PolicyError(f"{path} is no policy file, or is cut short") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise PolicyError(f"{path} is no policy file of this version ({_FORMAT!r})")
    return record


def load_policy(path: str | Path, env: Environment, params: Any) -> NetworkPolicy:
    """Reads a policy for `env`.

    Raises:
        PolicyError: where the file is broken, foreign, or made for an environment of other shapes.
    """
    record = read_header(path)
    if record["env"] != env.name:
        raise PolicyError(f"{path} holds a policy for {record['env']}, not for {env.name}")
    settings = Network(**{**record["network"], "hidden": tuple(record["network"]["hidden"])})
    network = make_network(settings, env.num_actions)

    def init() -> Any:
        observation, _ = env.reset_env(jax.random.key(0), params)
        return network.init(jax.random.key(0), network.read(env, observation, params), observation.action_mask)

    expected = jax.eval_shape(init)
    found = jax.tree.map(np.shape, record["weights"])
    if found != jax.tree.map(lambda x: x.shape, serialization.to_state_dict(expected)):
        raise PolicyError(f"{path} was trained on other shapes than those of {env.name} here: {found}")
    weights = serialization.from_state_dict(expected, record["weights"])
    return NetworkPolicy(weights=weights, network=network, env=env)
