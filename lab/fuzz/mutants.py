"""Mutants of the documents that jaxenv ships: of their bytes, tokens, numbers, structure, size and Python values."""

import copy
import functools
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import scenarios
from scenarios.environments import ENVIRONMENTS
from scenarios.libraries import SHIPPED


class Mutant(NamedTuple):
    """A file, or a Python document."""

    environment: str
    suffix: str  # of the file; "" for a Python document
    content: Any  # bytes, or the document

    def write(self, folder: Path) -> Path:
        """Writes the file, or the document as Python prints it."""
        path = folder / f"mutant{self.suffix or '.txt'}"
        path.write_bytes(self.content if self.suffix else ascii(self.content)[:1_000_000].encode())
        return path


NUMBERS = [
    *("0", "-0", "-1", "1", "2", "3", "0.5", "1e-400", "1e400", "-1e400", "1e308", "9e15", "2147483648", "-2147483649"),
    *("4294967296", "18446744073709551617", ".nan", ".inf", "0x1F", "0o17", "0540", "1_000", "1:30", "24:01", "99:99"),
    *("1e999999999", f"0.{'0' * 400}1", "9" * 18, "9" * 310, f"-{'9' * 5000}"),
]
USUAL = ["0", "1", "2", "5", "0.5", "7.25", "20", "60", "100", "101", "500", "1000", "1440", "1441", "32767", "1048576"]
TOKENS = [
    *("null", "~", "true", "yes", "[]", "{}", "[[]]", "{a:1}", "-", ":", ",", "?", "|", ">", "&", "*", "!", "%", "@"),
    *("`", "#", "---", "...", "<<", "=", "\t", "\n", "\n  ", "\r", "''", '""', '"', "'", "\\", "[1,2", "{", "}", "]"),
    *("!!int ", "!!bool ", "!!timestamp ", "!!python/name:os.system ", "!x ", "!!binary ", "&a ", "*a ", "<<: *a"),
    *("2020-01-01", "{a: {b: 1e400}}", "\x00", "\x07", "\ufeff", "\u2028", "\x85", '"\\ud800"', '"\\0"', "{? [a] : 1}"),
]
TEXTS = [
    *("", " ", "\x00", "a\x1b[31m", "é😀", "\ufffe", "x" * 70, "w " * 1000, "y" * 50_000),
    *("agent_0", "text 2000", "focus_1", "{x}", "--- a", "# b", "null", "1e3", "a: b", "\u2028", "\x85\n"),
]
LEAVES = [None, True, 0, -1, 1, 2, 0.1, 1e18, 10**18, "Home", "e1", *TEXTS]
LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
DUMPER = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
ODD_KEYS: list[Any] = [None, 3, 1.5, True, ("a", 1), b"a", float("nan"), "\ud800", ""]


def mutants(seed: int) -> Iterator[tuple[str, Mutant]]:
    """Mutants without end, each with the name of its class; the same seed gives the same ones."""
    number, files, kinds = 0, _files(), list(CLASSES)
    while True:
        dice = random.Random(f"{seed} {number}")
        kind = kinds[number % len(kinds)]
        yield kind, CLASSES[kind](dice, *dice.choice(files))
        number += 1


def _files() -> list[tuple[str, str]]:
    """The environment and the text of each document that is shipped."""
    return [
        (name, path.read_text("utf-8"))
        for name in ENVIRONMENTS
        for path in [*sorted((SHIPPED / name).glob("*.yaml")), SHIPPED / f"{name}.example.yaml"]
    ]


def _bytes(dice: random.Random, environment: str, text: str) -> Mutant:
    """Bytes that are changed, left out, repeated or cut off."""
    suffix, text = _as_file(dice, text)
    content = bytearray(text.encode())
    for _ in range(dice.choice((1, 1, 2, 5, 20))):
        start = dice.randrange(len(content) + 1)
        end = min(len(content), start + dice.choice((1, 1, 4, 50)))
        other = dice.randrange(len(content) + 1)
        content[start:end] = dice.choice(
            (b"", content[start:end] * 2, bytes([dice.randrange(9, 127)]), content[other : other + 30], b"\xc3\xa9")
        )
        if dice.random() < 0.02:
            content[start:] = bytes([dice.randrange(256)])
    return Mutant(environment, suffix, bytes(content))


