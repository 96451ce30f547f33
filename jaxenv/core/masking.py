"""Masks: choosing among legal actions without a branch, an infinity or a division by zero."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxenv.core.types import ActionMask, Key
from jaxenv.lowering import bitsets, draws

WORD = 32  # bits


def sample_uniform(key: Key, mask: ActionMask) -> jax.Array:
    """Draws uniformly among the True entries of `mask` ([A] bool): [] int32; 0 if none is True.

    In a batch of masks ([..., A]) each row draws with its own key, split from `key`: [...] int32.

    It draws one random number and finds the entry of that rank in a packed mask, on a CPU 4 to 12 times faster than
    with `cumsum`.

    >>> import jax, jax.numpy as jnp
    >>> from jaxenv import masking
    >>> int(jax.jit(masking.sample_uniform)(jax.random.key(0), jnp.array([False, False, True, False])))
    2
    """
    if mask.ndim > 1:
        rows = mask.reshape(-1, mask.shape[-1])
        return jax.vmap(sample_uniform)(draws.split(key, len(rows)), rows).reshape(mask.shape[:-1])
    words = pack(mask)
    up_to = lax.population_count(words).astype(jnp.int32) @ np.triu(np.ones((words.size, words.size), np.int32))
    total = up_to[-1]
    rank = jnp.floor(draws.uniform(key) * total.astype(jnp.float32)).astype(jnp.int32)
    rank = jnp.minimum(rank, total - 1)
    before = up_to <= rank
    number = jnp.sum(before, dtype=jnp.int32)
    word = jnp.sum(jnp.where(np.arange(words.size, dtype=np.int32) == number, words, 0), dtype=jnp.uint32)
    within = rank_select(word, rank - jnp.max(jnp.where(before, up_to, 0)))
    return jnp.where(total > 0, number * WORD + within, 0)


def pack(mask: ActionMask) -> jax.Array:
    """[ceil(A / 32)] uint32: entry i of the mask ([A] bool) as bit i % 32 of word i // 32."""
    return lax.platform_dependent(mask, cpu=_packed_by_product, default=_packed_by_shifts)


def _packed_by_product(mask: ActionMask) -> jax.Array:
    """With powers of two, exact in float32 for half a word, and on a CPU several times faster than shifts."""
    halves = jnp.dot(mask.astype(jnp.float32), _half_words(mask.size), precision=lax.Precision.HIGHEST)
    low, high = jnp.split(halves.astype(jnp.uint32), 2)
    return low | (high << (WORD // 2))


def _packed_by_shifts(mask: ActionMask) -> jax.Array:
    """A sum of bits, which fuses with the operations that make the mask."""
    words = -(-mask.size // WORD)
    rows = lax.pad(mask, np.bool_(False), [(0, words * WORD - mask.size, 0)]).reshape(words, WORD)
    return bitsets.of_flags(rows, np.uint32)


def _half_words(size: int) -> np.ndarray:
    """[A, 2 · words] float32: the additions of each entry to the lower halves of all words, then to the upper ones."""
    entry, half = np.arange(size), np.arange(-(-size // WORD) * 2).reshape(-1, 2).T.ravel()
    power = 2.0 ** (entry % (WORD // 2))
    return np.where(entry[:, None] // (WORD // 2) == half, power[:, None], 0).astype(np.float32)


def rank_select(word: jax.Array, rank: jax.Array) -> jax.Array:
    """[] int32: the position of the set bit of `word` ([] uint32) that has `rank` ([] int32) set bits below it."""
    place = jnp.int32(0)
    for width in (16, 8, 4, 2, 1):
        low = lax.population_count(word & np.uint32(2**width - 1)).astype(jnp.int32)
        is_above = rank >= low
        rank = jnp.where(is_above, rank - low, rank)
        word = jnp.where(is_above, word >> width, word)
        place = place + jnp.where(is_above, width, 0)
    return place


def concatenate_masks(*parts: Any) -> jax.Array:
    """[sum of n] bool: masks ([n] bool each) one after the other.

    On GPUs and TPUs a concatenation compiles to a separate kernel, while an OR of pads fuses with its consumer; on a
    CPU each pad is a separate loop.
    """
    return lax.platform_dependent(*parts, cpu=lambda *parts: jnp.concatenate(parts), default=_joined_by_pads)


def _joined_by_pads(*parts: Any) -> jax.Array:
    """An or of the parts, each padded to the whole length."""
    bounds = np.cumsum([0, *(part.shape[0] for part in parts)])
    gaps = zip(bounds[:-1].tolist(), (bounds[-1] - bounds[1:]).tolist(), strict=True)
    padded = (lax.pad(part, np.bool_(False), [(*gap, 0)]) for part, gap in zip(parts, gaps, strict=True))
    return functools.reduce(jnp.logical_or, padded)


def mask_logits(logits: jax.Array, mask: ActionMask) -> jax.Array:
    """[..., A] float32: `logits` where legal, else the lowest finite float, so entropy and gradients stay finite.

    >>> import jax, jax.numpy as jnp
    >>> from jaxenv import masking
    >>> jax.nn.softmax(masking.mask_logits(jnp.array([5.0, 1.0]), jnp.array([False, True]))).tolist()
    [0.0, 1.0]
    """
    return jnp.where(mask, logits.astype(jnp.float32), jnp.finfo(jnp.float32).min)


def lexicographic_argmin(mask: ActionMask, *scores: jax.Array) -> jax.Array:
    """The True entry of `mask` with the lowest scores, compared one after the other: [] int32.

    >>> import jax.numpy as jnp
    >>> from jaxenv import masking
    >>> mask = jnp.array([False, True, True, True])
    >>> int(masking.lexicographic_argmin(mask, jnp.array([0, 2, 1, 1]), jnp.array([0, 0, 3, 2])))
    3

    Args:
        mask: [A] bool; if no entry is True, the result is 0.
        *scores: [A] each, the most important first; ties go to the next score, then to the lowest index.
    """
    best = mask
    for score in scores:
        best = best & (score == jnp.min(jnp.where(best, score, _greatest(score.dtype))))
    return jnp.argmax(best).astype(jnp.int32)


def _greatest(dtype: jnp.dtype) -> jax.Array:
    """The greatest value of a dtype."""
    return jnp.asarray(jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).max, dtype)
