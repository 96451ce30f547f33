"""Values that no agent should answer with: of odd types, hostile, endless, or nearly an action."""

import decimal
import enum
import itertools
import json
import math
import numbers
import pathlib
import random
from collections import UserDict, UserString
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np


class Raising(Mapping):
    """A mapping of which one method, or each, raises."""

    def __init__(self, method: str, error: Exception) -> None:
        self.method, self.error = method, error

    def _raise(self, method: str) -> None:
        if self.method in (method, "all"):
            raise self.error

    def __getitem__(self, key: Any) -> Any:
        self._raise("getitem")
        return {"type": "idle", "action_type": "wait"}[key]

    def __iter__(self) -> Iterator[Any]:
        self._raise("iter")
        return iter(("type", "action_type"))

    def __len__(self) -> int:
        self._raise("len")
        return 2

    def __repr__(self) -> str:
        self._raise("repr")
        return "Raising"

    def __hash__(self) -> int:
        self._raise("hash")
        return 1

    def __eq__(self, other: object) -> bool:
        self._raise("eq")
        return self is other

    def items(self) -> Any:
        self._raise("items")
        return super().items()


class Lying(dict):
    """A dictionary whose methods say something else each time."""

    tick = itertools.count()

    def __len__(self) -> int:
        return 10**9

    def __iter__(self) -> Iterator[Any]:
        return iter([f"k{next(self.tick)}"])

    def __getitem__(self, key: Any) -> Any:
        return next(self.tick)

    def items(self) -> Any:
        return [("type", next(self.tick)), ("type", "idle"), ("a", "b", "c")][: next(self.tick) % 4]


class Endless(Mapping):
    """An endless mapping."""

    def __getitem__(self, key: Any) -> Any:
        return self

    def __iter__(self) -> Iterator[str]:
        return (f"k{number}" for number in itertools.count())

    def __len__(self) -> int:
        return 1


