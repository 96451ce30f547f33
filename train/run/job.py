"""A job: all that a run needs, made and checked once, before it has a folder."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.contents import require_valid
from train.experience.bank import check_start_weights
from train.experience.teacher import make_teacher
from train.lanes import Lanes
from train.learning.algorithm import Algorithm, check_abilities
from train.log.recorder import check_installed
from train.networks.custom import check_outputs
from train.networks.network import make_network
from train.networks.policy import Reader
from train.processes import place
from train.save.policy_file import PolicyError, fitting_weights, initial_shapes, network_of, read_header
from train.score.held_out import check_scenarios
from train.settings import task
from train.settings.config import Config, is_population, members
from train.settings.serialize import differences, in_words, to_json

ALONE = ""  # the name of a run that is no member of a population


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A run that may begin."""

    algorithm: Algorithm
    config: Config  # complete: with the arguments of the environment, the numbers of its params, and the lanes
    env: Environment
    env_params: Any
    members: Mapping[str, Config]  # name -> settings; a single run has the name `ALONE`
    lanes: Lanes  # of each member
    start: Callable[[], Any] = lambda: None  # the weights that a new run starts from, read once; None: random ones

    @property
    def is_alone(self) -> bool:
        """Whether it is a single run, not a population."""
        return ALONE in self.members


def prepare(algorithm: Algorithm, config: Config, env: Environment, env_params: Any, *, is_new: bool = True) -> Job:
    """The job that the settings describe, for an environment and params, which fill in `env_args` and `params`.

    Raises:
        ValueError: if the settings do not fit each other, the algorithm, the environment or the devices. A new run
            reads `init_from` here, one that resumes where it has no checkpoint.
    """
    require_valid(env_params)
    config = task.complete(config, env, env_params)
    config, lanes = _one_device(config) if is_population(config) else place(config)
    named = members(config)
    check_abilities(algorithm, next(iter(named.values())))  # a sweep gives all members the same settings
    check_scenarios(config, env)
    check_start_weights(config, env_params)
    check_installed(config)
    make_teacher(config, config.hyper, Reader(make_network(config.network, env.num_actions), env, env_params), None)
    check_outputs(config.network, env, env_params)
    start = functools.cache(functools.partial(starting_weights, config, env, env_params))
    if is_new:
        start()
    return Job(algorithm, config, env, env_params, named, lanes, start)


def _one_device(config: Config) -> tuple[Config, Lanes]:
    """The settings of a population, and its lanes."""
    if jax.process_count() > 1:
        raise ValueError("a population trains in one process: leave out --distributed, or --seeds and --sweep")
    if config.devices not in (None, 1):
        raise ValueError(f"a population trains on one device: leave out --devices {config.devices}")
    return config, Lanes(config.rollout.num_lanes)


def starting_weights(config: Config, env: Environment, env_params: Any) -> Any:
    """The weights in the policy file, or run folder, `config.init_from`; None if it names none.

    The network must be the same but for its `dtype`, with weights of the same shapes. Nothing else is compared: the
    policy may come from another number of environments or agents, other params, or another environment.

    Raises:
        PolicyError: if the file is broken, or at the first difference of the network.
    """
    path = config.init_from
    if path is None:
        return None
    record = read_header(path)
    networks = network_of(path, record), config.network
    there, here = (to_json(Config(env="", network=each))["network"] | {"dtype": None} for each in networks)
    if differing := differences(there, here):
        raise PolicyError(f"{path} holds another network: {in_words(differing[:1])}")
    expected = initial_shapes(make_network(config.network, env.num_actions), env, env_params)
    return fitting_weights(path, record, expected, env)
