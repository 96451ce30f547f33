"""Compiled programs that stay from command to command: a folder of bounded size that mends itself."""

import contextlib
import glob
import hashlib
import itertools
import os
import re
import warnings
from pathlib import Path
from typing import Any

import jax

from train.benchmark import hardware

MAX_BYTES = 2 * 10**9  # of compiled programs; the least recently used go
_UNREADABLE = re.compile(r"Error reading persistent compilation cache entry for '(.+?)':")


def keep_compiled_programs() -> None:
    """Makes JAX keep compiled programs in the user's cache folder, unless JAX's own settings name another place.

    `JAX_COMPILATION_CACHE_DIR` names another folder, `JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing. A user without
    a home folder, as in some containers, keeps nothing either.

    Programs that compile in a tenth of a second are kept too. JAX keeps those that take a second, which are few.

    JAX's own limit of its size is not set: it takes a lock for each program, for which all others wait ten seconds if
    the process that holds it is stopped, and JAX 0.10 keeps nothing more once a kill has left half of an entry.
    """
    config: Any = jax.config
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if config.jax_compilation_cache_dir is None and config.jax_enable_compilation_cache and home.is_absolute():
        # One folder for each kind of processor, as a home folder may be shared by several.
        folder = home / "jaxenv" / hashlib.sha256(hardware.processor().encode()).hexdigest()[:8]
        config.update("jax_compilation_cache_dir", str(folder))
        config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
        remove_oldest(folder, MAX_BYTES)
        remove_unreadable(folder)


def remove_oldest(folder: Path, most: int) -> None:
    """Removes the programs that were used longest ago, until the others have at most so many bytes."""
    with contextlib.suppress(OSError):  # another process may do the same
        found = [(path, path.stat()) for path in folder.glob("*-cache")]
        found.sort(key=lambda each: -max(each[1].st_atime, each[1].st_mtime))
        sizes = itertools.accumulate(about.st_size for _, about in found)
        for (path, _), total in zip(found, sizes, strict=True):
            if total > most:
                path.unlink()


def remove_unreadable(folder: Path) -> None:
    """Lets JAX write a program anew that it cannot read, as one that a kill left half written; else it warns for ever.

    JAX names the program in its warning, and not the file: all programs of that name go.
    """
    show = warnings.showwarning

    def shown(message: Warning | str, *where: Any) -> None:
        name = _UNREADABLE.match(str(message))
        if name is None:
            show(message, *where)
            return
        with contextlib.suppress(OSError):
            for path in folder.glob(f"{glob.escape(name[1])}-*-cache"):
                path.unlink()

    warnings.showwarning = shown
