"""Training as workloads: a rollout in which the policy acts, and the whole superstep.

Both rest on the public functions of the algorithm alone, and their carry is opaque here.
"""

import dataclasses
import functools
from typing import Any

import jax

import jaxenv
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics
from train import ppo
from train.benchmark.programs import rows, with_bank
from train.benchmark.workload import STEPS, Workload, summed_scan
from train.experience.rollout import by_agent
from train.learning.state import initial_weights
from train.networks.network import make_network
from train.networks.reader import Reader
from train.settings import presets
from train.settings.config import Config


def config_of(id: str, *, num_envs: int | None = None, num_steps: int | None = None, bank: str = "generated") -> Config:
    """The preset of an environment at another size.

    >>> config_of("LifeOps-v0", num_envs=64).rollout.num_envs
    64

    Args:
        id: of a registered environment.
        num_envs: environments; the preset's by default.
        num_steps: of each environment and update; the preset's by default.
        bank: `library` or `generated`, which here is as large as training makes it.
    """
    config = presets.for_environment(id)
    sizes = {"num_envs": num_envs, "num_steps": num_steps}
    changed = {name: value for name, value in sizes.items() if value is not None}
    rollout = dataclasses.replace(config.rollout, **changed)
    return dataclasses.replace(
        config, rollout=rollout, training=dataclasses.replace(config.training, scenarios=bank, count=None)
    )


def training(config: Config) -> Workload:
    """The superstep of a config, from its first state; scenarios are refreshed as the config says."""
    env, params = jaxenv.make(config.env)
    superstep = ppo.make_superstep(config, env)
    start = functools.partial(ppo.init, config=config, env=env)

    def run(key: Key, carry: Any, params: Any) -> tuple[Any, Any]:
        return superstep(carry, params, config.hyper)  # its state holds its key

    name = f"{config.env}, training"
    return Workload(name, config.rollout.num_envs, config.steps_per_superstep, lambda: params, start, run)


def acting(config: Config, *, steps: int = STEPS, bank: str = "library") -> Workload:
    """A rollout: environments as training steps them, and actions sampled from the policy's first weights.

    Nothing is stored and no value is computed: that is the learner's part.
    """
    env, params = jaxenv.make(config.env)
    num_envs = config.rollout.num_envs
    counted = EpisodeStatistics(env)
    step_rows, network = rows(counted), make_network(config.network, env.num_actions)

    def start(key: Key, params: Any) -> Any:
        keys = jax.random.split(key, num_envs)
        observation, state = jax.vmap(counted.reset_env, in_axes=(0, None))(keys, params)
        return initial_weights(key, params, config, env), observation, state

    def step(carry: Any, key: Key, params: Any) -> tuple[Any, tuple[jax.Array, jax.Array]]:
        weights, observation, state = carry
        action_key, step_key = jax.random.split(key)
        policy, _ = Reader(network, env, params)(weights, by_agent(observation, env.num_agents))
        action = policy.sample(action_key)
        action = action if env.num_agents == 1 else action.reshape(num_envs, -1)
        keys = jax.random.split(step_key, num_envs)
        observation, state, reward, done = step_rows(keys, state, action, params)
        return (weights, observation, state), (reward, done)

    return Workload(
        f"{config.env}, rollout" + (", generated" if bank == "generated" else ""),
        num_envs,
        num_envs * steps,
        functools.partial(with_bank, env, params, bank),
        start,
        summed_scan(step, steps),
        lambda carry: (carry[2], carry[1]),
        loop_steps=steps,
    )
