"""The agents that learn, and their settings: the preset of each environment, with as many steps for all of them."""

import dataclasses
from typing import Any, Literal, NamedTuple

from jaxenv.core import Environment
from train import training
from train.networks.network import make_network
from train.save.arrays import by_name, digest, shapes
from train.save.policy_file import initial_shapes
from train.settings import presets
from train.settings.config import Config
from train.settings.serialize import differences, immutable, option, to_json


class Learner(NamedTuple):
    """How an agent learns."""

    algorithm: str
    core: Literal["none", "gru"] = "none"
    curriculum: Literal["uniform", "plr"] = "uniform"


LEARNERS = {
    "PPO": Learner("ppo"),
    "PPO-GRU": Learner("ppo", core="gru"),
    "PPO-PLR": Learner("ppo", curriculum="plr"),
    "PQN": Learner("pqn"),
    "DQN": Learner("dqn"),
}


def settings(env: Environment, agent: str, *, seeds: int, total_steps: int | None) -> Config:
    """The settings of an agent's runs: a population of seeds.

    Args:
        env: the environment.
        agent: one of `LEARNERS`.
        seeds: how many, from 0.
        total_steps: environment steps of each; those of the preset by default, which are the same for every agent.
    """
    learner = LEARNERS[agent]
    config = presets.for_algorithm(learner.algorithm, training.defaults(env))
    # The stored agents were trained when 0.3 was the default temperature.
    curriculum = dataclasses.replace(config.curriculum, curriculum=learner.curriculum, rank_temperature=0.3)
    return dataclasses.replace(
        config,
        seeds=seeds,
        total_steps=config.total_steps if total_steps is None else total_steps,
        network=dataclasses.replace(config.network, core=learner.core),
        curriculum=curriculum,
        tensorboard=False,
    )


def since(then: Config, env: Environment, agent: str) -> str:
    """The changes in the preset of an agent since it was trained with these settings, in words; empty if none.

    Args:
        then: the settings of its runs.
        env: the environment.
        agent: one of `LEARNERS`.
    """
    now = settings(env, agent, seeds=then.seeds, total_steps=then.total_steps)
    changed = differences(immutable(to_json(then)), immutable(to_json(now)))
    return ", ".join(f"{option(name)} {there} (now {here})" for name, there, here in changed)


def weights_digest(config: Config, env: Environment, params: Any) -> str:
    """A few hexadecimal digits of the shapes of all weights, which detect that the input of a network changed."""
    weights = initial_shapes(make_network(config.network, env.num_actions), env, params)
    return digest(shapes(by_name(weights)))[:16]
