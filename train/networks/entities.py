"""A network over entities: embed each alike, pool them, and score every action by its own features.

It is built for speed on a CPU, where a large array costs more than a matrix product: the embeddings, the only large
array, are computed once for policy and value, and actions are scored without a separate hidden layer.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, ActionTables, Entities, EntityGroup, dense
from train.networks.actor_critic import ActorCritic
from train.networks.layers import PRECISION, Dense, orthogonal
from train.networks.outputs import MaskedCategorical
from train.settings.groups import Network


class Overview(nn.Module):
    """Entities -> [..., F], the input of the hidden layers: context, pooled groups, features of the actions.

    Pooling by sum and maximum over existing entities makes the result independent of their order (Zaheer et al. 2017,
    Deep Sets); a sum, unlike a mean, also encodes how many there are (Xu et al. 2019). The features of the actions, or
    embeddings of them, follow in catalogue order, or are left to the action scores.
    """

    settings: Network

    @nn.compact
    def __call__(self, entities: Entities) -> jax.Array:
        """[..., context + 2 * embedding * groups], and A * f, or A * action_embedding, more with the actions."""
        parts = [entities.context, *(self.pool(name, entities.groups[name]) for name in sorted(entities.groups))]
        if self.settings.sees_actions:
            actions = dense(entities.actions)
            if self.settings.action_embedding:
                actions = self.embedded("actions", self.settings.action_embedding, actions)
            parts.append(actions.reshape(*actions.shape[:-2], -1).astype(jnp.float32))
        return jnp.concatenate(parts, axis=-1)

    def embedded(self, name: str, units: int, features: jax.Array) -> jax.Array:
        """[..., n, f] -> [..., n, units]: one layer, the same for each of n."""
        embed = Dense(units, kernel_init=orthogonal(2**0.5), dtype=self.settings.dtype, name=f"embed_{name}")
        rows = embed(features.reshape(-1, features.shape[-1]))  # a third faster than without the reshape
        return nn.relu(rows).reshape(*features.shape[:-1], units)

    def pool(self, name: str, group: EntityGroup) -> jax.Array:
        """[..., 2 * embedding]: sum and maximum of the group's embeddings, zeros where there is no entity."""
        embedded = jnp.where(group.mask[..., None], self.embedded(name, self.settings.embedding, group.features), 0.0)
        total = jnp.sum(embedded, axis=-2, dtype=jnp.float32) / group.mask.shape[-1] ** 0.5  # about the scale of one
        return jnp.concatenate([total, jnp.max(embedded, axis=-2).astype(jnp.float32)], axis=-1)


class ActionScores(nn.Module):
    """(hidden [..., H], features [..., A, f]) -> [..., A]: the hidden units weight the features of every action."""

    @nn.compact
    def __call__(self, hidden: jax.Array, features: jax.Array | ActionTables) -> jax.Array:
        """[..., A], by the same rule for every action."""
        shared = isinstance(features, ActionTables)
        weights = Dense(features.width if shared else features.shape[-1], kernel_init=orthogonal(0.01))(hidden)
        return _by_tables(weights, features) if shared else _weighted(weights, features)


def _weighted(weights: jax.Array, rows: jax.Array) -> jax.Array:
    """(weights [..., f], rows [..., n, f]) -> [..., n], the weighted sum of each row."""
    return jnp.einsum("...f,...nf->...n", weights, rows, precision=PRECISION)


def _by_tables(weights: jax.Array, features: ActionTables) -> jax.Array:
    """The weighted sums of the features of actions, [..., A], by those of the rows that they share.

    Which rows an action has is a constant, so their sums are put together by a matrix product, and never scattered.
    """
    ends = np.cumsum([table.shape[-1] for table in features.tables])
    of_rows = map(_weighted, jnp.split(weights, ends[:-1], axis=-1), features.tables)
    members = [
        np.eye(table.shape[-2] + 1, dtype=np.float32)[:-1, list(rows)]
        for table, rows in zip(features.tables, features.rows, strict=True)
    ]
    scores = jnp.matmul(jnp.concatenate(list(of_rows), axis=-1), np.concatenate(members), precision=PRECISION)
    return jnp.where(features.legal, scores, 0.0)


class EntityActorCritic(ActorCritic):
    """A policy that scores each action by its own features and the pooled observation, and a critic."""

    def setup(self) -> None:
        """Creates the layers that pool entities and score actions."""
        super().setup()
        self.overview = Overview(self.settings)
        self.action_scores = ActionScores()

    def read(self, env: Environment, observation: Any, params: Any) -> Entities:
        """The entities of one observation, with its mask in the context if that is seen."""
        entities = env.entities(observation, params)
        if not self.settings.sees_mask:
            return entities
        seen = observation.action_mask.astype(jnp.float32)
        return entities.replace(context=jnp.concatenate([entities.context, seen]))

    def see(self, features: Entities) -> jax.Array:
        """Context, pooled groups and perhaps actions, [..., F] float32."""
        return self.overview(features)

    def policy_of(self, seen: jax.Array, features: Entities, mask: ActionMask) -> MaskedCategorical:
        """(input of the hidden layers [..., F], entities, [..., A] bool) -> distribution over A."""
        hidden = self.actor_trunk(seen)
        return MaskedCategorical.of(self.policy_head(hidden) + self.action_scores(hidden, features.actions), mask)
