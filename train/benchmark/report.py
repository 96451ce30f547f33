"""Measurements as a table in text, and as JSON with all that says where they come from."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from train.benchmark import hardware
from train.benchmark.measure import Result

MEBI = 2**20
NAME = 40  # characters


def table(results: Sequence[Result], yardsticks: Sequence[str] = ()) -> str:
    """A row for each workload of one batch size, with its speed as a multiple of that of each yardstick.

    >>> from train.benchmark.workload import Sizes
    >>> print(table([Result("LifeOps-v0", 8, 2.0, 2**20, Sizes(331, 587), [1e6, 3e6, 2e6], [0.1, 0.2, 0.3])]))
    environment                                M steps/s      min      max  of floor  state    obs     MiB  compile s
    LifeOps-v0                                     2.000    1.000    3.000     20.0%    331    587     1.0        2.0
    """
    beside = {name: r for name in yardsticks for r in results if r.name.endswith(name)}
    ratios = "".join(f"{'x ' + name:>19}" for name in beside)
    head = f"{'environment':<{NAME}}{'M steps/s':>12}{'min':>9}{'max':>9}{ratios}{'of floor':>10}"
    lines = [f"{head}{'state':>7}{'obs':>7}{'MiB':>8}{'compile s':>11}"]
    for r in results:
        speeds = f"{r.median / 1e6:>12.3f}{min(r.steps_per_s) / 1e6:>9.3f}{max(r.steps_per_s) / 1e6:>9.3f}"
        ratios = "".join(f"{r.ratio(other):>19.2f}" for other in beside.values())
        floor = "" if r.share_of_floor is None else f"{r.share_of_floor:.1%}"
        state, observation = ("", "") if r.sizes is None else (f"{r.sizes.state:,}", f"{r.sizes.observation:,}")
        memory = f"{floor:>10}{state:>7}{observation:>7}{r.program_bytes / MEBI:>8,.1f}{r.compile_s:>11.1f}"
        lines.append(f"{r.name:<{NAME}}{speeds}{ratios}{memory}")
    return "\n".join(lines)


def document(results: Sequence[Result], *, settings: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """All that was measured, with hardware, versions, threads and the command."""
    return {
        "hardware": hardware.describe(),
        "settings": dict(settings),
        "peak_memory_bytes": hardware.peak_memory(),
        "results": [as_json(result) for result in results],
        **more,
    }


def as_json(result: Result) -> dict[str, Any]:
    """A measurement with derived figures."""
    if not result.steps_per_s:
        return dataclasses.asdict(result)
    moved = None if result.sizes is None else result.sizes.floor * result.median
    derived = {"median": result.median, "share_of_floor": result.share_of_floor, "must_move_bytes_per_s": moved}
    return dataclasses.asdict(result) | derived


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Writes a document as JSON."""
    path.write_text(json.dumps(found, indent=1) + "\n")
