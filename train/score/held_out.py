"""Generated scenarios that no run trains on: the validation set, for choosing settings, and the test sets.

Test sets are outside training, validation and tuning, and some are beyond the range of training.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.types import AnyPolicy
from jaxenv.evaluation import evaluate
from train.experience.bank import with_generated
from train.settings.config import Config

TEST_SEED = 20_261_124  # of the test sets, independent of both
TEST = {"easy": (0.0, 1 / 3), "medium": (1 / 3, 2 / 3), "hard": (2 / 3, 1.0)}  # together the range of training
SHIFTED = {"shifted": (2.0, 2.0)}  # more requests, more verbs a route, busier channels than training draws
SETS = TEST | SHIFTED

# Of the validation set, independent of a run's seed, so that all runs on an environment compare.
VALIDATION_SEED = 20_261_122
COUNT = 512  # scenarios in a set

Validator = Callable[[int, Callable[[], AnyPolicy]], jax.Array | None]


def validation_params(env: Environment, env_params: Any) -> Any:
    """The params with the validation set as their bank: generated scenarios of all difficulties, always the same."""
    return with_generated(env, env_params, jax.random.key(VALIDATION_SEED), count=COUNT)


def has_generator(env: Environment) -> bool:
    """Whether an environment, wrapped or not, generates scenarios; if not, it has no validation set."""
    return type(env.unwrapped).generate is not Environment.generate


def check_scenarios(config: Config, env: Environment) -> None:
    """A ValueError if the settings ask for generated scenarios of an environment that generates none."""
    if config.is_generated and not has_generator(env):
        raise ValueError(
            f"{config.env} does not generate scenarios: train with --scenarios library, or --scenarios PATH for yours"
        )


def validation_returns(policies: Mapping[str, AnyPolicy], env: Environment, params: Any) -> dict[str, float]:
    """Mean return of each policy on the validation set; empty if the environment has no generator."""
    if not has_generator(env):
        return {}
    params = validation_params(env, params)
    return {name: float(_mean_return(policy, env, params)) for name, policy in policies.items()}


def make_validator(config: Config, env: Environment, env_params: Any, policy: AnyPolicy) -> Validator:
    """The function (superstep, () -> policy) -> mean return on the validation set, [] float32; None if it is not due.

    A run on generated scenarios is validated every `validate_every` supersteps and after the last; others never are.
    `policy` is an example, for which the function is compiled here.
    """
    if not config.is_generated or config.validate_every == 0:
        return lambda superstep, policy_of: None
    params = validation_params(env, env_params)
    _mean_return(policy, env, params)

    def validate(superstep: int, policy_of: Callable[[], AnyPolicy]) -> jax.Array | None:
        is_due = (superstep + 1) % config.validate_every == 0 or superstep + 1 == config.num_supersteps
        return _mean_return(policy_of(), env, params) if is_due else None

    return validate


def _mean_return(policy: AnyPolicy, env: Environment, params: Any) -> jax.Array:
    return evaluate(policy, env, params).returns.mean()


def held_out(env: Environment, params: Any) -> dict[str, Any]:
    """Name -> the params with that set as their bank, always the same; none for an environment without a generator.

    >>> import jaxenv
    >>> {name: params.bank.size for name, params in held_out(*jaxenv.make("LifeOps-v0")).items()}
    {'easy': 512, 'medium': 512, 'hard': 512, 'shifted': 512}
    """
    if not has_generator(env):
        return {}
    keys = jax.random.split(jax.random.key(TEST_SEED), len(SETS))
    return {
        name: with_generated(env, params, key, count=COUNT, difficulty=difficulty)
        for key, (name, difficulty) in zip(keys, SETS.items(), strict=True)
    }
