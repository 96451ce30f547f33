"""Small edits of workspaces, for curricula that build on the workspaces that still teach something.

Whatever `generate` promises of every workspace holds after any number of edits: 2 to 7 teammates, channels and initial
messages within the capacities, rates, waits and mentions within what is drawn, nobody and nothing in padding. The
shares in which habits are drawn are not kept. Integers throughout, so that every batch size edits alike.
"""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import Edit, among, edited, first_slots, other, put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import Key
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.generator import KINDS_AT_FIRST, MAX_INITIAL
from jaxenv.envs.teamsclone.types import MENTION, ONE, PRESENCE, Scenario

FEWEST_CHANNELS, FEWEST_USERS = 2, 2
UNIT = 16  # shares are multiples
POST_RATES, CALL_RATES = (ONE // 16, ONE // 16 + ONE // 4 - 1), (ONE // 2048, ONE // 2048 + ONE // 512 - 1)
CALL_LENGTHS, MENTION_WINDOWS = range(4, 22), range(4, 31)
NO_SHARE, USUAL_SHARE, GREAT_SHARE = (0, 0), (ONE * 3 // 100, ONE * 9 // 100), (ONE // 4, ONE // 2 - UNIT)
SHARES = np.array([NO_SHARE, USUAL_SHARE, USUAL_SHARE, GREAT_SHARE])  # of mentions; a repeat is a weight
STAYS = np.array([0.3, 0.6, 0.85, 0.97]) * ONE // UNIT  # of a state of presence, from soon over to lasting


def mutate(key: Key, workspace: Scenario) -> Scenario:
    """The workspace after one edit of `EDITS`."""
    return edited(key, jax.tree.map(jnp.asarray, workspace), EDITS)


# The workspace -----------------------------------------------------------------------------------------------


def channel_exists(workspace: Scenario) -> jax.Array:
    """[C] bool."""
    return first_slots(workspace.num_channels, workspace.team.shape[0])


def can_start(workspace: Scenario) -> jax.Array:
    """[C] bool: channels in which agents do not start."""
    return channel_exists(workspace) & (_index(workspace.team) != workspace.start.astype(jnp.int32))


def start_in(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """Agents start in another channel."""
    return workspace.replace(start=channel.astype(jnp.int8))


def always(workspace: Scenario) -> jax.Array:
    """[1] bool: True."""
    return jnp.ones(1, bool)


def lengthen_calls(workspace: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """Calls can be joined for another time."""
    return workspace.replace(call_length=other(CALL_LENGTHS, workspace.call_length, u[0]).astype(jnp.int16))


def hurry_answers(workspace: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """Mentions wait for another time."""
    return workspace.replace(mention_window=other(MENTION_WINDOWS, workspace.mention_window, u[0]).astype(jnp.int16))


# Channels ----------------------------------------------------------------------------------------------------


def ring(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """Calls start in a channel at another rate, or no more."""
    is_silent = workspace.call_rate[channel] == 0
    rate = jnp.where(is_silent | (u[1] < 0.5), as_integer(u[0], *CALL_RATES), 0)
    return workspace.replace(call_rate=put(workspace.call_rate, channel, rate))


def can_add_channel(workspace: Scenario) -> jax.Array:
    """[C] bool: the slot behind the last channel."""
    return _index(workspace.team) == workspace.num_channels.astype(jnp.int32)


def add_channel(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """One channel more, of the last team; teammates post there as often as in the others on average."""
    reaches = _index(workspace.team) >= channel
    edges = jnp.where(reaches[None], ONE, workspace.channel_edges * channel // (channel + 1))
    return workspace.replace(
        num_channels=workspace.num_channels + jnp.int8(1),
        team=put(workspace.team, channel, workspace.team[channel - 1]),
        channel_edges=jnp.where(user_exists(workspace)[:, None], edges, ONE),
        call_rate=put(workspace.call_rate, channel, as_integer(u[0], *CALL_RATES)),
    )


def can_drop_channel(workspace: Scenario) -> jax.Array:
    """[C] bool: the last channel, where there are more than two."""
    is_last = _index(workspace.team) == workspace.num_channels.astype(jnp.int32) - 1
    return is_last & (workspace.num_channels > FEWEST_CHANNELS)


def drop_channel(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """The last channel is gone; what was posted there goes to the one before."""
    from_before = _index(workspace.team) >= channel - 1
    return workspace.replace(
        num_channels=workspace.num_channels - jnp.int8(1),
        team=put(workspace.team, channel, 0),
        start=jnp.minimum(workspace.start, (channel - 1).astype(jnp.int8)),
        messages=put(workspace.messages, (slice(None), channel), 0),
        channel_edges=jnp.where(from_before[None], ONE, workspace.channel_edges),
        call_rate=put(workspace.call_rate, channel, 0),
    )


def can_add_message(workspace: Scenario) -> jax.Array:
    """[C] bool: channels with room for one initial message more."""
    return channel_exists(workspace) & (_num_messages(workspace) < MAX_INITIAL)


def add_message(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """One initial message more in a channel."""
    author = as_integer(u[0], 0, workspace.num_users.astype(jnp.int32) - 1)
    kind = jnp.asarray(KINDS_AT_FIRST, jnp.int32)[as_integer(u[1], 0, len(KINDS_AT_FIRST) - 1)]
    first, number = (table[kind].astype(jnp.int32) for table in (workspace.first_text, workspace.num_texts))
    place = first + as_integer(u[2], 0, number - 1)
    word = messages.pack(workspace.texts[place], author, kind, jnp.where(kind == MENTION, 0, -1))
    return workspace.replace(messages=put(workspace.messages, (_num_messages(workspace)[channel], channel), word))


def can_drop_message(workspace: Scenario) -> jax.Array:
    """[C] bool: channels with an initial message."""
    return _num_messages(workspace) > 0


def drop_message(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """A channel without its newest initial message."""
    newest = _num_messages(workspace)[channel] - 1
    return workspace.replace(messages=put(workspace.messages, (newest, channel), 0))


# Teammates ---------------------------------------------------------------------------------------------------


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


OF_USERS = {"presence": 0, "post_rate": 0, "channel_edges": ONE, "kind_edges": 0, "presence_edges": 0}
"""The fields of a scenario that have a row for each teammate, and their padding."""

EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "start in": Edit(can_start, start_in),
        "lengthen calls": Edit(always, lengthen_calls),
        "hurry answers": Edit(always, hurry_answers),
        "ring": Edit(channel_exists, ring),
        "add channel": Edit(can_add_channel, add_channel),
        "drop channel": Edit(can_drop_channel, drop_channel),
        "add message": Edit(can_add_message, add_message),
        "drop message": Edit(can_drop_message, drop_message),
        "greet": Edit(user_exists, greet),
        "post": Edit(user_exists, post),
        "ask": Edit(can_ask, ask),
        "talk": Edit(user_exists, talk),
        "gather": Edit(user_exists, gather),
        "stay": Edit(can_stay, stay),
        "add user": Edit(can_add_user, add_user),
        "drop user": Edit(can_drop_user, drop_user),
    }
)
"""Name -> edit; each is as likely as any other that can be made."""


# What they share ---------------------------------------------------------------------------------------------


def _index(table: jax.Array) -> np.ndarray:
    """[n] int32: the slots of a table."""
    return np.arange(table.shape[0], dtype=np.int32)


def _num_messages(workspace: Scenario) -> jax.Array:
    """[C] int32: initial messages of each channel, which lie at the beginning of its column."""
    return jnp.sum(messages.is_message(workspace.messages), axis=0, dtype=jnp.int32)


def _shares(edges: jax.Array) -> jax.Array:
    """[..., n] int32: what each entry of a running sum adds."""
    return jnp.diff(edges, prepend=0, axis=-1)


def _exchanged(edges: jax.Array, mask: jax.Array | np.ndarray, u: jax.Array) -> jax.Array:
    """[n] int32: running sums ([n]) in which two entries of a mask ([n] bool) have each other's shares."""
    index = _index(edges)
    one = among(jnp.asarray(mask), u[0])
    two = among(mask & (index != one), u[1])
    places = jnp.where(index == one, two, jnp.where(index == two, one, index))
    return jnp.cumsum(_shares(edges)[places], dtype=jnp.int32)
