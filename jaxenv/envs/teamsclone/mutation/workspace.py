"""Edits of what holds in a whole workspace."""

import jax
import jax.numpy as jnp

from jaxenv.core.edits import other
from jaxenv.envs.teamsclone.types import Scenario

CALL_LENGTHS, MENTION_WINDOWS = range(4, 22), range(4, 31)


def always(workspace: Scenario) -> jax.Array:
    """[1] bool: True."""
    return jnp.ones(1, bool)


def lengthen_calls(workspace: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """Calls can be joined for another time."""
    return workspace.replace(call_length=other(CALL_LENGTHS, workspace.call_length, u[0]).astype(jnp.int16))


def hurry_answers(workspace: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """Mentions wait for another time."""
    return workspace.replace(mention_window=other(MENTION_WINDOWS, workspace.mention_window, u[0]).astype(jnp.int16))