class Word(str):
    """Text whose methods raise, or lie."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")

    def __str__(self) -> str:
        raise ValueError("no")

    def __len__(self) -> int:
        return 3

    def encode(self, *_: Any, **__: Any) -> bytes:
        raise UnicodeError("no")

    def strip(self, *_: Any) -> str:
        return "{" * 10

    isascii = find = splitlines = strip  # pyright: ignore[reportAssignmentType]


class Number(int):
    """A number that changes with every read."""

    __hash__ = int.__hash__

    def __int__(self) -> int:
        raise OverflowError("no")

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        raise ValueError("no")

    __repr__ = __str__


class Whole:
    """A number by name alone."""

    def __int__(self) -> Any:
        return "3"


numbers.Integral.register(Whole)


class Masked:
    """An object that does not say of which class it is, or says another."""

    def __init__(self, kind: Any) -> None:
        object.__setattr__(self, "kind", kind)

    def __getattribute__(self, name: str) -> Any:
        kind = object.__getattribute__(self, "kind")
        if name == "__class__" and kind is not None:
            return kind
        raise RuntimeError(f"no {name}")


class Mood(enum.StrEnum):
    """Text by inheritance."""

    IDLE = "idle"


ERRORS = (ValueError, RuntimeError, KeyError, RecursionError, MemoryError, StopIteration, UnicodeError, OSError)
METHODS = ("all", "getitem", "iter", "len", "items", "repr", "hash", "eq")
HALF = "\ud800"
LEAVES: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**64), 10**400, 10**5000, 0.5, -0.0, 1e308, math.nan, math.inf),
    *("", " ", "\x00", "\x1b[31m", HALF, f"a{HALF}b", "é😀", "x" * 1001, "y" * 50_000, "null", "1e3", "👍"),
    *("channel-1", "channel-2", "msg-channel-1-1", "r1", "e1", "send_message", "accept_event", "inspect", "idle"),
    *([], {}, [[]], [1, "a"], {"a": {"b": {}}}, b"idle", (1, 2), {1, 2}, 3j, decimal.Decimal("1.5"), object()),
]
KEYS: list[Any] = [None, 3, 1.5, True, ("a", 1), b"a", math.nan, HALF, "", "type", "payload", "x" * 5000, Mood.IDLE]
FIELDS = (
    *("type", "payload", "content", "channelId", "messageId", "reaction", "action_type", "request_id", "event_id"),
    *("new_start_min", "duration_min", "route_id", "key", "target", "extra"),
)


def odd_type(dice: random.Random, legal: Any) -> Any:
    """Values that are neither text nor number nor mapping, or nearly one of them."""
    return dice.choice(
        (
            *(None, True, 1.0, math.nan, b"0", bytearray(b"0"), [0], (0,), {0}, range(3), object(), object, len),
            *(3j, decimal.Decimal(0), pathlib.Path("0"), iter("0"), Ellipsis, NotImplemented, type, json),
            *(np.int64(0), np.float32(0), np.zeros(3), np.array(10**6), np.str_("0"), jnp.int32(0), jnp.zeros(2)),
            *(UserString("0"), UserDict(legal), Mood.IDLE, lambda: 0, type("N" * 10**6, (), {})(), Whole()),
            *(Number(0), Masked(None), Masked(dict), Masked(str), Masked(int), Masked(3), memoryview(b"0")),
        )
    )


def number(dice: random.Random, legal: Any) -> Any:
    """Numbers beside, beyond and far beyond the catalogue."""
    return dice.choice((-1, -(10**9), 10**3, 10**6, 2**31, 2**63, 2**64, 10**400, 10**5000, -(10**5000), Number(7)))


def text(dice: random.Random, legal: Any) -> str:
    """Text without an action, with a broken one, or with too much of one."""
    known = json.dumps(legal)
    return dice.choice(
        (
            *("", " \n", "what now?", HALF, f"{HALF}{known}", "\x00", "é😀" * 50),
            *("9" * 6, "9" * 5000, "-1", "1e3", "٣"),
            *("x" * 20_000, "x" * 20_001, "x" * 10**6, "\n" * 20_000, " " * 19_999 + "z", "-" * 20_000),
            *("{" * 20_000, '{"a":' * 4000, "[" * 20_000, '{"":[' * 900 + "0," * 7000, '{"a":"' + "{" * 19_000),
            *('{"a":1e999999999}', '{"a":NaN}', '{"a":-Infinity}', '{"a":' + "9" * 19_000 + "}", '{"a":"\\ud800"}'),
            *(known[: dice.randrange(len(known))], known[dice.randrange(len(known)) :], known * 50, f"{known}{{"),
            *(known.replace('"', "'"), known.replace(":", ":" * 40), known.upper(), f'{{"{HALF}": {known}}}'),
            *('{"type":"idle","type":"wave"}', "{}", "{} " * 6000, '{"action_type":{}}', Word("0"), Word(known)),
        )
    )


def mapping(dice: random.Random, legal: Any) -> Any:
    """Mappings that raise, lie, have no end, contain themselves or are very deep or large."""
    error = dice.choice(ERRORS)("no" * dice.choice((1, 10**6)))
    circle: dict[str, Any] = dict(legal)
    circle[dice.choice(FIELDS)] = circle
    inside = dice.choice((Raising(dice.choice(METHODS), error), Lying(legal), Endless(), circle, nested(dice)))
    return dice.choice(
        (
            *(inside, inside, {**legal, dice.choice(FIELDS): inside}, {"type": "send_message", "payload": inside}),
            *({dice.choice(KEYS): dice.choice(LEAVES)}, {**legal, dice.choice(KEYS): 1}, UserDict({"type": inside})),
            *({f"k{n}": n for n in range(dice.choice((100, 60_000)))}, {"type": ["x"] * 60_000}, {"x" * 10**6: 1}),
            *({Word("type"): Word("idle")}, {Word(key): value for key, value in legal.items()}),
            {"type": "z" * 3 * 10**6},
            *({"action_type": Masked(None)}, {"type": Masked(dict)}, {"type": Number(3)}, {"payload": Whole()}),
        )
    )


def near(dice: random.Random, legal: Any) -> Any:
    """A legal action of which one field is another, too much or missing."""
    action, name = dict(legal), dice.choice((*legal, *legal, *FIELDS))
    inner = action.get("payload")
    if isinstance(inner, Mapping) and dice.random() < 0.6:
        changed = {**inner, dice.choice(("content", "channelId", "messageId", "reaction", "x")): dice.choice(LEAVES)}
        return {**action, "payload": changed}
    if dice.random() < 0.2:
        action.pop(name, None)
        return action
    action[name] = dice.choice(LEAVES)
    as_text = all(isinstance(value, str | int | float | None) for value in action.values()) and dice.random() < 0.3
    return f"So be it: {json.dumps(action)}" if as_text and _is_short(action) else action


def _is_short(action: Mapping[str, Any]) -> bool:
    return all(not isinstance(value, int) or abs(value) < 2**65 for value in action.values())


def nested(dice: random.Random) -> Any:
    """A value of many levels."""
    value: Any = 1
    for _ in range(dice.choice((19, 21, 300, 20_000))):
        value = [value] if dice.random() < 0.5 else {"a": value}
    return value


KINDS: dict[str, Callable[[random.Random, Any], Any]] = {
    "types": odd_type,
    "numbers": number,
    "texts": text,
    "mappings": mapping,
    "near actions": near,
}
"""Name -> (dice, a legal action) -> junk."""
