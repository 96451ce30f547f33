"""Environments, rollouts and training as workloads, chosen by the names that a table prints.

Rollout and training rest on the public functions of the algorithm alone, and their carry is opaque here.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

import jaxenv
from jaxenv.core.types import Key
from jaxenv.host.names import require_one_of
from train import ppo
from train.benchmark.workload import BANKS, STEPS, Program, Workload, registered, steps_of, summed_scan
from train.experience.rollout import by_agent
from train.learning.state import initial_weights
from train.networks.network import make_network
from train.networks.policy import Reader
from train.settings import presets
from train.settings.config import Config

Build = Callable[[int], Workload]  # environments -> the workload to time
KINDS = ("environments", "rollout", "training")


def select(
    kinds: Sequence[str],
    banks: Sequence[str],
    *,
    only: str = "",
    steps: int = STEPS,
    num_steps: int | None = None,
    others: Mapping[str, Build] | None = None,
) -> dict[str, Build]:
    """Name -> builder of its workload, in the order of the table; after the registered environments the others.

    Raises:
        ValueError: for an unknown kind or bank, and where no name contains `only`.
    """
    for given, known in ((kinds, KINDS), (banks, BANKS)):
        for name in given:
            require_one_of(name, known, f"no {name!r} here")
    found: dict[str, Build] = {}
    for bank in banks:
        end = ", generated" if bank == "generated" else ""
        for id in jaxenv.registered():
            bare = functools.partial(registered, id, bank=bank)
            if "environments" in kinds:
                found[id + end] = functools.partial(stepped, bare, steps)
                found[f"{id}, counted{end}"] = functools.partial(stepped, functools.partial(bare, counted=True), steps)
            if "rollout" in kinds:
                found[f"{id}, rollout{end}"] = functools.partial(_acting, id, steps, bank)
    for id in jaxenv.registered() if "training" in kinds else ():
        found[f"{id}, training"] = functools.partial(_training, id, num_steps)
    found |= others or {}
    chosen = {name: build for name, build in found.items() if only in name}
    if not chosen:
        raise ValueError(f"no program's name contains {only!r}. Available: {'; '.join(found)}.")
    return chosen


def stepped(build: Callable[[], Program], steps: int, num_envs: int) -> Workload:
    """Steps of a program in a batch."""
    return steps_of(build(), num_envs, steps=steps)


def _acting(id: str, steps: int, bank: str, num_envs: int) -> Workload:
    return acting(config_of(id, num_envs=num_envs), steps=steps, bank=bank)


def _training(id: str, num_steps: int | None, num_envs: int) -> Workload:
    return training(config_of(id, num_envs=num_envs, num_steps=num_steps))


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
    training = dataclasses.replace(config.training, scenarios=bank, count=None)
    return config.replace(rollout=dataclasses.replace(config.rollout, **changed), training=training)


def training(config: Config) -> Workload:
    """The superstep of a config, from its first state; scenarios are refreshed as the config says."""
    env, params = jaxenv.make(config.env)
    superstep = ppo.make_superstep(config, env)
    start = functools.partial(ppo.init, config=config, env=env)

    def run(key: Key, carry: Any, params: Any) -> tuple[Any, Any]:
        return superstep(carry, params, config.hyper)  # its state holds its key

    return Workload(config.rollout.num_envs, config.steps_per_superstep, lambda: params, start, run)


def acting(config: Config, *, steps: int = STEPS, bank: str = "library") -> Workload:
    """A rollout: environments as training steps them, and actions sampled from the policy's first weights.

    Nothing is stored and no value is computed: that is the learner's part.
    """
    env, _ = jaxenv.make(config.env)
    num_envs = config.rollout.num_envs
    program, network = registered(config.env, bank=bank, counted=True), make_network(config.network, env.num_actions)

    def start(key: Key, params: Any) -> Any:
        observation, state = program.reset(jax.random.split(key, num_envs), params)
        return initial_weights(key, params, config, env), observation, state

    def step(carry: Any, key: Key, params: Any) -> tuple[Any, tuple[jax.Array, jax.Array]]:
        weights, observation, state = carry
        action_key, step_key = jax.random.split(key)
        policy, _ = Reader(network, env, params)(weights, by_agent(observation, env.num_agents))
        action = policy.sample(action_key)
        action = action if env.num_agents == 1 else action.reshape(num_envs, -1)
        keys = jax.random.split(step_key, num_envs)
        observation, state, reward, done = program.step(keys, state, action, params)
        return (weights, observation, state), (reward, done)

    run = summed_scan(step, steps)
    return Workload(num_envs, num_envs * steps, program.params, start, run, lambda c: (c[2], c[1]), loop_steps=steps)
