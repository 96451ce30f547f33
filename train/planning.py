"""Search with the true model: a policy that plans by Gumbel MuZero (Danihelka et al. 2022), and learns no model.

A step is a pure function, so a tree can be grown by `env.transition` itself, with a trained policy as the prior of
actions and its critic as the value of leaves. The search is that of `mctx` (extra `plan`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core.types import Key
from jaxenv.host.companions import optional
from train.networks.policy import LearnedPolicy, NetworkPolicy, Reader
from train.settings.config import Config


class Planner(struct.PyTreeNode):
    """The action that a search from the true state finds best: a `StatePolicy`, for `jaxenv.evaluate`.

    It is **clairvoyant** where a scenario hides something from agents: the tree grows from the true state, in which all
    that will come is written. Only where an observation says everything does it compete on equal terms. Of the chance
    of a step each edge of a tree has one draw, from a key of the search, never that of the episode.
    """

    policy: NetworkPolicy  # prior and value
    discount: jax.Array | float  # gamma of its training
    reward_scale: jax.Array | float  # likewise: the unit in which its critic predicts
    simulations: int = struct.field(pytree_node=False)  # steps of the environment for one decision

    def act_on_state(self, key: Key, state: Any, params: Any) -> jax.Array:
        """[] int32."""
        env, search = self.policy.env, optional("mctx", "a search", extra="plan")
        reader = Reader(self.policy.network, env, params)

        def look(states: Any) -> dict[str, jax.Array]:
            """Logits, [B, A], and values, [B], in these states."""
            policy, critic = reader(self.policy.weights, jax.vmap(env.observe, (0, None))(states, params))
            return {"prior_logits": policy.log_probs, "value": critic.value}

        def step(nothing: None, key: Key, action: jax.Array, states: Any) -> tuple[Any, Any]:
            """What an action in each of these states leads to."""
            turn, is_truncated = jax.vmap(env.transition, (0, 0, 0, None)), jax.vmap(env.is_truncated, (0, None))
            keys = jax.random.split(key, action.shape[0])
            states, reward, terminated, _ = turn(keys, states, action.astype(jnp.int32), params)
            discount = jnp.where(terminated | is_truncated(states, params), 0.0, self.discount)
            reward = self.reward_scale * reward
            return search.RecurrentFnOutput(reward=reward, discount=discount, **look(states)), states

        states = jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 0), state)
        root = search.RootFnOutput(embedding=states, **look(states))
        illegal = ~env.action_mask(state, params)[None]
        found = search.gumbel_muzero_policy(
            None, key, root, step, self.simulations, invalid_actions=illegal, gumbel_scale=0.0
        )
        return found.action[0].astype(jnp.int32)


def planner(policy: LearnedPolicy, config: Config, simulations: int) -> Planner:
    """A planner around a trained policy.

    >>> import jax, jaxenv, train
    >>> from train.planning import planner
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> search = planner(jaxenv.load_policy(env, params), train.preset("LifeOps-v0"), simulations=8)
    >>> _, state = jax.eval_shape(env.reset, jax.random.key(0), params)
    >>> jax.eval_shape(search.act_on_state, jax.random.key(1), state, params)
    ShapeDtypeStruct(shape=(), dtype=int32)

    Args:
        policy: the policy, without memory, of an environment with one agent.
        config: of its training, with the discount and the unit of its critic's values.
        simulations: steps of the environment, and reads of the network, for one decision.

    Raises:
        ValueError: for another policy or number, or after `normalize_rewards`.
        ImportError: without `mctx`.
    """
    optional("mctx", "a search", extra="plan")
    if simulations < 1:
        raise ValueError(f"simulations {simulations}: expected at least 1")
    if not isinstance(policy, NetworkPolicy):
        raise ValueError("a policy with memory cannot plan: its memory of imagined steps is not kept")
    if policy.env.num_agents > 1:
        raise ValueError(f"{policy.env.name} has {policy.env.num_agents} agents, and a plan is for one")
    if config.rollout.normalize_rewards:
        raise ValueError("after --normalize-rewards a critic predicts in a unit that no policy file holds")
    return Planner(policy, config.hyper.gamma, config.hyper.reward_scale, simulations)
