"""Banks in `.npz` files that nobody wrote: each is refused in a sentence, or holds the scenarios that were saved."""

import functools
import io
import random
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
from jaxenv.core import ScenarioBank, fields
from jaxenv.core.contents import require_within
from jaxenv.core.library import LibraryEnvironment
from lab.fuzz import edits
from lab.fuzz.judging import Fault, answered, check_sentence

SECONDS = 2.0  # of computing, for one mutant
ENVIRONMENTS = ("LifeOps-v0", "TeamsClone-v0")  # one with weights of starts, one with a table that scenarios share
MEGABYTES = 64  # that a bomb unpacks to


class Mutant(NamedTuple):
    """The bytes of a file."""

    environment: str
    content: bytes
    arrays: Any = None  # those that are right if it is loaded, where its fingerprint was made anew; else the original

    def write(self, folder: Path) -> Path:
        """Writes the file."""
        path = folder / "bank.npz"
        path.write_bytes(self.content)
        return path


@functools.cache
def original(environment: str) -> tuple[LibraryEnvironment, dict[str, np.ndarray], bytes]:
    """An environment, the arrays of its bank by name, and their file."""
    env, params = jaxenv.make(environment)
    assert isinstance(env, LibraryEnvironment)
    bank = params.bank if params.bank.shared is not None else params.bank.with_start_weights(jnp.ones(len(params.bank)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.npz"
        bank.save(path)
        env.params_for(ScenarioBank.load(path, env.empty_scenario))  # compiles what the first one alone waits for
        return env, dict(bank._named_leaves()), path.read_bytes()


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded as it should be.

    Raises:
        Fault: for whatever else comes of it.
    """
    env, arrays, _ = original(mutant.environment)
    path, where = mutant.write(folder), ""
    with answered(SECONDS):
        try:
            where = str(path)
            bank = ScenarioBank.load(path, env.empty_scenario)
            where = ""
            bank = env.params_for(bank).bank
        except ValueError as error:
            check_sentence(str(error), where)
            return str(error)
    padding = dict(ScenarioBank(env.empty_scenario)._named_leaves())
    _check_equal(bank, mutant.arrays or arrays, padding)
    require_within(fields.space(env.scenario_type, env.sizes), bank.scenarios)
    _check_starts(bank)
    return ""


def _check_equal(bank: ScenarioBank, right: dict[str, np.ndarray], padding: dict[str, np.ndarray]) -> None:
    """The numbers that were saved; a smaller shape is filled up with padding, and of a larger one it is cut off."""
    found = dict(bank._named_leaves())
    if found.keys() != right.keys():
        raise Fault("other arrays than those that were saved")
    for name, array in right.items():
        kept = array[tuple(map(slice, found[name].shape))]
        fill = padding[name].flat[0] if name in padding else 0
        is_whole = np.count_nonzero(array != fill) == np.count_nonzero(kept != fill)
        if not is_whole or not np.array_equal(found[name][tuple(map(slice, kept.shape))], kept):
            raise Fault(f"{name} is not what was saved")


def _check_starts(bank: ScenarioBank) -> None:
    """Weights of starts that an episode can be drawn from, and a table of numbers."""
    starts = bank.start_cdf
    if starts is not None and not (
        starts.shape == (bank.size,) and np.isfinite(starts).all() and (np.diff(starts) >= 0).all() and starts[-1] > 0
    ):
        raise Fault("start_cdf is not one")
    if bank.shared is not None and not np.isfinite(bank.shared).all():
        raise Fault("shared is not finite")


def _packed(arrays: dict[str, Any], *, compression: int = zipfile.ZIP_DEFLATED, suffix: str = ".npy") -> bytes:
    """Arrays, or the bytes of members, as an archive; written like `numpy.savez`, which refuses what is odd."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}{suffix}", array if isinstance(array, bytes) else _npy(array))
    return file.getvalue()


def _npy(array: np.ndarray) -> bytes:
    """An array as the bytes of a `.npy` file."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=np.asarray(array).dtype.hasobject)
    return file.getvalue()


def _members(environment: str) -> dict[str, Any]:
    """The arrays of the original with its fingerprint."""
    _, arrays, content = original(environment)
    return {**arrays, "fingerprint": np.load(io.BytesIO(content))["fingerprint"]}


def _sealed(environment: str, arrays: dict[str, Any]) -> Mutant:
    """Arrays under a fingerprint that is theirs."""
    env = original(environment)[0]
    leaves, structure = jax.tree_util.tree_flatten_with_path(env.empty_scenario)
    names = [".".join(str(part).lstrip(".") for part in path) for path, _ in leaves]
    others = {name: array for name, array in arrays.items() if name not in names}
    bank = ScenarioBank(jax.tree.unflatten(structure, [arrays[name] for name in names]), **others)
    return Mutant(environment, _packed({**arrays, "fingerprint": np.array(bank.fingerprint())}), arrays)


def _missing(dice: random.Random, environment: str) -> Mutant:
    """Members that are left out, added, renamed, exchanged or there twice."""
    members = _members(environment)
    for _ in range(dice.choice((1, 1, 2))):
        name, other = dice.choice(list(members)), dice.choice(list(members))
        rest = {key: value for key, value in members.items() if key != name}
        odd = dice.choice(("x" * 60_000, "\x1b[31m", "../a", "a/", "é", f"{name}.npy", f"{name}2", "shared"))
        members = dice.choice(
            (
                *(rest, {**rest, odd: members[name]}, {**members, odd: members[name]}),
                *({**members, name: members[other]}, {**members, name: members[other], other: members[name]}),
                {**members, **{f"x{n}": members[name] for n in range(300)}},
            )
        )
    how = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    return Mutant(environment, _packed(members, compression=how, suffix=dice.choice((".npy",) * 5 + ("", ".NPY"))))


def _headers(dice: random.Random, environment: str) -> Mutant:
    """What a member says of itself: magic, version, length, dtype, order and shape."""
    members = _members(environment)
    name = dice.choice(list(members))
    content = bytearray(_npy(members[name]))
    length = struct.unpack("<H", content[8:10])[0]
    header = content[10 : 10 + length].decode()
    kind = dice.choice(("'|O'", "'<f8'", "'>i2'", "'|V9'", "'<U900000000'", "[('a', '<i4')]", "'<M8[s]'", "'x'", "3"))
    sizes = ("()", "(-1,)", "(12, 10**9)", "(99999999999999999999,)", f"({'9' * 5000},)", "(True,)", "(2.5,)", "3")
    big = dice.choice(("(2000000000,)", "(12, 4096, 4096)", "(4294967296, 4294967296)", f"({'1, ' * 64})"))
    descr, order, shape = (header.index(f"'{word}': ") + len(word) + 4 for word in ("descr", "fortran_order", "shape"))
    header = dice.choice(
        (
            *(header[:descr] + kind + header[header.index(",", descr) :], header[:order] + "True, 'shape': (12,), }"),
            *(header[:shape] + size + ", }" for size in (dice.choice(sizes), big)),
            *("(" * 3000, "{}", "{'descr'", "__import__('os')", " " * 20_000, "{1: 2}", f"{header[:-2]}" * 3, "\x00"),
        )
    )
    version = dice.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    count = len(header) if dice.random() < 0.9 else dice.choice((0, 65535))
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", count)
    magic = b"\x93NUMPY" if dice.random() < 0.95 else b"PK\x03\x04\x00\x00"
    return Mutant(environment, _packed({**members, name: magic + version + size + header.encode() + content[128:]}))


def _arrays(dice: random.Random, environment: str) -> Mutant:
    """Arrays of other dtypes, shapes and numbers, under the fingerprint of the original or their own."""
    arrays = dict(original(environment)[1])
    for _ in range(dice.choice((1, 1, 2))):
        name = dice.choice([*arrays, "shared", "start_cdf"])
        arrays[name] = _other_array(dice, np.asarray(arrays.get(name, np.zeros(3, np.float32))))
    if dice.random() < 0.5 or any(np.asarray(each).dtype.hasobject for each in arrays.values()):
        fingerprint = dice.choice((_members(environment)["fingerprint"], np.array("x" * 100_000), np.zeros(3000)))
        return Mutant(environment, _packed({**arrays, "fingerprint": fingerprint}))
    return _sealed(environment, arrays)


def _other_array(dice: random.Random, array: np.ndarray) -> Any:
    """An array with a number, the dtype or the shape changed."""
    kinds = (np.int64, np.float64, np.float16, np.uint8, np.bool_, np.complex64, "S3", "U2", "M8[s]", ">i4", object)
    extreme = (np.nan, np.inf, -1.0) if array.dtype.kind == "f" else (2**31 - 1, -1, 100, 0)
    if not array.size or array.dtype.kind not in "biuf":
        return array  # it was changed already
    several = np.atleast_1d(array).copy()
    with np.errstate(all="ignore"):
        several.flat[dice.randrange(several.size)] = np.array(dice.choice(extreme)).astype(several.dtype)
        others: list[Callable[[], Any]] = [
            *(lambda: several, lambda: several, lambda: several),
            lambda: array.astype(dice.choice(kinds)),
            *(lambda: several[:-1], lambda: several[:0], lambda: array[None], lambda: array.T, lambda: several[::-1]),
            *(lambda: array.ravel(), lambda: array.reshape(-1)[0], lambda: several[..., :0]),
            lambda: np.repeat(several, 2, axis=-1),
            lambda: np.full_like(array, extreme[0] if array.dtype.kind == "f" else 1),
        ]
        return dice.choice(others)()


def _values(dice: random.Random, environment: str) -> Mutant:
    """Numbers out of the spaces under a fingerprint of their own, and booleans that are neither."""
    arrays = {name: np.array(array) for name, array in original(environment)[1].items()}
    for _ in range(dice.choice((1, 1, 3))):
        array = arrays[dice.choice(list(arrays))]
        raw = array.view(np.uint8).reshape(-1) if array.dtype == bool else array.reshape(-1)
        low, high = (0, 255) if array.dtype == bool else (-1e9, 1e9)
        if array.dtype.kind in "iu":
            low, high = int(np.iinfo(array.dtype).min), int(np.iinfo(array.dtype).max)
        number = dice.choice((low, high, dice.uniform(low, high), 2, 1, 0))
        raw[dice.randrange(raw.size)] = number if array.dtype.kind == "f" else int(number)
    return _sealed(environment, arrays)


def _other_files(dice: random.Random, environment: str) -> Mutant:
    """Files of another kind, archives of much more than they weigh, of a great many members, or of archives."""
    members, size = _members(environment), MEGABYTES * 2**20
    name = dice.choice([name for name in members if name != "fingerprint"])
    array = members[name]
    lying = _npy(np.zeros(3, array.dtype)).replace(b"(3,)", b"(3000000,)")
    choices: list[Callable[[], bytes]] = [
        *(lambda: _npy(array), lambda: b"a: 1\n", lambda: b"\x1f\x8b" * 9, lambda: b"PK\x05\x06" + bytes(18)),
        lambda: _packed({}),
        lambda: _packed({**members, name: bytes(size)}),
        lambda: _packed({**members, name: _npy(array) + bytes(size)}),
        lambda: _packed({**members, name: np.zeros((size // max(1, array[:1].nbytes), *array.shape[1:]), array.dtype)}),
        lambda: _packed({**members, name: lying}),
        lambda: _packed({**members, **{f"x{n}": b"" for n in range(3000)}}),
        lambda: _packed({**members, **{f"x{n}": _npy(np.zeros(1)) for n in range(3000)}}),
        lambda: _packed({**members, name: original(environment)[2]}),
        lambda: original(next(other for other in ENVIRONMENTS if other != environment))[2],
        lambda: _packed({**members, name: np.array([{}], object)}),
    ]
    return Mutant(environment, dice.choice(choices)())


_MUTATORS: dict[str, Callable[[random.Random, str], Mutant]] = {
    "flipped": lambda dice, env: Mutant(env, edits.flipped(dice, original(env)[2])),
    "cut": lambda dice, env: Mutant(env, edits.cut(dice, original(env)[2])),
    "members": _missing,
    "headers": _headers,
    "arrays": _arrays,
    "values, sealed": _values,
    "other files": _other_files,
}
CLASSES = tuple(_MUTATORS)


def mutants(seed: int) -> Iterator[tuple[str, Mutant]]:
    """Mutants without end, each with the name of its class; the same seed gives the same ones."""
    for number, (kind, mutate) in edits.in_turns(_MUTATORS):
        dice = random.Random(f"{seed} {number}")
        yield kind, mutate(dice, dice.choice(ENVIRONMENTS))
