"""Optimized HLO text, and counts of its parts: kernels, gathers, and the bytes of arrays with their padding."""

import collections
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

BITS = {"pred": 8, "bf16": 16, "token": 0, "opaque": 0}  # others end with their bits: s8, f32, u16
# Operations that are names for something else, not work.
FREE = {
    *("parameter", "tuple", "get-tuple-element", "constant", "bitcast", "after-all", "add-dependency"),
    *("partition-id", "replica-id", "opt-barrier", "domain"),
}
ASYNC = ("-start", "-update", "-done")  # copies beside the work, such as a TPU's between its memories
COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-<>]+) \(.*\) -> .*\{\s*$")
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-<>]+ = (.*?) ([a-z][\w\-]*)\((.*)$")


class Array(NamedTuple):
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
        tile = _numbers(_find(r"T\(([\d,]+)\)", self.layout))
        order = _numbers(_find(r"^\{([\d,]+)", self.layout))
        dims = [self.dims[i] for i in reversed(order)] if order else list(self.dims)  # major to minor
        dims = [1] * (len(tile) - len(dims)) + dims
        for k in range(1, len(tile) + 1):
            dims[-k] = -(-dims[-k] // tile[-k]) * tile[-k]
        return math.prod(dims) * int(_find(r"E\((\d+)\)", self.layout) or _bits(self.dtype)) / 8


class Instruction(NamedTuple):
    """One line of a computation."""

    shape: str
    op: str
    rest: str  # operands and attributes

    @property
    def arrays(self) -> list[Array]:
        """The results: one array, or those of a tuple."""
        found = re.findall(r"\b([a-z]\w*)\[([\d,<=]*)\](\{[^{}]*\})?", self.shape)
        return [Array(dtype, tuple(_numbers(dims.replace("<=", ""))), layout) for dtype, dims, layout in found]

    def calls(self, *keys: str) -> list[str]:
        """The computations that it runs, by the attributes that name them; `branches` are those of a conditional."""
        found = [name for key in keys for name in re.findall(rf"\b{key}=%?([\w.\-<>]+)", self.rest)]
        listed = _find(r"branch_computations=\{([^}]*)\}", self.rest) if "branches" in keys else ""
        return found + re.findall(r"%([\w.\-<>]+)", listed)


BRANCHES = ("branches", "true_computation", "false_computation")


class Module(NamedTuple):
    """A compiled program: its computations by name, and which one it starts with."""

    computations: Mapping[str, list[Instruction]]
    entry: str

    def reached(self, name: str) -> Iterator[str]:
        """A computation and those that it calls or fuses."""
        yield name
        for instruction in self.computations[name]:
            for called in instruction.calls("calls", "to_apply", "body", "condition", *BRANCHES):
                if called in self.computations:
                    yield from self.reached(called)

    def trips(self, loop: Instruction) -> int | None:
        """How often a `while` runs, where the compiler knows it."""
        if known := _find(r'known_trip_count"?[=:]\s*\{"?n"?[=:]\s*"?(\d+)', loop.rest):
            return int(known)
        condition = [i for name in self.reached(loop.calls("condition")[0]) for i in self.computations[name]]
        limits = [i.rest.partition(")")[0] for i in condition if i.op == "constant" and i.shape.startswith("s32[]")]
        return max(map(int, limits), default=None)

    def step_body(self, trips: int) -> str | None:
        """The body of the outermost loop that runs so many times."""
        every = (instruction for name in self.reached(self.entry) for instruction in self.computations[name])
        loops = (each for each in every if each.op == "while" and self.trips(each) == trips)
        return next((loop.calls("body")[0] for loop in loops), None)

    def launches(self, name: str) -> Iterator[tuple[Instruction, int]]:
        """Every operation that runs on its own (a kernel or a call), with how often it does in one run of `name`.

        Fusions count as one. Of a conditional all branches count, and of a loop of unknown length one round.
        """
        inner = {"while": ("body",), "conditional": BRANCHES, "call": ("to_apply", "calls")}
        for instruction in self.computations[name]:
            if instruction.op in FREE or instruction.op.endswith(ASYNC):
                continue
            called = instruction.calls(*inner.get(instruction.op, ()))
            if not called:
                yield instruction, 1
            times = (self.trips(instruction) or 1) if instruction.op == "while" else 1
            for each in called:
                yield from ((found, count * times) for found, count in self.launches(each))


class Counts(NamedTuple):
    """The operations of a computation in one run."""

    launches: int
    kinds: Mapping[str, int]  # operation -> launches
    gathers: int  # within fusions too: on a TPU each runs serially over its indices
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
    gathers = sum(i.op == "gather" for reached in set(module.reached(name)) for i in module.computations[reached])
    return Counts(kinds.total(), dict(kinds.most_common()), gathers, logical, padded)


def parse(text: str) -> Module:
    """Reads the text of a compiled program.

    >>> import jax, jax.numpy as jnp
    >>> module = parse(jax.jit(lambda x: jnp.sort(x)[::2]).lower(jnp.zeros(8)).compile().as_text())
    >>> "sort" in {instruction.op for name in module.computations for instruction in module.computations[name]}
    True
    """
    computations: dict[str, list[Instruction]] = {}
    entry, current = "", []
    for line in text.splitlines():
        if head := COMPUTATION.match(line):
            current = computations.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif found := INSTRUCTION.match(line):
            current.append(Instruction(*found.groups()))
    return Module(computations, entry)


def _bits(dtype: str) -> int:
    return BITS[dtype] if dtype in BITS else int(_find(r"^[a-z]+(\d+)", dtype) or 32)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def _find(pattern: str, text: str) -> str:
    """The first group of the first match, or nothing."""
    found = re.search(pattern, text)
    return found[1] if found else ""
