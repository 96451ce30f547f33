"""Strictness for every test, a cache of what they compile, and a garbage collector that knows what tracing does."""

import gc
import os
import sys
from pathlib import Path

import hypothesis
import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

jax.config.update("jax_numpy_rank_promotion", "raise")  # so that a missing axis cannot pass unseen
hypothesis.settings.register_profile("jaxenv", deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "unshrunk", deadline=None, phases=set(hypothesis.Phase) - {hypothesis.Phase.shrink}
)
hypothesis.settings.load_profile("jaxenv")

# Tracing makes many objects that stay; looking through them all again and again takes a sixth of the tests' time.
gc.set_threshold(50_000, 50, 50)

MOST_MAPPINGS = 20_000  # of a process, between two tests


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory) -> Path:
    """A folder of compiled programs: what was compiled once, in any process of these tests, is not compiled again.

    Without one, commands would keep theirs in the user's folders.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all workers
    folder = folder / "compiled"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.01)
    compilation_cache.reset_cache()  # or what was compiled before stands for: no cache
    return folder


@pytest.fixture
def current_folder(tmp_path, monkeypatch):
    """An empty current folder, in which an installed command does not look for modules by itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield tmp_path
    sys.modules.pop("mine_alone", None)


def pytest_runtest_teardown(item):
    """Drops compiled programs after a slow test, once they map much memory: Linux ends a process with 65,530 mappings.

    They lie in the folder of compiled programs, so loading them again is quick.
    """
    mappings = Path("/proc/self/maps")
    if "slow" in item.keywords and mappings.exists() and mappings.read_bytes().count(b"\n") > MOST_MAPPINGS:
        jax.clear_caches()


def pytest_collection_finish():
    """What is imported by now stays, so the collector need not look at it."""
    gc.collect()
    gc.freeze()
