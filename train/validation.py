"""Validation: generated scenarios that no run trains on, by whose return settings are chosen."""

from collections.abc import Callable, Mapping
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.types import Policy, StatefulPolicy
from jaxenv.evaluation import evaluate
from train.bank import generate_bank
from train.config import Config

SEED = 20_261_122  # of the set, whatever the seed of a run: figures of all runs of an environment compare
COUNT = 512

Look = Callable[[int, Policy], float | None]


def validation_params(env: Environment, env_params: Any) -> Any:
    """The params with the validation set: generated scenarios of all difficulties, always the same."""
    key, shared = jax.random.key(SEED), env_params.bank.shared
    return env_params.replace(bank=generate_bank(env, key, count=COUNT, difficulty=(0.0, 1.0), shared=shared))


def has_generator(env: Environment) -> bool:
    """Whether an environment draws scenarios, without which there is no validation set."""
    return type(env).generate is not Environment.generate


def validation_returns(
    policies: Mapping[str, Policy | StatefulPolicy], env: Environment, params: Any
) -> dict[str, float]:
    """Mean return of each policy on the validation set; nothing where the environment has no generator."""
    if not has_generator(env):
        return {}
    params = validation_params(env, params)
    return {name: _mean_return(policy, env, params) for name, policy in policies.items()}


def make_look(config: Config, env: Environment, env_params: Any, policy: Policy) -> Look:
    """The function (superstep done, policy) -> mean return on the validation set, or None where none is due.

    It looks after every `validate_every` supersteps and after the last, at runs on generated scenarios only. `policy`
    is what it is compiled for here.
    """
    if not config.is_generated or config.validate_every == 0:
        return lambda superstep, policy: None
    params = validation_params(env, env_params)
    _mean_return(policy, env, params)

    def look(superstep: int, policy: Policy) -> float | None:
        is_due = (superstep + 1) % config.validate_every == 0 or superstep + 1 == config.num_supersteps
        return _mean_return(policy, env, params) if is_due else None

    return look


def _mean_return(policy: Policy | StatefulPolicy, env: Environment, params: Any) -> float:
    return float(evaluate(policy, env, params).returns.mean())
