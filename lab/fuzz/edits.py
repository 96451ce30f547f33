"""Damage to bytes and to plain values, which several fuzzers do."""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

TEXTS = ["", "\x00", "\x1b[31m\n", "é😀", "\ufffe", "nan", "../x", "LifeOps-v0", "x" * 5000, "y" * 200_000]
NUMBERS = [0, -1, 1, 2, 2**31, -(2**63), 2**64 - 1, 0.5, -0.0, 1e308, float("nan"), float("inf")]
PLAIN = [None, True, False, *NUMBERS, *TEXTS]


def flipped(dice: random.Random, content: bytes) -> bytes:
    """One bit or byte, or a few, of another value."""
    changed = bytearray(content)
    for _ in range(dice.choice((1, 1, 1, 2, 8))):
        place = dice.randrange(len(changed))
        changed[place] = changed[place] ^ 1 << dice.randrange(8) if dice.random() < 0.7 else dice.randrange(256)
    return bytes(changed)


def cut(dice: random.Random, content: bytes) -> bytes:
    """Bytes that are left out, repeated, moved or filled with zeros; mostly those at the end."""
    start = dice.randrange(len(content))
    end = min(len(content), start + dice.choice((1, 4, 100, 4096)))
    part, rest = content[start:end], content[end:]
    return dice.choice(
        (
            *(content[:start], content[:start], content[: -dice.choice((1, 8, 22))], content[start:]),
            *(content[:start] + rest, content[:start] + 2 * part + rest, content[:start] + bytes(len(part)) + rest),
            *(content + bytes(dice.choice((1, 4096))), content + content, b""),
        )
    )


def value(dice: random.Random) -> Any:
    """A plain value, alone or in a list or mapping, in a few cases a deep or long one."""
    if dice.random() < 0.05:
        deep: Any = 1
        for _ in range(dice.choice((30, 300))):
            deep = [deep] if dice.random() < 0.5 else {"a": deep}
        return dice.choice((deep, list(range(5000)), {f"k{n}": n for n in range(5000)}))
    one = dice.choice(PLAIN)
    return dice.choice((one, one, one, [one], {"a": one}, [], {}))


def changed(dice: random.Random, tree: Any, change: Callable[[random.Random, Any], Any]) -> Any:
    """Nested mappings with one part changed, a leaf more often than a branch."""
    if not isinstance(tree, dict) or not tree or dice.random() < 0.1:
        return change(dice, tree)
    key = dice.choice(list(tree))
    return {**tree, key: changed(dice, tree[key], change)}


def rearranged(dice: random.Random, tree: Any) -> Any:
    """A part that is left out, renamed, wrapped or exchanged for another one."""
    if not isinstance(tree, dict) or not tree:
        return dice.choice((None, {}, [], [tree], {"a": tree}, value(dice)))
    key, other = dice.choice(list(tree)), dice.choice(list(tree))
    rest = {name: item for name, item in tree.items() if name != key}
    odd = dice.choice((3, None, True, 1.5, b"a", "", "\x00", "x" * 5000, f"{key}x"))
    return dice.choice(
        (
            *(rest, {**rest, odd: tree[key]}, {**tree, odd: tree[key]}, {**tree, key: tree[other], other: tree[key]}),
            *({**tree, key: {key: tree[key]}}, {**tree, **{f"x{n}": n for n in range(dice.choice((1, 3000)))}}, {}),
        )
    )


def in_turns(mutators: Mapping[str, Any]) -> Iterator[tuple[int, tuple[str, Any]]]:
    """(number, (class, what makes its mutants)) without end, one class after the other."""
    return enumerate(itertools.cycle(mutators.items()))
