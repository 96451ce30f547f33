"""Edits of the teammates of a workspace and of their habits."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import among, first_slots, other, put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.mutation.channels import channel_exists
from jaxenv.envs.teamsclone.types import MENTION, ONE, PRESENCE, Scenario

FEWEST_USERS = 2
UNIT = 16  # shares are multiples
POST_RATES = (ONE // 16, ONE // 16 + ONE // 4 - 1)
NO_SHARE, USUAL_SHARE, GREAT_SHARE = (0, 0), (ONE * 3 // 100, ONE * 9 // 100), (ONE // 4, ONE // 2 - UNIT)
SHARES = np.array([NO_SHARE, USUAL_SHARE, USUAL_SHARE, GREAT_SHARE])  # of mentions; a repeat is a weight
STAYS = np.array([0.3, 0.6, 0.85, 0.97]) * ONE // UNIT  # of a state of presence, from soon over to lasting

OF_USERS = {"presence": 0, "post_rate": 0, "channel_edges": ONE, "kind_edges": 0, "presence_edges": 0}
"""The fields of a scenario that have a row for each teammate, and their padding."""


def user_exists(workspace: Scenario) -> jax.Array:
    """[U] bool."""
    return first_slots(workspace.num_users, workspace.presence.shape[0])


def greet(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """A teammate is there at first, or busy, or not."""
    presence = other(range(len(PRESENCE)), workspace.presence[user], u[0])
    return workspace.replace(presence=put(workspace.presence, user, presence))


def post(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """A teammate posts more often, or less."""
    return workspace.replace(post_rate=put(workspace.post_rate, user, as_integer(u[0], *POST_RATES)))


def can_ask(workspace: Scenario) -> jax.Array:
    """[U] bool: teammates who do not only ask."""
    return user_exists(workspace) & (workspace.kind_edges[:, MENTION - 1] > 0)


def ask(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """Another share of a teammate's posts are mentions; the others keep their mix."""
    low, high = jnp.asarray(SHARES, jnp.int32)[as_integer(u[0], 0, len(SHARES) - 1)]
    edges, share = workspace.kind_edges[user], as_integer(u[1], low // UNIT, high // UNIT)
    kept = edges[:MENTION] * (ONE // UNIT - share) // edges[MENTION - 1] * UNIT
    return workspace.replace(kind_edges=put(workspace.kind_edges, (user, slice(0, MENTION)), kept))


def talk(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """A teammate posts one kind of message as often as another one before, and the other way round."""
    mix = _exchanged(workspace.kind_edges[user], np.arange(MENTION + 1) < MENTION, u)
    return workspace.replace(kind_edges=put(workspace.kind_edges, user, mix))


def gather(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """A teammate posts in one channel as often as in another one before, and the other way round."""
    edges = _exchanged(workspace.channel_edges[user], channel_exists(workspace), u)
    return workspace.replace(channel_edges=put(workspace.channel_edges, user, edges))


def can_stay(workspace: Scenario) -> jax.Array:
    """[U * 4] bool: states of presence that a teammate leaves again."""
    states = np.arange(len(PRESENCE))
    leaves = _shares(workspace.presence_edges)[:, states, states] < ONE
    return (user_exists(workspace)[:, None] & leaves).ravel()


def stay(workspace: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """A teammate stays in a state for longer, or for shorter; where to from there keeps its shares."""
    user, state = place // len(PRESENCE), place % len(PRESENCE)
    shares = _shares(workspace.presence_edges[user, state])
    left = ONE // UNIT - jnp.asarray(STAYS, jnp.int32)[as_integer(u[0], 0, len(STAYS) - 1)]
    others = jnp.where(np.arange(len(PRESENCE), dtype=np.int32) == state, 0, shares)
    others = others * left // jnp.maximum(jnp.sum(others, dtype=jnp.int32), 1) * UNIT
    shares = others.at[state].set(ONE - jnp.sum(others, dtype=jnp.int32))
    edges = jnp.cumsum(shares, dtype=jnp.int32)
    return workspace.replace(presence_edges=put(workspace.presence_edges, (user, state), edges))


def can_add_user(workspace: Scenario) -> jax.Array:
    """[U] bool: teammates who can be copied."""
    return user_exists(workspace) & (workspace.num_users.astype(jnp.int32) < workspace.presence.shape[0])


def add_user(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """One teammate more, with the habits of another one."""
    last = workspace.num_users
    rows = {name: put(getattr(workspace, name), last, getattr(workspace, name)[user]) for name in OF_USERS}
    return workspace.replace(**rows, num_users=last + jnp.int8(1))


def can_drop_user(workspace: Scenario) -> jax.Array:
    """[U] bool: teammates where there are more than two."""
    return user_exists(workspace) & (workspace.num_users > FEWEST_USERS)


def drop_user(workspace: Scenario, user: jax.Array, u: jax.Array) -> Scenario:
    """One teammate less, whose initial messages are by the next one."""
    rows = {name: without_row(getattr(workspace, name), user, padding) for name, padding in OF_USERS.items()}
    left, words = workspace.num_users - jnp.int8(1), workspace.messages
    author = messages.author(words)
    author = jnp.where(author > user, author - 1, author) % left.astype(jnp.int32)
    by_others = (words & ~messages.AUTHOR_BITS) | (author << messages.AUTHOR).astype(jnp.uint32)
    words = jnp.where(messages.is_message(words), by_others, words)
    return workspace.replace(**rows, num_users=left, messages=words)


def _shares(edges: jax.Array) -> jax.Array:
    """[..., n] int32: what each entry of a running sum adds."""
    return jnp.diff(edges, prepend=0, axis=-1)


def _exchanged(edges: jax.Array, mask: jax.Array | np.ndarray, u: jax.Array) -> jax.Array:
    """[n] int32: running sums ([n]) in which two entries of a mask ([n] bool) have each other's shares."""
    index = np.arange(edges.shape[0], dtype=np.int32)
    one = among(jnp.asarray(mask), u[0])
    two = among(mask & (index != one), u[1])
    places = jnp.where(index == one, two, jnp.where(index == two, one, index))
    return jnp.cumsum(_shares(edges)[places], dtype=jnp.int32)
