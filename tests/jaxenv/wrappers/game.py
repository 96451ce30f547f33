"""A counter that can be won and flattened: small enough to compile in a moment, with both ends and illegal actions."""

import dataclasses

import jax.numpy as jnp
from counter import Counter


@dataclasses.dataclass(frozen=True)
class Game(Counter):
    name: str = "Game-v0"

    def transition(self, key, state, action, params):
        after, reward, terminated, info = super().transition(key, state, action, params)
        return after, reward, terminated, {**info, "success": after.met}

    def flatten(self, observation, params):
        return jnp.stack([observation.at.astype(jnp.float32), observation.share])


GAME = Game()
BATCH = 4


def some_actions(rng, masks, legal=True):
    """[B] actions, legal ones or any."""
    return (rng.random(masks.shape) * (masks if legal else 1)).argmax(axis=-1)
