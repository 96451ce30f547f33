"""Banks in files, and other arrays: the declared contents of a `.npz` are checked before any array is read."""

import io
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from jaxenv.host.names import short
from jaxenv.host.regular_files import RefusedFile, open_regular, write_whole

MAX_BYTES = 4 * 2**30
"""Of all arrays; two million scenarios of two kilobytes."""

MAX_ARRAYS = 1000
"""Of a file; those of the environments have some thirty."""

FINGERPRINT = "fingerprint"

SUFFIX = ".npz"

Headers = dict[str, tuple[tuple[int, ...], np.dtype]]
"""Name of an array -> its shape and dtype."""


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], fingerprint: str) -> None:
    """Writes the arrays compressed, with their fingerprint, completely or not at all.

    Args:
        path: the file, or a link to it; a name that does not end in `.npz` gets that ending, as from NumPy.
        arrays: by name.
        fingerprint: of them all.

    Raises:
        OSError: with the name of the file; then a file that was there is as it was.
    """
    entries: dict[str, Any] = {**arrays, FINGERPRINT: np.array(fingerprint)}
    name = os.fspath(path)
    content = io.BytesIO()
    np.savez_compressed(content, **entries)
    write_whole(os.path.realpath(name if name.endswith(SUFFIX) else name + SUFFIX), content.getvalue())


def read_arrays(
    path: str | Path, scenario: Mapping[str, np.ndarray], others: tuple[str, ...], kind: str
) -> tuple[dict[str, np.ndarray], str]:
    """The arrays of a bank and its fingerprint.

    Args:
        path: the file.
        scenario: name -> array of one scenario, of any size: the required names, kinds of dtypes and ranks.
        others: names of optional arrays beside those.
        kind: the kind of bank, for error messages.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not a bank of such scenarios, or is damaged.
    """

    def check(found: Headers) -> None:
        """Names, dtypes, ranks and lengths."""
        arrays = {name: header for name, header in found.items() if name not in (FINGERPRINT, *others)}
        foreign = f"{path} is not a bank of {kind}"
        if wrong := [name for name in others if name in found and found[name][1].kind not in "biuf"]:
            raise BankFileError(f"{foreign}: {wrong[0]} is {found[wrong[0]][1]}, expected numbers")
        if differing := sorted(arrays.keys() ^ scenario.keys()):
            raise BankFileError(f"{foreign}: it differs in {_few(differing)}")
        for name, (shape, dtype) in arrays.items():
            expected = scenario[name]
            if dtype.kind != expected.dtype.kind or len(shape) != expected.ndim + 1:
                asked = f"{expected.dtype} of shape {('N', *expected.shape)}"
                raise BankFileError(f"{foreign}: {name} is {dtype} of shape {short(str(shape))}, expected {asked}")
        lengths = sorted({shape[0] for shape, _ in arrays.values()})
        if len(lengths) != 1 or not lengths[0]:
            raise BankFileError(f"{foreign}: it has arrays of {_few(lengths)} scenarios")

    arrays = read_checked(path, check, "a scenario bank")
    return arrays, str(arrays.pop(FINGERPRINT, ""))


def read_checked(
    path: str | Path, check: Callable[[Headers], object], what: str, *, most: int = MAX_BYTES
) -> dict[str, np.ndarray]:
    """The arrays of a file by name, once their declarations have passed a check.

    Args:
        path: the file.
        check: is given the shapes and dtypes by name; raises a BankFileError, or a ValueError with the reason alone.
        what: the file should be, for error messages.
        most: bytes that the arrays may have.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: with the name of the file, whatever is wrong with it.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            found = _headers(archive)
            check(found)
            size = sum(math.prod(shape) * dtype.itemsize for shape, dtype in found.values())
            if size > most:
                raise BankFileError(f"{path} unpacks to {size:,} bytes, more than {most:,}")
            return {name: _read(archive, name) for name in found}
    except (FileNotFoundError, BankFileError):
        raise
    except RefusedFile as error:
        raise BankFileError(f"{path} is not {what}: it is {error}") from error
    except Exception as error:  # zip, its compressions and npy have no common error: these are not their bytes
        raise BankFileError(f"{path} is not {what}: {short(str(error)) or type(error).__name__}") from error


class BankFileError(ValueError):
    """A file that does not hold the arrays that it should."""


def _headers(archive: zipfile.ZipFile) -> Headers:
    """The declared dtype and shape of each array in the file; none of their contents are read."""
    found: Headers = {}
    if len(archive.infolist()) > MAX_ARRAYS:
        raise ValueError(f"it has {len(archive.infolist()):,} arrays, more than {MAX_ARRAYS:,}")
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename:
            raise ValueError(f"it has {name!r}, which is no array")
        with archive.open(entry) as file:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read(file)
        if name in found:
            raise ValueError(f"two arrays are called {name!r}")
        if dtype.kind not in "biufU" or not dtype.isnative:
            raise ValueError(f"{short(name)} is of {dtype}")
        found[name] = (shape, dtype)
    return found


def _read(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array."""
    with archive.open(f"{name}.npy") as file:
        return npy.read_array(file, allow_pickle=False)


def _few(names: list[Any]) -> str:
    """At most eight of them."""
    shown = ", ".join(short(repr(name)) for name in names[:8])
    return f"[{shown}]" if len(names) <= 8 else f"[{shown}] and {len(names) - 8} more"
