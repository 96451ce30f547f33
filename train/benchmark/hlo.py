"""Optimized HLO text, and counts of its parts: kernels, gathers, and the bytes of arrays with their padding."""

import collections
import dataclasses
import functools
import math
import re
from collections.abc import Iterator, Mapping

BITS = {"pred": 8, "bf16": 16, "token": 0, "opaque": 0}  # others end with their bits: s8, f32, u16
# Operations that are names for something else, not work.
FREE = frozenset(
    {
        *("parameter", "tuple", "get-tuple-element", "constant", "bitcast", "after-all", "add-dependency"),
        *("partition-id", "replica-id", "opt-barrier", "domain"),
    }
)
ASYNC = ("-start", "-update", "-done")  # copies beside the work, such as a TPU's between its memories


@dataclasses.dataclass(frozen=True)
class Array:
    """An array's type and layout."""

    dtype: str
    dims: tuple[int, ...]
    layout: str  # as printed: {1,0:T(8,128)(2,1)S(1)}

    @property
    def logical(self) -> float:
        """Bytes of its elements."""
        return math.prod(self.dims) * _bits(self.dtype) / 8

    @property
    def padded(self) -> float:
        """Bytes that it occupies in tiles, as on a TPU; without tiles the same as `logical`.

        >>> Array("f32", (4096, 3), "{1,0:T(8,128)}").padded / Array("f32", (4096, 3), "").logical
        42.666666666666664
        """
        tile = [int(x) for x in _find(r"T\(([\d,]+)\)", self.layout).split(",") if x]
        order = [int(x) for x in _find(r"^\{([\d,]+)", self.layout).split(",") if x]
        dims = [self.dims[i] for i in reversed(order)] if order else list(self.dims)  # major to minor
        dims = [1] * (len(tile) - len(dims)) + dims
        for k in range(1, len(tile) + 1):
            dims[-k] = -(-dims[-k] // tile[-k]) * tile[-k]
        bits = int(_find(r"E\((\d+)\)", self.layout) or _bits(self.dtype))
        return math.prod(dims) * bits / 8

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One line of a computation."""

    name: str
    op: str
    shape: str
    rest: str  # operands and attributes

    @functools.cached_property
    def arrays(self) -> list[Array]:
        """The results: one array, or those of a tuple."""
        found = re.findall(r"\b([a-z]\w*)\[([\d,<=]*)\](\{[^{}]*\})?", self.shape)
        return [
            Array(dtype, tuple(int(n.replace("<=", "")) for n in dims.split(",") if n), layout)
            for dtype, dims, layout in found
        ]

    @property
    def source(self) -> str:
        """The path of JAX's names that it comes from."""
        return _find(r'op_name="([^"]*)"', self.rest)

    def calls(self, *keys: str) -> list[str]:
        """The computations that it runs, by the attributes that name them."""
        return [name for key in keys for name in re.findall(rf"\b{key}=%?([\w.\-<>]+)", self.rest)]

    @property
    def branches(self) -> list[str]:
        """The computations of a conditional."""
        listed = re.findall(r"%([\w.\-<>]+)", _find(r"branch_computations=\{([^}]*)\}", self.rest))
        return listed or self.calls("true_computation", "false_computation")


@dataclasses.dataclass(frozen=True)
class Module:
    """A compiled program: its computations by name, and which one it starts with."""

    computations: Mapping[str, list[Instruction]]
    entry: str

    def trips(self, loop: Instruction) -> int | None:
        """How often a `while` runs, where the compiler knows it."""
        known = _find(r'known_trip_count"?[=:]\s*\{"?n"?[=:]\s*"?(\d+)', loop.rest)
        if known:
            return int(known)
        limits = [
            int(found)
            for name in self.reached(loop.calls("condition")[0])
            for instruction in self.computations[name]
            if instruction.op == "constant" and (found := _find(r"^s32\[\][^=]* constant\((\d+)\)", _text(instruction)))
        ]
        return max(limits, default=None)

    def reached(self, name: str) -> Iterator[str]:
        """A computation and those that it calls or fuses."""
        yield name
        for instruction in self.computations[name]:
            for called in instruction.calls("calls", "to_apply", "body", "condition") + instruction.branches:
                if called in self.computations:
                    yield from self.reached(called)

    def step_body(self, trips: int) -> str | None:
        """The body of the outermost loop that runs so many times."""
        for name in self.reached(self.entry):
            for instruction in self.computations[name]:
                if instruction.op == "while" and self.trips(instruction) == trips:
                    return instruction.calls("body")[0]
        return None

    def launches(self, name: str) -> Iterator[tuple[Instruction, int]]:
        """Every operation that runs on its own (a kernel or a call), with how often it does in one run of `name`.

        Fusions count as one. Of a conditional all branches count, and of a loop of unknown length one round.
        """
        for instruction in self.computations[name]:
            if instruction.op in FREE or instruction.op.endswith(ASYNC):
                continue
            inner, times = [], 1
            if instruction.op == "while":
                inner, times = instruction.calls("body"), self.trips(instruction) or 1
            elif instruction.op == "conditional":
                inner = instruction.branches
            elif instruction.op == "call":
                inner = instruction.calls("to_apply", "calls")
            if not inner:
                yield instruction, 1
            for called in inner:
                yield from ((found, count * times) for found, count in self.launches(called))

    def gathers(self, name: str) -> int:
        """Gathers in a computation, within fusions too: on a TPU each runs serially over its indices."""
        return sum(i.op == "gather" for reached in set(self.reached(name)) for i in self.computations[reached])


def largest(module: Module, *, count: int = 12) -> list[tuple[Array, str, int]]:
    """The largest arrays of a program: (type, where in JAX the first comes from, how many instructions give one).

    They are the program's inputs and results. Those that do not live at the same time may share memory, and an array
    updated in place is one buffer with several instructions.
    """
    found: dict[str, tuple[Array, str, int]] = {}
    given = [i for i in module.computations[module.entry] if i.op == "parameter"]
    for instruction in [*given, *(each for each, _ in module.launches(module.entry))]:
        for array in instruction.arrays:
            first = found.get(str(array), (array, instruction.source, 0))
            found[str(array)] = (*first[:2], first[2] + 1)
    return sorted(found.values(), key=lambda each: -each[0].padded)[:count]


@dataclasses.dataclass(frozen=True)
class Counts:
    """The operations of a computation in one run."""

    launches: int
    kinds: Mapping[str, int]  # operation -> launches
    gathers: int
    logical: float  # bytes of the elements of all arrays that it makes
    padded: float  # bytes that these occupy

    @property
    def waste(self) -> float:
        """Bytes occupied over bytes of elements."""
        return self.padded / self.logical if self.logical else 1.0


def count(module: Module, name: str) -> Counts:
    """The counts of a computation."""
    kinds: collections.Counter[str] = collections.Counter()
    logical = padded = 0.0
    for instruction, times in module.launches(name):
        kinds[instruction.op] += times
        logical += times * sum(array.logical for array in instruction.arrays)
        padded += times * sum(array.padded for array in instruction.arrays)
    return Counts(sum(kinds.values()), dict(kinds.most_common()), module.gathers(name), logical, padded)


def parse(text: str) -> Module:
    """Reads the text of a compiled program.

    >>> import jax, jax.numpy as jnp
    >>> module = parse(jax.jit(lambda x: jnp.sort(x)[::2]).lower(jnp.zeros(8)).compile().as_text())
    >>> "sort" in {instruction.op for name in module.computations for instruction in module.computations[name]}
    True
    """
    computations: dict[str, list[Instruction]] = {}
    entry, current = "", None
    for line in text.splitlines():
        if current is None:
            head = re.match(r"^(ENTRY )?%?([\w.\-<>]+) \(.*\) -> .*\{\s*$", line)
            if head:
                current = computations.setdefault(head[2], [])
                entry = head[2] if head[1] else entry
        elif line.startswith("}"):
            current = None
        elif found := re.match(r"^\s+(?:ROOT )?%?([\w.\-<>]+) = ", line):
            current.append(_instruction(found[1], line[found.end() :]))
    return Module(computations, entry)


def _instruction(name: str, text: str) -> Instruction:
    end = _closing(text) + 1 if text.startswith("(") else text.index(" ")
    shape, rest = text[:end], text[end:].lstrip()
    op, _, rest = rest.partition("(")
    return Instruction(name, op.strip(), shape, rest)


def _closing(text: str) -> int:
    """Where the bracket that the text starts with closes."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return at
    raise ValueError(f"no closing bracket: {text[:80]}")


def _text(instruction: Instruction) -> str:
    return f"{instruction.shape} {instruction.op}({instruction.rest}"


def _bits(dtype: str) -> float:
    return BITS[dtype] if dtype in BITS else int(_find(r"^[a-z]+(\d+)", dtype) or 32)


def _find(pattern: str, text: str) -> str:
    """The first group of the first match, or nothing."""
    found = re.search(pattern, text)
    return found[1] if found else ""
