"""The state of a run that learns weights from lanes of environments, and how it begins."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct
from jax import lax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key
from train.experience import rollout
from train.experience.bank import first_bank, with_bank
from train.experience.curriculum import Levels, Unfinished
from train.experience.lane import LaneState
from train.lanes import BY_LANE, SHARED, Lanes
from train.learning.updates import clipped
from train.networks.network import make_network
from train.networks.normalization import Moments
from train.networks.policy import LearnedPolicy, Reader, make_policy
from train.once import compiled_once
from train.settings.config import Config


class TrainState(struct.PyTreeNode):
    """Everything that changes during a run."""

    weights: Any  # of the network, float32, with the statistics of its input if that is normalized
    optimizer: optax.OptState
    lanes: LaneState  # with a leading axis L
    updates: jax.Array  # [] int32, done so far; environment steps are counted on the host, as Python ints
    returns: Moments | None = None  # of discounted returns, by which rewards are scaled; None if they are not
    target: Any = None  # the weights of a target network; None without one


_SHARED: dict[str, Any] = dict.fromkeys(("weights", "optimizer", "updates", "returns", "target"), SHARED)
_FIELDS: dict[str, Any] = {**_SHARED, "lanes": BY_LANE}
SPECS = TrainState(**_FIELDS)  # where each part of it lies


def begin(
    key: Key,
    env_params: Any,
    *,
    direction: optax.GradientTransformation,
    config: Config,
    env: Environment,
    lanes: Lanes | None = None,
) -> TrainState:
    """The state before the first update."""
    sizes, lanes = config.of_a_lane, lanes or Lanes(config.rollout.num_lanes)

    def start(keys: list[Key], env_params: Any) -> tuple[LaneState, None]:
        envs_key, bank_key, key = keys
        bank = first_bank(bank_key, sizes, env, env_params)
        params = with_bank(env_params, bank)
        envs = rollout.initial_state(envs_key, params, env=env, num_envs=sizes.rollout.num_envs)
        rows = sizes.rollout.num_envs * env.num_agents
        envs = envs.replace(carry=reader_of(config, env, params).initial_carry(rows))
        levels, unfinished = Levels.unknown(sizes.num_scenarios), Unfinished.none(rows)
        if config.curriculum.is_uniform:
            levels = unfinished = None
        so_far = jnp.zeros(rows, jnp.float32) if sizes.rollout.normalize_rewards else None
        return LaneState(envs, bank, key, levels, unfinished, so_far), None

    def start_all(keys: list[Key], env_params: Any) -> LaneState:
        return lanes.map(start)(keys, env_params)[0]

    network_key, keys = _init_keys(key, config)
    started = lanes.on_devices(start_all, (BY_LANE, SHARED), BY_LANE)
    if config.rollout.num_lanes > 1:
        started = compiled_once(started)
    weights = initial_weights(network_key, env_params, config, env)
    returns = Moments.none(1) if config.rollout.normalize_rewards else None
    optimizer = jax.jit(clipped(direction, config.hyper.max_grad_norm).init)(weights)
    weights, optimizer, updates, returns = lanes.put((weights, optimizer, jnp.int32(0), returns), SHARED)
    of_lanes = started(lanes.put(keys, BY_LANE), lanes.put(env_params, SHARED))
    state = TrainState(weights, optimizer, of_lanes, updates, returns)
    # Without weak types, so that the second call of a compiled function finds the first one's.
    return jax.tree.map(lambda x: lax.convert_element_type(x, x.dtype), state)


def training_bank(key: Key, env_params: Any, *, config: Config, env: Environment) -> ScenarioBank | None:
    """The scenarios that training starts with: those of `begin` with the same key, without the rest of the state.

    None if the scenarios are not generated and the params have no bank.
    """
    if not config.is_generated:
        return getattr(env_params, "bank", None)
    _, (_, bank_keys, _) = _init_keys(key, config)
    banks: list[Any] = [first_bank(lane, config.of_a_lane, env, env_params) for lane in bank_keys]
    return banks[0].concatenate(*banks[1:]) if len(banks) > 1 else banks[0]


def policy_of(state: TrainState, *, config: Config, env: Environment) -> LearnedPolicy:
    """The policy that has been learned so far."""
    return make_policy(state.weights, make_network(config.network, env.num_actions), env)


def policy_of_values(state: TrainState, *, config: Config, env: Environment) -> LearnedPolicy:
    """The same where the network's logits are values of actions, see `train.learning.q_learning`."""
    return policy_of(state, config=config, env=env).replace(of_values=True)


def with_weights(state: TrainState, weights: Any) -> TrainState:
    """The state of a new run that starts from other weights, such as those of a saved policy."""
    return state.replace(weights=weights)


def initial_weights(key: Key, env_params: Any, config: Config, env: Environment) -> Any:
    """The weights of the network, for which only the shapes of an observation count."""
    nothing = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), rollout.observation_shapes(env, env_params))
    return compiled_once(reader_of(config, env, env_params).init)(key, nothing)


def reader_of(config: Config, env: Environment, env_params: Any) -> Reader:
    """The network of the settings, as a reader of the environment's observations."""
    return Reader(make_network(config.network, env.num_actions), env, env_params)


def _init_keys(key: Key, config: Config) -> tuple[Key, list[Key]]:
    """(key of the weights; those of the lanes' environments, banks and runs, with a leading axis L).

    A single lane has the keys of the run.
    """
    network, *of_run = jax.random.split(key, 4)
    number = config.rollout.num_lanes
    return network, [jnp.expand_dims(k, 0) if number == 1 else jax.random.split(k, number) for k in of_run]
