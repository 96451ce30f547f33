"""Baselines: random and rule-based policies, and one that looks a step ahead in the true state."""

from jaxenv.baselines.myopic import Myopic as Myopic
from jaxenv.baselines.random import random_policy as random_policy
from jaxenv.core import Environment
from jaxenv.core.types import Policy, StatefulPolicy
from jaxenv.envs import FAMILIES


def for_environment(env: Environment) -> dict[str, Policy | StatefulPolicy]:
    """The baselines of an unwrapped environment by name, `Random` first.

    >>> import jaxenv
    >>> from jaxenv import baselines
    >>> list(baselines.for_environment(jaxenv.make("LifeStack-v0")[0]))
    ['Random', 'Greedy']
    """
    rules = [family.baselines(env) for family in FAMILIES if type(env) is family.environment]
    return {"Random": random_policy, **(rules[0] if rules else {})}
