"""The start of a new run from a policy: the weights in its file."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from train.lanes import SHARED, Lanes
from train.learning.algorithm import Algorithm
from train.networks.network import make_network
from train.save.policy_file import PolicyError, fitting_weights, initial_shapes, network_of, read_header
from train.settings.config import Config
from train.settings.serialize import differences, in_words, to_json


def from_policy(
    algorithm: Any, state: Any, config: Config, env: Environment, env_params: Any, lanes: Lanes | None = None
) -> Any:
    """A new run's state, with the weights of the policy that the settings name, if they name one.

    Everything else is that of a new run: the optimizer, the environments, the schedules.
    """
    weights = starting_weights(algorithm, config, env, env_params)
    if weights is None:
        return state
    weights = jax.tree.map(jnp.array, weights)
    return algorithm.with_weights(state, weights if lanes is None else lanes.put(weights, SHARED))


def starting_weights(algorithm: Algorithm, config: Config, env: Environment, env_params: Any) -> Any:
    """The weights in the policy file, or run folder, `config.init_from`; None if it names none.

    The network must be the same, with weights of the same shapes. Nothing else is compared: the policy may come from
    another number of environments or agents, other params, or another environment.

    Raises:
        ValueError: for an algorithm that does not start from a policy.
        PolicyError: if the file is broken, or at the first difference of the network.
    """
    path = config.init_from
    if path is None:
        return None
    if not hasattr(algorithm, "with_weights"):
        raise ValueError(f"--init-from {path}: {algorithm.name} does not start from a policy")
    record = read_header(path)
    there, here = (to_json(Config(env="", network=network)) for network in (network_of(path, record), config.network))
    differing = differences(there["network"], here["network"])
    if differing:
        raise PolicyError(f"{path} holds another network: {in_words(differing[:1])}")
    expected = initial_shapes(make_network(config.network, env.num_actions), env, env_params)
    return fitting_weights(path, record, expected, env)
