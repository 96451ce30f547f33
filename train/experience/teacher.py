"""Teachers: a learner imitates their actions in the states that it comes to (kickstarting, Schmitt et al. 2018)."""

from typing import Any

import jax

from jaxenv.baselines import Myopic, for_environment
from jaxenv.core.types import Key
from jaxenv.evaluation import in_state
from jaxenv.host.names import did_you_mean_one_of
from train.experience.rollout import Teacher
from train.networks.custom import import_named
from train.networks.policy import Reader, make_policy
from train.planning import planner
from train.settings.config import Config


def make_teacher(config: Config, reader: Reader, weights: Any) -> Teacher | None:
    """The teacher of the settings; None if they name none.

    Args:
        config: of the run.
        reader: the network, and the environment that it acts in.
        weights: of the network, with which a search looks ahead.

    Raises:
        ValueError: for an unknown name, with the nearest one, a policy with a memory, or where a search cannot be.
    """
    env, name = reader.env, config.teacher
    if name is None:
        return None
    rules = {**for_environment(env), "Myopic": Myopic(env)}
    known = ["search", *(rule for rule, policy in rules.items() if not hasattr(policy, "act"))]
    if name == "search":
        policy = planner(make_policy(weights, reader.network, env), config, config.simulations)
    else:
        policy = import_named(name, "teacher") if ":" in name else rules.get(name)
    if policy is None or hasattr(policy, "act"):
        raise ValueError(f"no teacher {name!r} without a memory in {env.name}.{did_you_mean_one_of(name, known)}")
    _, act = in_state(policy, env)

    def teach(key: Key, states: Any) -> jax.Array:
        keys = jax.random.split(key, jax.tree.leaves(states)[0].shape[0])
        return jax.vmap(lambda key, state: act(key, state, reader.params, ())[0])(keys, states)

    return teach
