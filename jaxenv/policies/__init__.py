"""Trained policies that come with the package: of PPO, seeds of the leaderboard; docs/policies.md is their card."""

from importlib import resources
from typing import Any

from jaxenv.core import Environment
from jaxenv.core.types import Policy, StatefulPolicy
from jaxenv.host.companions import companion
from jaxenv.host.names import require_one_of


def load_policy(env: Environment, params: Any, *, any_params: bool = False) -> Policy | StatefulPolicy:
    """The trained policy of an environment, which takes the most probable action.

    >>> import jaxenv
    >>> env, params = jaxenv.make("LifeOps-Shaped-v0")
    >>> policy = jaxenv.load_policy(env, params)
    >>> float(jaxenv.evaluate(policy, env, params).returns.mean()) > 13.0  # best known: 14.2
    True

    Args:
        env: a registered environment, as `jaxenv.make` gives it. Other arguments change shapes, and are refused.
        params: its params; their bank may be any.
        any_params: accept params whose numbers differ from the default ones, which the policy was trained with.

    Raises:
        ValueError: where there is no such policy, or it does not fit.
    """
    require_one_of(env.name, released(), f"no trained policy of {env.name} comes with the package")
    reader = companion("train.save.policy_file")  # its networks; jaxenv needs the trainer for nothing else
    with resources.as_file(resources.files(__name__).joinpath(f"{env.name}.msgpack")) as path:
        return reader.load_policy(path, env, params, any_params=any_params)


def released() -> list[str]:
    """The ids of the environments that have one."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".msgpack") for file in files if file.name.endswith(".msgpack"))
