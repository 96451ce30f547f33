"""Odd scenario files and Python documents: each loads, or is refused in a few plain lines.

Mutants are made of every document that jaxenv ships: of its bytes, tokens, numbers, structure, values and size.
"""

import functools
import itertools
import json
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import scenarios
from lab.fuzz import edits, junk
from lab.fuzz.judging import Fault, check_message, stopped
from scenarios.libraries import SHIPPED
from scenarios.loading import ENVIRONMENTS

SECONDS = 2.0  # of computing, for one mutant
SECONDS_PER_BYTE = 6e-6  # where that is more: YAML is read by a parser in Python
MAX_REREAD = 100_000  # characters of a document that is written and read again


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


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded.

    Raises:
        Fault: for whatever else comes of it.
    """
    _prepare()
    with stopped():
        start = time.thread_time()
        try:
            library = load(mutant, folder)
        except scenarios.ScenarioError as error:
            message = str(error)
            _check_problems(error, str(folder) if mutant.suffix else "document 1")
        else:
            message = ""
            _check_library(library)
        size = len(mutant.content) if mutant.suffix else 0
        if (seconds := time.thread_time() - start) > max(SECONDS, SECONDS_PER_BYTE * size):
            raise Fault(f"{'refused' if message else 'loaded'} after {seconds:.1f} s")
    return message


def _check_problems(error: scenarios.ScenarioError, where: str) -> None:
    """They are short, can be printed, and name their file, a line each."""
    message = str(error)
    check_message(message)
    if message.splitlines() != list(error.problems):
        raise Fault(f"problems that are not a line each: {message!r}")
    if stray := [problem for problem in error.problems if not problem.startswith(where)]:
        raise Fault(f"a problem without its file: {stray[0]!r}")
    if "cannot be read" in message and where != "document 1":
        raise Fault(f"not in plain words: {message!r}")


def _check_library(library: scenarios.Library) -> None:
    """Loaded scenarios can be shown, and stay the same when they are written and read again."""
    for id, warning in itertools.zip_longest(library.ids, library.warnings, fillvalue=""):
        f"{id}{warning}{library.page(id) if id else ''}".encode()
    text = scenarios.dump(library.documents)
    if len(text) > MAX_REREAD:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if scenarios.load(file.name, environment=library.environment).documents != library.documents:
            raise Fault("it is not the same when it is written and read again")


@functools.cache
def _prepare() -> None:
    """Compiles the programs that only the first scenario waits for."""
    for name in ENVIRONMENTS:
        _check_library(scenarios.load(SHIPPED / f"{name}.example.yaml"))


def load(mutant: Mutant, folder: Path) -> scenarios.Library:
    """The library of a mutant."""
    if not mutant.suffix:
        return scenarios.parse(mutant.environment, [mutant.content])
    return scenarios.load(mutant.write(folder))


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
LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
DUMPER = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper


def _shipped(dice: random.Random) -> tuple[str, str]:
    """The environment and the text of a document that is shipped."""
    return dice.choice(_files())


@functools.cache
def _files() -> list[tuple[str, str]]:
    return [
        (name, path.read_text("utf-8"))
        for name in ENVIRONMENTS
        for path in [*sorted((SHIPPED / name).glob("*.yaml")), SHIPPED / f"{name}.example.yaml"]
    ]


def _of_text(dice: random.Random, change: Callable[[random.Random, str], str | bytes]) -> Mutant:
    """The text of a file changed, as YAML or as JSON."""
    (environment, text), suffix = _shipped(dice), ".yaml"
    if dice.random() < 0.3:
        suffix, text = ".json", json.dumps(yaml.load(text, LOADER), indent=dice.choice((None, 1)), default=str)
    content = change(dice, text)
    return Mutant(environment, suffix, content.encode("utf-8", "replace") if isinstance(content, str) else content)


def _bytes(dice: random.Random, text: str) -> bytes:
    return dice.choice((edits.flipped, edits.flipped, edits.cut))(dice, text.encode())


def _tokens(dice: random.Random, text: str) -> str:
    """Words and signs that are swapped, left out, repeated or replaced."""
    tokens = re.findall(r"[\w.]+|\s+|.", text)
    for _ in range(dice.choice((1, 1, 2, 4, 10))):
        place, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        tokens[place] = dice.choice((dice.choice(TOKENS), dice.choice(TOKENS), tokens[other], "", tokens[place] * 2))
    return "".join(tokens)


def _numbers(dice: random.Random, text: str) -> str:
    """Numbers that are too large, too long, not finite or written in another way."""
    found = list(re.finditer(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])", text))
    for match in sorted(dice.sample(found, min(len(found), dice.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
        text = text[: match.start()] + dice.choice(NUMBERS if dice.random() < 0.4 else USUAL) + text[match.end() :]
    return text


def _of_document(dice: random.Random, *changes: Callable[[random.Random, Any], Any]) -> Mutant:
    """The values of a document changed, and written again."""
    environment, text = _shipped(dice)
    document = edits.changed(dice, yaml.load(text, LOADER), *changes)
    if dice.random() < 0.5:
        return Mutant(environment, ".json", json.dumps(document, default=str, skipkeys=True).encode())
    return Mutant(environment, ".yaml", yaml.dump(document, Dumper=DUMPER, allow_unicode=True).encode())


def _grown(dice: random.Random, value: Any) -> Any:
    """A list or mapping of hundreds of entries; half of the records have separate names."""
    many = dice.choice((30, 300, 2000))
    if isinstance(value, dict):
        return {**value, **{f"{dice.choice(('x', 'y' * 100))}{n}": dice.choice(edits.PLAIN) for n in range(many)}}
    if not isinstance(value, list) or not value:
        return [f"{value}_{n}" for n in range(many)]
    items = [value[n % len(value)] for n in range(many)]
    if dice.random() < 0.5 or not isinstance(value[0], dict):
        return items
    return [{k: f"{v}_{n}" if str(k).endswith("id") else v for k, v in item.items()} for n, item in enumerate(items)]


def _bomb(dice: random.Random, text: str) -> str:
    """Deep nesting, and aliases of aliases."""
    levels = dice.choice((5, 9, 30, 3000))
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, min(levels, 30)))
    return dice.choice((bomb, "[" * levels, "[" * levels + "]" * levels, text + bomb))


def _python(dice: random.Random) -> Mutant:
    """Python documents: cycles, keys and values of odd kinds, mappings that raise."""

    def odd(dice: random.Random, value: Any) -> Any:
        if isinstance(value, dict) and dice.random() < 0.6:
            found: dict[Any, Any] = dict(value)
            found[dice.choice(junk.KEYS)] = found if dice.random() < 0.3 else 1
            return found
        if isinstance(value, list) and dice.random() < 0.5:
            items: list[Any] = list(value)
            items.append(items)
            return dice.choice((tuple(value), items))
        return dice.choice(ODD_VALUES)(dice)

    environment, text = _shipped(dice)
    return Mutant(environment, "", edits.changed(dice, yaml.load(text, LOADER), odd))


ODD_VALUES: tuple[Callable[[random.Random], Any], ...] = (
    *(lambda dice: junk.odd_type(dice, {}), lambda dice: junk.mapping(dice, {}), lambda dice: dice.choice(junk.LEAVES)),
    *(lambda dice: 16**9000, lambda dice: [[]] * 200_000, lambda dice: ["x" * 1000] * 5000, lambda dice: iter([1])),
)

DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "bytes": functools.partial(_of_text, change=_bytes),
    "tokens": functools.partial(_of_text, change=_tokens),
    "numbers": functools.partial(_of_text, change=_numbers),
    "structure": lambda dice: _of_document(dice, edits.rearranged),
    "values": lambda dice: _of_document(dice, edits.replaced),
    "scale": lambda dice: _of_document(dice, _grown) if dice.random() < 0.8 else _of_text(dice, _bomb),
    "Python documents": _python,
}
