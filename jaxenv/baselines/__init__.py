"""Baselines: random and rule-based policies, and one that looks a step ahead in the true state."""

from collections.abc import Callable, Mapping
from typing import Any

from jaxenv.baselines import lifeops as _lifeops
from jaxenv.baselines import lifestack as _lifestack
from jaxenv.baselines import teamsclone as _teamsclone
from jaxenv.baselines.myopic import Myopic as Myopic
from jaxenv.baselines.random import random_policy as random_policy
from jaxenv.core import Environment
from jaxenv.core.types import Policy, StatefulPolicy
from jaxenv.envs.lifeops import LifeOps
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.teamsclone import TeamsClone

_RULE_BASED: dict[type, Callable[[Any], Mapping[str, Policy | StatefulPolicy]]] = {
    LifeOps: _lifeops.baselines,
    LifeStack: _lifestack.baselines,
    TeamsClone: _teamsclone.baselines,
}


def for_environment(env: Environment) -> dict[str, Policy | StatefulPolicy]:
    """The baselines of an unwrapped environment by name, `Random` first.

    >>> import jaxenv
    >>> from jaxenv import baselines
    >>> list(baselines.for_environment(jaxenv.make("LifeStack-v0")[0]))
    ['Random', 'Greedy']
    """
    rule_based = _RULE_BASED.get(type(env))
    return {"Random": random_policy, **(rule_based(env) if rule_based else {})}
