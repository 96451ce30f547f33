"""Speed against batch size, a line for each workload (matplotlib, extra `viz`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from train.benchmark.measure import Result


def speeds(results: Sequence[Result], path: Path, *, title: str) -> None:
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
        axes.errorbar(
            [r.num_envs for r in points],
            middle,
            yerr=[below, above],
            fmt=style,
            color=f"C{number % 10}",
            markersize=4,
            linewidth=1.4,
            elinewidth=0.8,
            label=name,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("environments")
    axes.set_ylabel("environment steps per second")
    axes.set_title(title, loc="left", fontsize=9)
    axes.grid(which="major", linewidth=0.4, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=7, frameon=False)
    figure.savefig(path)
