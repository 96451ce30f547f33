"""Workspaces drawn from a key: integers throughout, so that every batch size draws the same ones."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.dice import DIFFICULTY_STEPS, Dice, rounded, scale
from jaxenv.core.types import Key
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS
from jaxenv.envs.teamsclone.types import ANNOUNCEMENT, KINDS, MENTION, ONE, PRESENCE, STATUS, WINDOW, Limits, Scenario

MAX_INITIAL = 3  # messages of a channel at reset
KINDS_AT_FIRST = np.array([*range(ANNOUNCEMENT + 1)] * 3 + [STATUS, MENTION])
STAY, RETURN = (180, 60), (10, 16)  # least weight and spread of staying in a state, and of becoming available again
LASTING, FLEETING = 4, 6  # factor and divisor of the weight of staying in a state that is left seldom, or soon
BUSY = 2  # factor of the post rates at a difficulty above 1
RINGING = 16  # factor of the call rates of a team that rings for everything
PRESENCE_AT_FIRST = np.cumsum([0.5, 0.25, 0.15, 0.1])[:-1] * ONE


def generate(key: Key, limits: Limits, difficulty: jax.Array | float) -> Scenario:
    """A workspace; jittable.

    1 to 4 teams, 2 + round(6 d) channels (one more or less), 2 to 7 teammates; a share of 0.03 + 0.06 d of the posts
    of most are mentions, mostly to be answered within 16 - round(10 d) steps; rates, preferences, presence and calls
    are drawn, and each of them has extremes: never, and all the time.

    Args:
        key: of the draw.
        limits: capacities; items beyond them are left out.
        difficulty: d, [] in [0, 1]. Above 1: as at 1, with teammates who post twice as often.
    """
    C, U, T = limits.channels, limits.users, limits.texts
    dice = Dice(key, 24 + 19 * C + (40 + C) * U)
    difficulty = jnp.asarray(difficulty, jnp.float32)
    haste = jnp.where(difficulty > 1, BUSY, 1)
    d = jnp.floor(jnp.clip(difficulty, 0, 1) * DIFFICULTY_STEPS).astype(jnp.int32)
    num_channels = jnp.clip(2 + rounded(6, d) + dice.between(-1, 1), min(2, C), C)
    num_users = jnp.minimum(dice.between(2, 7), U)
    num_teams = jnp.minimum(dice.between(1, 4), jnp.minimum(limits.teams, num_channels))
    channels, users = jnp.arange(C), jnp.arange(U)
    exists, works = channels < num_channels, users < num_users
    first, number = text_places(T)
    return Scenario(
        num_channels=num_channels.astype(jnp.int8),
        num_users=num_users.astype(jnp.int8),
        team=jnp.where(exists, channels * num_teams // num_channels, 0).astype(jnp.int8),
        start=scale(dice.table(), num_channels).astype(jnp.int8),
        presence=jnp.where(works, _pick(PRESENCE_AT_FIRST.astype(np.int32), dice.table(U)), 0).astype(jnp.int8),
        messages=initial_messages(dice, exists, num_users, first, number),
        post_rate=jnp.where(works, haste * post_rates(dice, U), 0),
        channel_edges=jnp.where(works[:, None], cdf(channel_weights(dice, U, exists, num_channels)), ONE),
        kind_edges=jnp.where(works[:, None], kind_edges(dice, U, d), 0),
        presence_edges=jnp.where(works[:, None, None], cdf(presence_weights(dice, U)), 0),
        call_rate=jnp.where(exists, call_rates(dice, C), 0),
        call_length=jnp.where(dice.between(0, 3) > 0, dice.between(4, 12), dice.between(4, 21)).astype(jnp.int16),
        mention_window=jnp.where(dice.between(0, 3) > 0, 16 - rounded(10, d), dice.between(4, 30)).astype(jnp.int16),
        texts=jnp.where(jnp.arange(T) < jnp.sum(number), jnp.arange(T), 0).astype(jnp.int16),
        first_text=jnp.asarray(first, jnp.int8),
        num_texts=jnp.asarray(number, jnp.int8),
    )


def initial_messages(
    dice: Dice, exists: jax.Array, num_users: jax.Array, first: np.ndarray, number: np.ndarray
) -> jax.Array:
    """[W, C] uint32: none to three messages of each channel, some of them news of work, or mentions that wait."""
    C = exists.shape[0]
    author = scale(dice.table(C, MAX_INITIAL), num_users)
    kind = jnp.asarray(KINDS_AT_FIRST, jnp.int32)[dice.between(0, len(KINDS_AT_FIRST) - 1, C, MAX_INITIAL)]
    text = jnp.asarray(first)[kind] + scale(dice.table(C, MAX_INITIAL), jnp.asarray(number)[kind])
    words = messages.pack(text, author, kind, jnp.where(kind == MENTION, 0, -1))
    count = dice.between(0, MAX_INITIAL, C)
    kept = exists[:, None] & (np.arange(MAX_INITIAL)[None] < count[:, None])
    return jnp.pad(jnp.where(kept, words, 0).T, ((0, WINDOW - MAX_INITIAL), (0, 0)))


def post_rates(dice: Dice, U: int) -> jax.Array:
    """[U] int32: from 1/16 to 5/16; in one workspace of eight all teammates post as often."""
    rates = dice.between(ONE // 16, ONE // 16 + ONE // 4 - 1, U)
    return jnp.where(dice.between(0, 7) == 0, rates[:1], rates)


def channel_weights(dice: Dice, U: int, exists: jax.Array, num_channels: jax.Array) -> jax.Array:
    """[U, C] int32: half of the teammates post everywhere, others in some channels, or in one."""
    C = exists.shape[0]
    draws = dice.table(U, C)
    weights, is_kept = 1 + (draws >> 13), draws & 1 == 0
    home = scale(dice.table(U), num_channels)[:, None] == np.arange(C)[None]
    how = dice.between(0, 7, U)[:, None]
    kept = home | (how < 4) | ((how < 7) & is_kept)
    return jnp.where(exists[None] & kept, weights, 0)


def call_rates(dice: Dice, C: int) -> jax.Array:
    """[C] int32: from 1/2048 to 5/2048, none in a quarter of the channels; some teams never ring, some all the time."""
    draws = dice.table(C)
    rates = jnp.where(draws & 3 == 0, 0, ONE // 2048 + scale(draws, jnp.int32(ONE // 512)))
    how = dice.between(0, 9)
    return jnp.where(how == 0, 0, jnp.where(how == 1, rates * RINGING, rates))


def kind_edges(dice: Dice, U: int, d: jax.Array) -> jax.Array:
    """[U, 5] int32: a drawn mix of the first four kinds beside mentions.

    Half of the teammates have a favorite kind, which they post most; each of the others is never posted by one
    in six. The difficulty sets the share of mentions; five in sixteen mention nobody, and one in sixteen always does.
    """
    share = (ONE * 3 // 100 * DIFFICULTY_STEPS + ONE * 6 // 100 * d) // DIFFICULTY_STEPS
    draws = dice.table(U)
    how, asks = draws >> 12, ONE // 4 + (draws & 4095) * 4
    mention = jnp.where(how < 5, 0, jnp.where(how == 15, asks, share))[:, None] // 16 * 16
    least, spread = np.array([[12, 4, 2, 1]]), 3
    draws, of_own = dice.table(U, 4), dice.table(U)
    weights, is_left_out = least * (4 + scale(draws, jnp.int32(4 * spread))), (draws & 63) < 64 // 6
    own, has_own = (of_own >> 14)[:, None] == np.arange(4)[None], of_own & 1 == 0
    weights = jnp.where(own, jnp.where(has_own[:, None], 100 + weights, weights), jnp.where(is_left_out, 0, weights))
    others = jnp.cumsum(weights, axis=1, dtype=jnp.int32)
    others = others * ((ONE - mention) // 16) // others[:, -1:] * 16
    return jnp.concatenate([others[:, :3], ONE - mention, jnp.full((U, 1), ONE)], 1)


def presence_weights(dice: Dice, U: int) -> jax.Array:
    """[U, 4, 4] int32: mostly staying, else mostly becoming available again.

    One state in six lasts, one in six is soon over, one in six is never taken, and from few there is no way back.
    """
    n, (stay, stay_spread), (back, back_spread) = len(PRESENCE), STAY, RETURN
    weights = dice.between(0, 5, U, n, n)
    stays = dice.between(stay, stay + stay_spread - 1, U, n)
    how = dice.between(0, 5, U, n)
    stays = jnp.where(how == 0, stays * LASTING, jnp.where(how == 1, stays // FLEETING, stays))
    is_taken = (how != 2)[:, None]
    draws = dice.table(U, n)
    returns = jnp.where(draws & 31 == 0, 0, back + scale(draws, jnp.int32(back_spread)))
    weights = jnp.where((np.arange(n) == 0)[None, None], returns[..., None], jnp.where(is_taken, weights, 0))
    return jnp.where(np.eye(n, dtype=bool)[None], stays[..., None], weights)


def cdf(weights: jax.Array) -> jax.Array:
    """[..., n] int32: running sums of small weights ([..., n] int32, a sum of 1 .. 32767), the last one 2¹⁶."""
    sums = jnp.cumsum(weights, axis=-1, dtype=jnp.int32)
    return sums * ONE // sums[..., -1:]


def text_places(capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """([9], [9]) int32: where the default texts of each kind begin in their table, and how many there are."""
    number = np.array([len(DEFAULT_TEXTS[kind]) for kind in KINDS], np.int32)
    if number.sum() > capacity:
        raise ValueError(f"the {number.sum()} default texts do not fit into Limits(texts={capacity})")
    return np.concatenate([[0], np.cumsum(number)[:-1]]).astype(np.int32), number


def _pick(thresholds: np.ndarray, draws: jax.Array) -> jax.Array:
    """[n] int32: how many thresholds each draw ([n]) reaches."""
    return jnp.sum(draws[:, None] >= thresholds[None], axis=1, dtype=jnp.int32)
