"""Search with the true model: a policy that plans by Gumbel MuZero (Danihelka et al. 2022), and learns no model.

A step is a pure function, so a tree can be grown by `env.transition` itself, with a trained policy as the prior of
actions and its critic as the value of leaves. The search is that of `mctx` (extra `plan`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.host.companions import optional
from train.networks.layers import Carry
from train.networks.policy import LearnedPolicy, Reader
from train.settings.config import Config


class Planner(struct.PyTreeNode):
    """The action that a search finds best: a `StatePolicy` with the memory of its prior, for `jaxenv.evaluate`.

    From the true state it is **clairvoyant** where a scenario hides something from agents: all that will come is
    written there. With `worlds` it does not look at what is hidden: a tree grows from each of so many states that
    look the same to the agent (`Environment.determinize`), and the action with the best mean value is taken. Of the
    chance of a step each edge of a tree has one draw, from a key of the search, never that of the episode.
    """

    policy: LearnedPolicy  # prior and value; of a network with memory each node of a tree has its carry
    discount: jax.Array | float  # gamma of its training
    reward_scale: jax.Array | float  # likewise: the unit in which its critic predicts
    simulations: int = struct.field(pytree_node=False)  # steps of the environment for one decision
    worlds: int = struct.field(pytree_node=False, default=0)  # that they are shared among; 0: the true one

    def initial_carry(self) -> Carry:
        """[1, H] float32: nothing is remembered; None without memory."""
        return Reader(self.policy.network, self.policy.env, None).initial_carry(1)

    def act_on_state(self, key: Key, state: Any, params: Any, carry: Carry) -> tuple[jax.Array, Carry]:
        """([] int32, [1, H] float32): the action, and the memory after the observation of this state."""
        env, search = self.policy.env, optional("mctx", "a search", extra="plan")
        reader, of_world = Reader(self.policy.network, env, params), 0 if self.worlds else None
        if self.worlds:
            key, *keys = jax.random.split(key, 1 + self.worlds)
            states, worlds = jax.vmap(env.determinize, (0, None, None))(jnp.stack(keys), state, params)
        else:
            states, worlds = jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 0), state), params
        carry = jax.tree.map(lambda leaf: jnp.repeat(leaf, max(self.worlds, 1), axis=0), carry)

        def look(states: Any, carry: Carry) -> tuple[dict[str, jax.Array], tuple[Any, Carry]]:
            """(logits, [B, A], and values, [B]; nodes) of these states, seen with that memory."""
            observation = jax.vmap(env.observe, (0, of_world))(states, worlds)
            policy, critic, carry = reader.act(self.policy.weights, observation, carry)
            return {"prior_logits": policy.log_probs, "value": critic.value}, (states, carry)

        def step(nothing: None, key: Key, action: jax.Array, nodes: tuple[Any, Carry]) -> tuple[Any, Any]:
            """What an action in each of these nodes leads to."""
            turn = jax.vmap(env.transition, (0, 0, 0, of_world))
            keys, (states, carry) = jax.random.split(key, action.shape[0]), nodes
            states, reward, terminated, _ = turn(keys, states, action.astype(jnp.int32), worlds)
            ended = terminated | jax.vmap(env.is_truncated, (0, of_world))(states, worlds)
            discount = jnp.where(ended, 0.0, self.discount)
            reward = self.reward_scale * reward
            seen, nodes = look(states, carry)
            return search.RecurrentFnOutput(reward=reward, discount=discount, **seen), nodes

        seen, nodes = look(states, carry)
        root = search.RootFnOutput(embedding=nodes, **seen)
        legal = jnp.broadcast_to(env.action_mask(state, params), root.prior_logits.shape)
        each = self.simulations // max(self.worlds, 1)
        found = search.gumbel_muzero_policy(None, key, root, step, each, invalid_actions=~legal, gumbel_scale=0.0)
        action = _best_of_all(root, found.search_tree.summary()) if self.worlds else found.action[0]
        return action.astype(jnp.int32), jax.tree.map(lambda leaf: leaf[:1], nodes[1])


def _best_of_all(root: Any, summary: Any) -> jax.Array:
    """[]: the action with the best mean value over all trees, weighed with the prior as in Gumbel MuZero.

    Worlds have equal say, whatever their trees visited most: what is good in most of them may ruin in one.
    """
    visits = summary.visit_counts
    value = jnp.mean(jnp.where(visits > 0, summary.qvalues, summary.value[:, None]), axis=0)
    scale = 0.1 * (50.0 + jnp.max(jnp.sum(visits, axis=0))) / jnp.maximum(jnp.max(value) - jnp.min(value), 1e-8)
    return jnp.argmax(root.prior_logits[0] + scale * value)


def planner(policy: LearnedPolicy, config: Config, simulations: int, worlds: int = 0) -> Planner:
    """A planner around a trained policy.

    >>> import jax, jaxenv, train
    >>> from train.planning import planner
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> search = planner(jaxenv.load_policy(env, params), train.preset("LifeOps-v0"), simulations=8)
    >>> _, state = jax.eval_shape(env.reset, jax.random.key(0), params)
    >>> jax.eval_shape(search.act_on_state, jax.random.key(1), state, params, search.initial_carry())[0]
    ShapeDtypeStruct(shape=(), dtype=int32)

    Args:
        policy: the policy, of an environment with one agent.
        config: of its training, with the discount and the unit of its critic's values.
        simulations: steps of the environment, and reads of the network, for one decision.
        worlds: states that look the same to the agent, among which the simulations are shared; 0: the true state.

    Raises:
        ValueError: for several agents, another number, after `normalize_rewards`, and for worlds where the
            environment cannot draw anew what is hidden.
        ImportError: without `mctx`.
    """
    optional("mctx", "a search", extra="plan")
    if simulations < 1:
        raise ValueError(f"simulations {simulations}: expected at least 1")
    if not 0 <= worlds <= simulations:
        raise ValueError(f"worlds {worlds}: expected 0, the true state, to {simulations}, the simulations")
    if worlds and type(policy.env.unwrapped).determinize is Environment.determinize:
        raise ValueError(f"{policy.env.name} cannot draw anew what is hidden: worlds has to be 0")
    if policy.env.num_agents > 1:
        raise ValueError(f"{policy.env.name} has {policy.env.num_agents} agents, and a plan is for one")
    if config.rollout.normalize_rewards:
        raise ValueError("after --normalize-rewards a critic predicts in a unit that no policy file holds")
    return Planner(policy, config.hyper.gamma, config.hyper.reward_scale, simulations, worlds)