def _tokens(dice: random.Random, environment: str, text: str) -> Mutant:
    """Words and signs that are swapped, left out, repeated or replaced."""
    suffix, text = _as_file(dice, text)
    tokens = re.findall(r"[\w.]+|\s+|.", text)
    for _ in range(dice.choice((1, 1, 2, 4, 10))):
        place, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        tokens[place] = dice.choice((dice.choice(TOKENS), dice.choice(TOKENS), tokens[other], "", tokens[place] * 2))
    return Mutant(environment, suffix, "".join(tokens).encode("utf-8", "replace"))


def _numbers(dice: random.Random, environment: str, text: str) -> Mutant:
    """Numbers that are too large, too long, not finite or written in another way."""
    suffix, text = _as_file(dice, text)
    found = list(re.finditer(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])", text))
    for match in sorted(dice.sample(found, min(len(found), dice.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
        text = text[: match.start()] + dice.choice(NUMBERS if dice.random() < 0.4 else USUAL) + text[match.end() :]
    return Mutant(environment, suffix, text.encode())


def _structure(dice: random.Random, environment: str, text: str) -> Mutant:
    """Records and fields that are moved, left out, renamed, repeated or wrapped."""
    document = _document(text)
    for _ in range(dice.choice((1, 1, 2, 4))):
        document = _changed(dice, document, _rearranged)
    return Mutant(environment, *_written(dice, document))


def _hostile_values(dice: random.Random, environment: str, text: str) -> Mutant:
    """Values of another kind, and text that is empty, odd or long."""
    document = _document(text)
    for _ in range(dice.choice((1, 1, 2))):
        document = _changed(dice, document, lambda dice, value: _value(dice))
    return Mutant(environment, *_written(dice, document))


def _scale(dice: random.Random, environment: str, text: str) -> Mutant:
    """Lists and mappings of hundreds of entries, wrong names by the hundred, deep nesting and aliases."""
    many = dice.choice((30, 300, 2000))
    if dice.random() < 0.2:
        levels = dice.choice((5, 9, 30, 3000))
        bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, min(levels, 30)))
        deep = "[" * levels + dice.choice(("", "]" * levels))
        return Mutant(environment, dice.choice((".yaml", ".json")), dice.choice((bomb, deep, text + bomb)).encode())

    def grown(dice: random.Random, value: Any) -> Any:
        if isinstance(value, list):
            items = [value[n % len(value)] if value else "x" for n in range(many)]
            rename = dice.random() < 0.7
            return [
                {**item, **_fresh(item, n)} if rename and isinstance(item, dict) else item
                for n, item in enumerate(items)
            ]
        if isinstance(value, dict):
            return {**value, **{f"{dice.choice(('x', 'key_', 'y' * 100))}{n}": _leaf(dice) for n in range(many)}}
        return [f"{value}_{n}" for n in range(many)]

    return Mutant(environment, *_written(dice, _changed(dice, _document(text), grown)))


def _python(dice: random.Random, environment: str, text: str) -> Mutant:
    """Python documents: cycles, keys and values of odd kinds, mappings that raise."""
    document = _document(text)

    def odd(dice: random.Random, value: Any) -> Any:
        if isinstance(value, dict) and dice.random() < 0.6:
            found: dict[Any, Any] = dict(value)
            found[dice.choice(ODD_KEYS)] = found if dice.random() < 0.3 else 1
            return found
        if isinstance(value, list) and dice.random() < 0.5:
            items: list[Any] = list(value)
            items.append(items)
            return dice.choice((tuple(value), items))
        return dice.choice(ODD_VALUES)()

    for _ in range(dice.choice((1, 1, 2))):
        document = _changed(dice, document, odd)
    return Mutant(environment, "", document)


class Raising(Mapping):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("\ud800 no keys")

    def __len__(self) -> int:
        return 10**9


class Word(str):
    """Text with habits of its own."""

    __slots__ = ()

    def __len__(self) -> int:
        return -1

    def __eq__(self, other: object) -> bool:
        raise TypeError

    __hash__ = str.__hash__


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def _cycle() -> Any:
    value: dict[str, Any] = {}
    value["a"] = [value, value]
    return value


ODD_VALUES: list[Callable[[], Any]] = [
    *(functools.partial(copy.copy, value) for value in (None, math.nan, -math.inf, 10**309, -(16**9000), 1 << 63, 1j)),
    *(
        functools.partial(copy.copy, value)
        for value in (b"\xff", "\ud800", "\x00", {1, 2}, range(3), type, Word("home"))
    ),
    *(object, Raising, _cycle, lambda: {"a": Raising()}, lambda: iter([1]), lambda: {n: n for n in range(3)}),
    *(lambda: _nested(15), lambda: _nested(3000), lambda: [[]] * 200_000, lambda: ["x" * 1000] * 5000),
]

CLASSES: dict[str, Callable[[random.Random, str, str], Mutant]] = {
    "bytes": _bytes,
    "tokens": _tokens,
    "numbers": _numbers,
    "structure": _structure,
    "values": _hostile_values,
    "scale": _scale,
    "Python documents": _python,
}


def _document(text: str) -> Any:
    """A shipped text as plain values."""
    return yaml.load(text, LOADER)


def _as_file(dice: random.Random, text: str) -> tuple[str, str]:
    """The suffix and the text of a file, as YAML or as JSON."""
    if dice.random() < 0.7:
        return ".yaml", text
    return ".json", json.dumps(_document(text), indent=dice.choice((None, 1)), default=str)


def _written(dice: random.Random, document: Any) -> tuple[str, bytes]:
    """The suffix and the bytes of a document."""
    if dice.random() < 0.5:
        return ".json", json.dumps(document, default=str).encode()
    text = yaml.dump(
        document, Dumper=yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper, allow_unicode=True
    )
    return ".yaml", text.encode("utf-8", "replace")


def _changed(dice: random.Random, value: Any, change: Callable[[random.Random, Any], Any]) -> Any:
    """The value with one part changed, which may be the value itself."""
    if not isinstance(value, dict | list) or not value or dice.random() < 0.15:
        return change(dice, value)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key = dice.choice(keys)
    copy[key] = _changed(dice, value[key], change)
    return copy


def _rearranged(dice: random.Random, value: Any) -> Any:
    """A part that is wrapped, emptied, repeated, renamed or shuffled."""
    if isinstance(value, dict) and value:
        key = dice.choice(list(value))
        rest = {name: item for name, item in value.items() if name != key}
        renamed = {**rest, _misspelt(dice, str(key)): value[key]}
        return dice.choice(
            (rest, renamed, {**value, str(key) + "x": value[key]}, [value], list(value.items()), {key: value})
        )
    if isinstance(value, list) and value:
        return dice.choice((value[:-1], value * 2, value[::-1], value[0], {"a": value}, [value], []))
    return dice.choice(([value], {"a": value}, [], None, str(value), _misspelt(dice, str(value))))


def _misspelt(dice: random.Random, word: str) -> str:
    """A word with two characters in another order."""
    place = dice.randrange(len(word) + 1)
    return word[:place] + word[place + 1 : place + 2] + word[place : place + 1] + word[place + 2 :]


def _value(dice: random.Random) -> Any:
    return dice.choice(
        (_leaf(dice), _leaf(dice), [_leaf(dice)], {"a": _leaf(dice)}, {"op": "eq", "value": _leaf(dice)})
    )


def _leaf(dice: random.Random) -> Any:
    return (
        dice.choice((None, True, 0, -1, 1, 2, 0.1, 1e18, 10**18, "Home", "e1", *TEXTS))
        if dice.random() < 0.95
        else 2**70
    )


def _fresh(item: dict, number: int) -> dict:
    """Names of an item's own."""
    return {key: f"{value}_{number}" for key, value in item.items() if key == "id" or str(key).endswith("_id")}


def load(mutant: Mutant, folder: Any) -> scenarios.Library:
    """The library of a mutant."""
    if not mutant.suffix:
        return scenarios.parse(mutant.environment, [mutant.content])
    return scenarios.load(mutant.write(folder))
