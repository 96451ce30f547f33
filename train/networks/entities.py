"""A network over entities: each embedded alike and pooled, and actions scored by their own features."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.initializers import orthogonal

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Entities, EntityGroup
from train.distributions import MaskedCategorical
from train.networks.mlp import MLP


class EntityEncoder(nn.Module):
    """Entities -> [..., H]: pooled embeddings of each group beside the context, through hidden layers.

    Pooling (mean and maximum over the entities that exist) makes the result the same in whatever order they stand
    (Zaheer et al. 2017, Deep Sets). The actions' features are read in their catalogue order.
    """

    embedding: int
    hidden: tuple[int, ...]
    activation: str

    @nn.compact
    def __call__(self, entities: Entities) -> jax.Array:
        """[..., hidden[-1]]."""
        pooled = [self.pool(name, entities.groups[name]) for name in sorted(entities.groups)]
        actions = entities.actions.reshape(*entities.actions.shape[:-2], -1)
        return MLP(self.hidden, self.activation)(jnp.concatenate([entities.context, *pooled, actions], axis=-1))

    def pool(self, name: str, group: EntityGroup) -> jax.Array:
        """[..., 2 * embedding]: mean and maximum of the group's embeddings, zeros where there is no entity."""
        embed = nn.Dense(self.embedding, kernel_init=orthogonal(2**0.5), name=f"embed_{name}")
        mask = group.mask[..., None]
        embedded = jnp.where(mask, nn.relu(embed(group.features)), 0.0)
        count = jnp.maximum(jnp.sum(mask, axis=-2), 1)
        return jnp.concatenate([jnp.sum(embedded, axis=-2) / count, jnp.max(embedded, axis=-2)], axis=-1)


class EntityActorCritic(nn.Module):
    """A policy that scores each action by what is known of it and of the whole, and a value."""

    num_actions: int
    embedding: int
    hidden: tuple[int, ...]
    activation: str

    def setup(self) -> None:
        """An encoder each for policy and value; an action's own features pass through one hidden layer."""
        self.actor_encoder = EntityEncoder(self.embedding, self.hidden, self.activation)
        self.critic_encoder = EntityEncoder(self.embedding, self.hidden, self.activation)
        self.policy_head = nn.Dense(self.num_actions, kernel_init=orthogonal(0.01))
        self.whole_to_action = nn.Dense(self.embedding, kernel_init=orthogonal(2**0.5))
        self.own_to_action = nn.Dense(self.embedding, kernel_init=orthogonal(2**0.5), use_bias=False)
        self.action_head = nn.Dense(1, kernel_init=orthogonal(0.01), use_bias=False)
        self.value_head = nn.Dense(1, kernel_init=orthogonal(1.0))

    def read(self, env: Environment, observation: Any, params: Any) -> Entities:
        """The entities of one observation."""
        return env.entities(observation, params)

    def __call__(self, entities: Entities, mask: ActionMask) -> tuple[MaskedCategorical, jax.Array]:
        """(entities, [..., A] bool) -> (distribution over A, value [...] float32)."""
        return self.policy(entities, mask), self.value(entities)

    def policy(self, entities: Entities, mask: ActionMask) -> MaskedCategorical:
        """(entities, [..., A] bool) -> distribution over A; no value is computed."""
        whole = self.actor_encoder(entities)
        hidden = nn.relu(self.whole_to_action(whole)[..., None, :] + self.own_to_action(entities.actions))
        logits = self.policy_head(whole) + jnp.squeeze(self.action_head(hidden), axis=-1)
        return MaskedCategorical.of(logits, mask)

    def value(self, entities: Entities) -> jax.Array:
        """Entities -> [...] float32; no policy is computed."""
        return jnp.squeeze(self.value_head(self.critic_encoder(entities)), axis=-1)
