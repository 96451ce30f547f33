"""Compiled programs are kept, and what a kill leaves of them is mended."""

import os
import types
import warnings
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

from train.cli.compiled import keep_compiled_programs, remove_oldest, remove_unreadable


@pytest.fixture(autouse=True)
def _warnings(monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)


def test_compiled_programs_are_kept_where_jax_says_nothing_else(monkeypatch, tmp_path):
    changed = {}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = types.SimpleNamespace(jax_compilation_cache_dir=None, jax_enable_compilation_cache=False)
    settings.update = changed.__setitem__
    monkeypatch.setattr(jax, "config", settings)
    keep_compiled_programs()
    settings.jax_enable_compilation_cache, settings.jax_compilation_cache_dir = True, "of their own"
    keep_compiled_programs()
    assert not changed
    settings.jax_compilation_cache_dir = None
    keep_compiled_programs()
    assert "jax_compilation_cache_max_size" not in changed  # or each program waits for a lock
    assert Path(changed.pop("jax_compilation_cache_dir")).parent == tmp_path / "jaxenv"
    assert changed["jax_persistent_cache_min_compile_time_secs"] < 1  # or most programs are compiled every time
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user without HOME and an entry in passwd
    keep_compiled_programs()
    assert "jax_compilation_cache_dir" not in changed


@pytest.fixture
def kept(compiled, tmp_path):
    """The folder that JAX keeps programs in, with one."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    least = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    compilation_cache.reset_cache()
    assert run() == 7
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", str(compiled))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least)
    compilation_cache.reset_cache()


def run():
    """What a program gives that is compiled anew, or read."""

    def kept_program(x):
        return sum((x * k for k in range(1, 40)), start=x) * 0 + 2 * x + 1

    return jax.jit(kept_program)(np.int32(3))


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-9], lambda content: bytes(99)])
def test_a_damaged_program_is_written_anew(kept, damage, recwarn):
    (path,) = kept.glob("jit_kept_program-*-cache")
    other, content = kept / "jit_other-0-cache", path.read_bytes()
    other.touch()
    path.write_bytes(damage(content))
    remove_unreadable(kept)
    for _ in range(2):
        assert run() == 7
    assert len(path.read_bytes()) > len(content) // 2
    assert other.exists()
    assert not recwarn.list
    warnings.warn("another", stacklevel=1)
    assert [str(each.message) for each in recwarn] == ["another"]


def test_the_programs_that_were_used_longest_ago_go(tmp_path):
    for number in range(5):
        path = tmp_path / f"jit_f-{number}-cache"
        path.write_bytes(bytes(100))
        os.utime(path, (number, 1))
    (tmp_path / "note").write_bytes(bytes(1000))
    remove_oldest(tmp_path, 250)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["jit_f-3-cache", "jit_f-4-cache", "note"]
    remove_oldest(tmp_path / "nothing", 0)
