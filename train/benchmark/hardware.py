"""Where a figure was measured: cores, device, versions and the command."""

import os
import platform
import resource
import shlex
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import jax
from jax.extend import backend

PACKAGES = ("jaxenv", "jax", "jaxlib", "flax", "optax", "numpy", "gymnax", "jumanji")

ROOT = Path(__file__).resolve().parents[2]


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe() -> dict[str, Any]:
    """Hardware, versions, threads and the command, for a JSON file."""
    device = jax.devices()[0]
    return {
        "command": shlex.join([*_program(), *sys.argv[1:]]),
        "commit": _commit(),
        "device": device.device_kind,
        "platform": device.platform,
        "devices": jax.device_count(),
        "device_memory_bytes": (device.memory_stats() or {}).get("bytes_limit"),
        "cpu": _of_processor("model name") or platform.processor(),
        "cores": cores(),
        "machine_cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {each.name: each.version for name in PACKAGES for each in Distribution.discover(name=name)},
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "jax_platforms": os.environ.get("JAX_PLATFORMS", ""),
        "backend": backend.get_backend().platform_version.splitlines()[0],
    }


def line() -> str:
    """The device in a few words."""
    device = jax.devices()[0]
    return f"{device.device_kind} x{jax.device_count()}, {cores()} CPU cores, jax {jax.__version__}"


def peak_memory() -> dict[str, int | None]:
    """The peak memory of this process so far, in bytes: of the host, and of the device if it reports that."""
    stats = jax.devices()[0].memory_stats() or {}
    unit = 1 if sys.platform == "darwin" else 1024
    return {"host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, "device": stats.get("peak_bytes_in_use")}


def processor() -> str:
    """The model and the features of the processor, which distinguish it from other kinds."""
    parts = platform.machine(), platform.processor(), _of_processor("model name"), _of_processor("flags")
    return "; ".join(filter(None, parts))


def _program() -> list[str]:
    """How this command was called: `jaxenv`, or `python -m` and a package of this project."""
    called = Path(sys.argv[0]).resolve()
    is_module = called.name == "__main__.py" and called.parents[1] == ROOT
    return ["python", "-m", called.parent.name] if is_module else ["jaxenv"]


def _of_processor(name: str) -> str | None:
    """A line of Linux's description of the first processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith(name))
    except (OSError, StopIteration):
        return None


def _commit() -> str | None:
    """The commit of the checkout that this runs in, with a mark if files have changed since; None elsewhere."""
    if not (ROOT / ".git").exists():
        return None
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
