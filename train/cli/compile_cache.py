"""Compiled programs kept on disk, so that a command that was run before does not compile again."""

import hashlib
import os
from pathlib import Path
from typing import Any

import jax

from train.benchmark import hardware

MAX_BYTES = 2 * 10**9  # the least recently used programs go


def keep_compiled_programs() -> None:
    """Makes JAX keep compiled programs in the user's cache folder, unless JAX's own settings name another place.

    `JAX_COMPILATION_CACHE_DIR` names another folder, `JAX_ENABLE_COMPILATION_CACHE=false` keeps nothing.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None and config.jax_enable_compilation_cache:
        config.update("jax_compilation_cache_dir", str(folder()))
        config.update("jax_compilation_cache_max_size", MAX_BYTES)


def folder() -> Path:
    """One for each kind of processor, as a home folder may be shared by several."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "jaxenv" / hashlib.sha256(hardware.processor().encode()).hexdigest()[:8]
