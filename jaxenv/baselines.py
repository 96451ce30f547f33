"""Baselines: random and rule-based policies, and one that looks a step ahead in the true state."""

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, masking
from jaxenv.core.types import Key, Policy, StatefulPolicy
from jaxenv.envs import FAMILIES

DRAWS = 4  # of a step's chance, for one agent; several have as many times the actions to weigh, and take one
TIE = 1e-5  # expected rewards that differ by less are alike; sums of terms differ by their rounding


def for_environment(env: Environment) -> dict[str, Policy | StatefulPolicy]:
    """The baselines of an unwrapped environment by name, `Random` first.

    >>> import jaxenv
    >>> from jaxenv import baselines
    >>> list(baselines.for_environment(jaxenv.make("LifeStack-v0")[0]))
    ['Random', 'Greedy']
    """
    return {"Random": random_policy, **_rules(env)}


@functools.cache
def _rules(env: Environment) -> Mapping[str, Policy | StatefulPolicy]:
    """Those of its family, made once: a compiled function knows a policy again by its identity."""
    rules = [family.baselines(env) for family in FAMILIES if type(env) is family.environment]
    return rules[0] if rules else {}


def random_policy(key: Key, observation: Any, params: Any) -> jax.Array:
    """Draws uniformly among the legal actions: [] int32.

    >>> import jax, jaxenv
    >>> from jaxenv.baselines import random_policy
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = jax.jit(random_policy)(jax.random.key(1), observation, params)
    >>> bool(observation.action_mask[action])
    True
    """
    del params
    return masking.sample_uniform(key, observation.action_mask)


class Myopic(struct.PyTreeNode):
    """The action with the greatest expected reward of the next step: a `StatePolicy`, for `jaxenv.evaluate`.

    It learns nothing, so it shows how much of a return needs no credit assignment over time. It does not compete on
    equal terms: it sees the true state, including everything hidden from agents.

    Of each legal action it averages the reward of `env.transition` over `DRAWS` draws of the step's chance. The draws
    come from its own key and are the same for all actions; they are never those of the episode. Ties
    go to one of the actions at random, each as likely. Each of several agents looks at its own reward, in one draw, in
    which the others take uniformly random legal actions.

    >>> import jax, jaxenv
    >>> from jaxenv.baselines import Myopic
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> action = jax.jit(Myopic(env).act_on_state)(jax.random.key(1), state, params)
    >>> bool(observation.action_mask[action])
    True
    """

    env: Environment = struct.field(pytree_node=False)  # whose true model it looks ahead by

    def act_on_state(self, key: Key, state: object, params: object) -> jax.Array:
        """[] int32, or [N] for N agents."""
        tie_key, draws_key = jax.random.split(key)
        expected = self.expected_rewards(draws_key, state, params)
        is_best = expected >= jnp.max(expected, axis=1, keepdims=True) - TIE
        keys = jax.random.split(tie_key, self.env.num_agents)
        return jnp.reshape(jax.vmap(masking.sample_uniform)(keys, is_best), self.env.action_shape)

    def expected_rewards(self, key: Key, state: object, params: object) -> jax.Array:
        """[N, A] float32: the next-step reward of each agent's actions; minus infinity where they are not legal."""
        agents, actions = self.env.num_agents, self.env.num_actions
        mask = jnp.reshape(self.env.action_mask(state, params), (agents, actions))

        def reward(agent: jax.Array, action: jax.Array, key: Key) -> jax.Array:
            world_key, others_key = jax.random.split(key)
            others = jax.vmap(masking.sample_uniform)(jax.random.split(others_key, agents), mask)
            joint = jnp.reshape(others.at[agent].set(action), self.env.action_shape)
            return jnp.reshape(self.env.transition(world_key, state, joint, params)[1], agents)[agent]

        of_draws = jax.vmap(reward, in_axes=(None, None, 0))
        of_actions = jax.vmap(of_draws, in_axes=(None, 0, None))
        of_agents = jax.vmap(of_actions, in_axes=(0, None, None))
        draws = jax.random.split(key, DRAWS if agents == 1 else 1)
        numbers = jnp.arange(agents, dtype=jnp.int32), jnp.arange(actions, dtype=jnp.int32)
        found = of_agents(*numbers, draws)  # [N, A, draws]
        return jnp.where(mask, jnp.mean(found, axis=-1), -jnp.inf)
