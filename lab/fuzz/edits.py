"""Damages to bytes, plain values and arrays, which the targets have in their tables, and mutants from such a table."""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

TEXTS = ["", " ", "\x00", "\x1b[31m\n", "é😀", "\ufffe", "nan", "null", "../x", "LifeOps-v0", "x" * 5000, "y" * 200_000]
NUMBERS = [0, -1, 1, 2, 2**31, -(2**63), 2**64 - 1, 0.5, -0.0, 1e308, float("nan"), float("inf")]
PLAIN = [None, True, False, *NUMBERS, *TEXTS]
DTYPES = (np.int64, np.float64, np.float16, np.uint8, np.bool_, np.complex64, "S3", "U2", "M8[s]")


def mutants(damages: Mapping[str, Callable[[random.Random], Any]], seed: int) -> Iterator[tuple[str, Any]]:
    """Mutants without end, of one class after the other, each with its name; the same seed gives the same ones."""
    for number, (kind, damage) in enumerate(itertools.cycle(damages.items())):
        yield kind, damage(random.Random(f"{seed} {number}"))


def flipped(dice: random.Random, content: bytes) -> bytes:
    """One bit or byte, or a few, of another value."""
    changed = bytearray(content)
    for _ in range(dice.choice((1, 1, 1, 2, 8)) if content else 0):
        place = dice.randrange(len(changed))
        changed[place] = changed[place] ^ 1 << dice.randrange(8) if dice.random() < 0.7 else dice.randrange(256)
    return bytes(changed)


def cut(dice: random.Random, content: bytes) -> bytes:
    """Bytes that are left out, repeated, moved or filled with zeros; mostly those at the end."""
    start = dice.randrange(len(content) + 1)
    end = min(len(content), start + dice.choice((1, 4, 100, 4096)))
    first, part, rest = content[:start], content[start:end], content[end:]
    kept = (first, first, content[:-8], content[start:], first + rest, b"")
    more = (first + 2 * part + rest, first + bytes(len(part)) + rest, content + bytes(4096), 2 * content)
    return dice.choice(kept + more)


def value(dice: random.Random) -> Any:
    """A plain value, alone or in a list or mapping, in a few cases a deep or long one."""
    if dice.random() < 0.05:
        deep: Any = 1
        for _ in range(dice.choice((30, 300))):
            deep = [deep] if dice.random() < 0.5 else {"a": deep}
        return dice.choice((deep, list(range(5000)), {f"k{n}": n for n in range(5000)}))
    one = dice.choice(PLAIN)
    return dice.choice((one, one, one, [one], {"a": one}, {"op": "eq", "value": one}, [], {}))


def changed(dice: random.Random, tree: Any, *changes: Callable[[random.Random, Any], Any]) -> Any:
    """Nested mappings and lists with a part or two changed, a leaf more often than a branch."""
    for _ in range(dice.choice((1, 1, 2))):
        tree = _changed(dice, tree, dice.choice(changes))
    return tree


def _changed(dice: random.Random, tree: Any, change: Callable[[random.Random, Any], Any]) -> Any:
    if not isinstance(tree, dict | list) or not tree or dice.random() < 0.1:
        return change(dice, tree)
    copy: Any = dict(tree) if isinstance(tree, dict) else list(tree)
    key = dice.choice(list(tree)) if isinstance(tree, dict) else dice.randrange(len(tree))
    copy[key] = _changed(dice, tree[key], change)
    return copy


def replaced(dice: random.Random, tree: Any) -> Any:
    """Another value instead of a part."""
    return value(dice)


def rearranged(dice: random.Random, tree: Any) -> Any:
    """A part that is left out, renamed, wrapped, repeated or exchanged for another one."""
    if isinstance(tree, list) and tree:
        return dice.choice((tree[:-1], tree * 2, tree[::-1], tree[0], {"a": tree}, [tree], []))
    if not isinstance(tree, dict) or not tree:
        return dice.choice((None, {}, [], [tree], {"a": tree}, value(dice)))
    key, other = dice.choice(list(tree)), dice.choice(list(tree))
    rest = {name: item for name, item in tree.items() if name != key}
    odd = dice.choice((3, None, True, 1.5, b"a", "", "\x00", "x" * 5000, f"{key}x"))
    many = {f"x{n}": n for n in range(dice.choice((1, 3000)))}
    moved = {**tree, key: tree[other], other: tree[key]}
    return dice.choice((rest, {**rest, odd: tree[key]}, moved, {**tree, key: {key: tree[key]}}, {**tree, **many}, {}))


def array(dice: random.Random, leaf: Any, dtypes: Sequence[Any] = DTYPES) -> Any:
    """An array with a number, the dtype or the shape changed."""
    if isinstance(leaf, dict | list):
        return value(dice)
    found = np.asarray(leaf)
    if not found.size or found.dtype.kind not in "biuf":
        return found  # it was changed already
    several = np.atleast_1d(found).copy()
    place = dice.randrange(several.size)
    extreme = (np.nan, np.inf, 1e38, 0.0, -1.0, 0.5) if found.dtype.kind == "f" else (2**31 - 1, -1, 100, 0)
    with np.errstate(all="ignore"):
        if found.dtype == bool:
            several.view(np.uint8).flat[place] = 255  # neither of both
        else:
            several.flat[place] = np.array(dice.choice(extreme)).astype(several.dtype)
        same = several.reshape(found.shape)
        shapes = (several[:-1], several[:0], found[None], found.T.copy(), several[::-1], found.ravel())
        return dice.choice((same, same, same, found.astype(dice.choice(dtypes)), dice.choice(shapes)))
