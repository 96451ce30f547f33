"""Damaged banks in `.npz` files: each is refused in a sentence, or holds the scenarios that were saved."""

import functools
import io
import random
import re
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
from jaxenv.core import ScenarioBank, fields
from jaxenv.core.contents import require_within
from jaxenv.core.environment import LibraryEnvironment
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
        env.params_for(ScenarioBank.load(path, env.empty_scenario))  # compiles for the first call
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
    if bank.start_table is not None:
        starts = np.asarray(bank.start_probabilities)
        if starts.shape != (bank.size,) or not np.isfinite(starts).all() or (starts < 0).any():
            raise Fault("start_table is not one")
    if bank.shared is not None and not np.isfinite(bank.shared).all():
        raise Fault("shared is not finite")


def packed(arrays: dict[str, Any], *, compression: int = zipfile.ZIP_DEFLATED, suffix: str = ".npy") -> bytes:
    """Arrays, or the bytes of members, as an archive; written like `numpy.savez`, which refuses odd arrays."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, array in arrays.items():
            place = f"{name}{suffix}".replace("\x00", "") or "0"  # which the archive cannot have in a name
            content = array if isinstance(array, bytes) else npy(array)
            archive.writestr(zipfile.ZipInfo(place), content, compression)  # dated 1980, not now
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
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
    structure = jax.tree.structure(env.empty_scenario)
    names = dict(ScenarioBank(env.empty_scenario)._named_leaves())
    others = {name: array for name, array in arrays.items() if name not in names}
    bank = ScenarioBank(jax.tree.unflatten(structure, [arrays[name] for name in names]), **others)
    return Mutant(environment, packed({**arrays, "fingerprint": np.array(bank.fingerprint())}), arrays)


HEADERS = (
    *("'descr': '|O'", "'descr': '>i2'", "'descr': '<U900000000'", "'descr': [('a', '<i4')]", "'descr': 3", "True"),
    *("(-1,)", "(2000000000,)", "(4294967296, 4294967296)", "(99999999999999999999,)", "(2.5,)", f"({'9' * 5000},)"),
    *("(" * 3000, "{}", "__import__('os')", " " * 20_000, "\x00"),
)
"""The replacement for a header's dtype, order or shape, or for all of it."""


def _members_changed(dice: random.Random, environment: str) -> Mutant:
    """Members that are left out, added, renamed or exchanged, in an archive of any kind."""
    members = edits.rearranged(dice, _members(environment))
    how = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    return Mutant(environment, packed(members, compression=how, suffix=dice.choice((".npy",) * 5 + ("", ".NPY"))))


def _headers(dice: random.Random, environment: str) -> Mutant:
    """The header of a member: dtype, order, shape, version and length."""
    members = _members(environment)
    name, part = dice.choice(list(members)), dice.choice((r"'descr': '[^']*'", r"\(.*?\)", "False", ".+"))
    content = npy(members[name])
    header = re.sub(part, lambda _: dice.choice(HEADERS), content[10:128].decode(), count=1)
    size = len(header) if dice.random() < 0.9 else dice.choice((0, 65535))
    magic = b"\x93NUMPY" + dice.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x09\x00"))
    changed = magic + struct.pack("<H", size) + header.encode() + content[128:]
    return Mutant(environment, packed({**members, name: changed}))


def _arrays(dice: random.Random, environment: str, is_sealed: bool) -> Mutant:
    """Arrays of other dtypes, shapes and numbers, under the fingerprint of the original or their own."""
    arrays = dict(original(environment)[1])
    for _ in range(dice.choice((1, 1, 2))):
        name = dice.choice([*arrays, "shared", "start_table"])
        dtypes = (*edits.DTYPES, ">i4", *(() if is_sealed else (object,)))
        arrays[name] = edits.array(dice, arrays.get(name, np.zeros(3, np.float32)), dtypes)
    if is_sealed:
        return _sealed(environment, arrays)
    return Mutant(environment, packed({**_members(environment), **arrays}))


def _other_files(dice: random.Random, environment: str) -> Mutant:
    """Files of another kind, archives of much more than they weigh, of a great many members, or of archives."""
    members, size = _members(environment), MEGABYTES * 2**20
    name = dice.choice([name for name in members if name != "fingerprint"])
    array = members[name]
    lying = npy(np.zeros(3, array.dtype)).replace(b"(3,)", b"(3000000,)")
    choices: list[Callable[[], bytes]] = [
        *(lambda: npy(array), lambda: b"a: 1\n", lambda: b"PK\x05\x06" + bytes(18), lambda: packed({})),
        lambda: packed({**members, name: bytes(size)}),
        lambda: packed({**members, name: npy(array) + bytes(size)}),
        lambda: packed({**members, name: lying}),
        lambda: packed({**members, **{f"x{n}": b"" for n in range(3000)}}),
        lambda: packed({**members, name: original(environment)[2]}),
        lambda: original(next(other for other in ENVIRONMENTS if other != environment))[2],
    ]
    return Mutant(environment, dice.choice(choices)())


def _of_any(damage: Callable[[random.Random, str], Mutant]) -> Callable[[random.Random], Mutant]:
    """A damage to the bank of any environment."""
    return lambda dice: damage(dice, dice.choice(ENVIRONMENTS))


DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "flipped": _of_any(lambda dice, env: Mutant(env, edits.flipped(dice, original(env)[2]))),
    "cut": _of_any(lambda dice, env: Mutant(env, edits.cut(dice, original(env)[2]))),
    "members": _of_any(_members_changed),
    "headers": _of_any(_headers),
    "arrays": _of_any(functools.partial(_arrays, is_sealed=False)),
    "arrays, sealed": _of_any(functools.partial(_arrays, is_sealed=True)),
    "other files": _of_any(_other_files),
}
