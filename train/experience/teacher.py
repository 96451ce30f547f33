"""Teachers: a learner imitates their actions in the states that it comes to (kickstarting, Schmitt et al. 2018)."""

from collections.abc import Callable
from typing import Any

import jax

from jaxenv.baselines import Myopic, for_environment
from jaxenv.core import Environment
from jaxenv.core.types import Key, Policy, StatePolicy
from jaxenv.evaluation import in_state
from jaxenv.host.names import require_one_of
from train.experience.rollout import Teacher
from train.networks.policy import Reader, make_policy
from train.planning import Planner, planner
from train.settings.config import Config
from train.settings.groups import Hyper


def make_teacher(config: Config, hyper: Hyper, reader: Reader, weights: Any) -> Teacher | None:
    """The teacher of the settings; None if they name none.

    Args:
        config: of the run.
        hyper: of the member, for the discount and the unit of rewards of a search.
        reader: the network, and the environment that it acts in.
        weights: of the network, with which a search looks ahead.

    Raises:
        ValueError: for another name, with the nearest one, where a search cannot be, and for simulations without one.
        ImportError: for a search without `mctx`.
    """
    env, name = reader.env, config.teacher
    if name != "search" and config.simulations != Config.simulations:
        raise ValueError("simulations are those of --teacher search; of a trained policy: jaxenv evaluate")
    if name is None:
        return None

    def search() -> Planner:
        plans = planner(make_policy(weights, reader.network, env), config, config.simulations)
        return plans.replace(discount=hyper.gamma, reward_scale=hyper.reward_scale)

    return asked(teacher_named(name, env, search), env, reader.params)


def asked(policy: Policy | StatePolicy, env: Environment, params: Any) -> Teacher:
    """The actions of a policy without memory in many states."""
    nothing, act = in_state(policy, env)
    if jax.tree.leaves(nothing):
        raise ValueError("a policy with memory teaches nothing: a teacher is shown a state, and none before it")

    def teach(key: Key, states: Any) -> jax.Array:
        keys = jax.random.split(key, jax.tree.leaves(states)[0].shape[0])
        return jax.vmap(lambda key, state: act(key, state, params, nothing)[0])(keys, states)

    return teach


def teacher_named(name: str, env: Environment, search: Callable[[], Planner]) -> Policy | StatePolicy:
    """The policy that a name stands for: `search()`, or a rule of the environment, without memory.

    Raises:
        ValueError: for another name, with the nearest one.
    """
    if name == "search":
        return search()
    policies = {**for_environment(env), "Myopic": Myopic(env)}
    # Random ones teach nothing, and may take illegal actions.
    rules = {rule: one for rule, one in policies.items() if not hasattr(one, "act") and "random" not in rule.lower()}
    require_one_of(name, ("search", *rules), f"{env.name} has no rule {name!r} that needs no memory, to teach")
    return rules[name]
