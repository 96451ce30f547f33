"""The results as a picture: a panel for each environment, a line for each agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxenv.rendering.theme import BLUE, FAINT, INK, MUTED, ORANGE
from lab.results.summary import Row
from train.score.scores import Aggregate

COLUMNS = 2
PANEL = (4.6, 2.3)  # inches
MARKS = (("test", "o", BLUE), ("shifted", "s", ORANGE))


def draw(results: Mapping[str, Sequence[Row]], path: Path) -> None:
    """Draws the mean return with its interval, on the test and on the shifted set (matplotlib).

    Random is left out: beside its losses all others would lie on one spot.

    Args:
        results: environment -> rows.
        path: .png, .svg or .pdf.
    """
    from matplotlib.figure import Figure

    others = {env_id: [row for row in rows if row.agent != "Random"] for env_id, rows in results.items()}
    shown = {env_id: rows for env_id, rows in others.items() if any("test" in row.returns for row in rows)}
    height = -(-len(shown) // COLUMNS) or 1
    figure = Figure(figsize=(COLUMNS * PANEL[0], height * PANEL[1]), dpi=160, layout="constrained", facecolor="white")
    panels: Any = figure.subplots(height, COLUMNS, squeeze=False)
    for panel in panels.flat[len(shown) :]:
        panel.set_axis_off()
    for panel, (env_id, rows) in zip(panels.flat, shown.items(), strict=False):
        _panel(panel, env_id, rows)
    if shown:
        panels.flat[0].legend(fontsize=7, frameon=False, labelcolor=INK, loc="lower left")
    figure.savefig(path)


def _panel(axes: Any, env_id: str, rows: Sequence[Row]) -> None:
    """One environment; agents from the top."""
    for number, row in enumerate(rows):
        for (name, marker, color), shift in zip(MARKS, (-0.12, 0.12), strict=True):
            _mark(axes, row.returns.get(name), number + shift, marker, color, name if number == 0 else None)
    axes.set_title(env_id, loc="left", fontsize=9, color=INK)
    axes.set_yticks(range(len(rows)), [row.agent for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("mean return", fontsize=7, color=MUTED, loc="right")
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=7, labelcolor=MUTED, color=FAINT, length=2.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


def _mark(axes: Any, found: Aggregate | None, place: float, marker: str, color: str, label: str | None) -> None:
    """A value and its interval."""
    if found is not None:
        error = [[max(found.value - found.low, 0.0)], [max(found.high - found.value, 0.0)]]
        axes.errorbar(
            [found.value], [place], xerr=error, fmt=marker, color=color, markersize=4, linewidth=1.4, label=label
        )
