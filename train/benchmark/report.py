"""Measurements as a table in text, as JSON with all that says where they come from, and as a picture."""

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
    >>> print(table([Result("LifeOps-v0", 8, 2.0, 2**20, Sizes(331, 587), [1e6, 3e6, 2e6], [5e-7], [0.1, 0.2, 0.3])]))
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


def plot(results: Sequence[Result], path: Path, *, title: str) -> None:
    """Draws steps per second of each workload over its batch sizes, both axes logarithmic; bars span the rounds.

    Args:
        results: of one or several batch sizes.
        path: .png, .svg or .pdf.
        title: where it was measured.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(result.name for result in results))
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes: Any = figure.subplots()
    for number, name in enumerate(names):
        points = sorted((r for r in results if r.name == name), key=lambda r: r.num_envs)
        middle = [r.median for r in points]
        below = [r.median - min(r.steps_per_s) for r in points]
        above = [max(r.steps_per_s) - r.median for r in points]
        style = "o--" if " " in name.split(",")[0] else "o-"  # other suites: "gymnax CartPole-v1"
        look: Any = {"color": f"C{number % 10}", "markersize": 4, "linewidth": 1.4, "elinewidth": 0.8}
        axes.errorbar([r.num_envs for r in points], middle, yerr=[below, above], fmt=style, label=name, **look)
    axes.set_xscale("log", base=2)
    axes.set(yscale="log", xlabel="environments", ylabel="environment steps per second")
    axes.set_title(title, loc="left", fontsize=9)
    axes.grid(which="major", linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=7, frameon=False)
    figure.savefig(path)
