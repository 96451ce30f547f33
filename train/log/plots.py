"""Learning curves: the metrics of one run or several over environment steps, in one picture."""

import importlib.util
import io
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxenv.host.companions import installing
from jaxenv.rendering.text import number
from jaxenv.rendering.theme import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PURPLE
from train.log.metrics import read_metrics
from train.save.folder import RunFolder
from train.save.writing import write_atomic
from train.settings.config import Config
from train.settings.serialize import to_json

COLORS = (BLUE, ORANGE, GREEN, PURPLE, INK, MUTED)
SIZE = (7.2, 5.0)  # inches, without the legend
DOTS_PER_INCH = 160
ROW = 0.17  # inches of a row of the legend
LETTERS = 110  # that fit into such a row
MAX_COLUMNS = 4  # of the legend
BAND_FROM = 3  # runs that differ by their seed alone
WIDTH = 1.6  # of a curve, in points
SMOOTHED_FROM = 80  # points; a longer curve is drawn as its running mean, with the points faintly behind it
LARGE, SMALL, TINY = 12.0, 8.5, 7.0  # font sizes, in points
PANELS = (("entropy", "entropy, nats", False), ("value_loss", "value loss", True))  # metric, title, log scale

Records = Sequence[Mapping[str, Any]]


def is_possible() -> bool:
    """Whether matplotlib, the extra `viz`, is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def learning_curves(folders: Sequence[RunFolder], out: Path) -> None:
    """Draws the return of several runs in one picture, with small panels of `PANELS` below, where the runs record them.

    A single run also has its validation return, the best of it, and those of the baselines where they are known.

    Args:
        folders: runs, finished or not.
        out: the file, whose suffix sets the format.

    Raises:
        ValueError: if a folder is not a run folder or has no metrics yet, or if matplotlib is not installed.
    """
    if not is_possible():
        raise ValueError(f"drawing needs matplotlib: {installing('viz')}")
    picture = io.BytesIO()
    _figure(folders).savefig(picture, format=out.suffix.removeprefix(".") or None)
    write_atomic(out, picture.getvalue())


def _figure(folders: Sequence[RunFolder]) -> Any:
    """The picture of several runs: the environments, the panels, and a legend if there is more than one curve."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = _read(folders)
    runs = _grouped(found)
    columns = max(1, min(MAX_COLUMNS, LETTERS // (6 + max(map(len, runs)))))
    room = ROW * math.ceil(len(runs) / columns) if len(runs) > 1 else 0.0
    figure = Figure(figsize=(SIZE[0], SIZE[1] + room), dpi=DOTS_PER_INCH, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    environments = ", ".join(dict.fromkeys(config.env for config, _ in found.values()))
    figure.suptitle(environments, x=0.01, ha="left", fontsize=LARGE, fontweight="bold", color=INK)
    grid = figure.add_gridspec(2, 2, height_ratios=(2.3, 1))
    main = figure.add_subplot(grid[0, :])
    _draw(main, runs, "return", "return of an episode, actions sampled", SMALL)
    main.set_xlabel("environment steps", fontsize=TINY, color=MUTED, loc="right", labelpad=2)
    panels = [panel for panel in PANELS if any(panel[0] in record for group in runs.values() for record in group[0])]
    for column, (key, title, is_log) in enumerate(panels):
        _draw(figure.add_subplot(grid[1, column]), runs, key, title, TINY, log=is_log)
    if len(runs) > 1:
        curves, names = main.get_legend_handles_labels()
        # matplotlib fills column by column, the first ones with one more where the rows are not full
        order = [number for column in range(columns) for number in range(column, len(names), columns)]
        look = {"loc": "outside lower left", "ncol": columns, "fontsize": SMALL, "labelcolor": INK, "frameon": False}
        figure.legend([curves[n] for n in order], [names[n] for n in order], handlelength=1.2, **look)
    else:
        [(name, group)] = runs.items()
        _draw_validation(main, group[0], folders[0].read_validation())
        length = f"{group[0][-1]['env_steps']:,} environment steps in {_duration(group[0][-1]['seconds'])}"
        main.set_title(f"{name}: {length}", loc="right", fontsize=SMALL, color=MUTED, pad=7)
    return figure


def _read(folders: Sequence[RunFolder]) -> dict[str, tuple[Config, Records]]:
    """Settings and records by the names of the folders, or by their paths if two names are equal."""
    found = [(folder.read_config(), list(read_metrics(folder.metrics))) for folder in folders]
    for folder, (_, records) in zip(folders, found, strict=True):
        if not records:
            raise ValueError(f"{folder.path} has no metrics yet")
    names = [folder.path.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder.path) for folder in folders]
    return dict(zip(names, found, strict=True))


def _grouped(found: Mapping[str, tuple[Config, Records]]) -> dict[str, list[Records]]:
    """Name -> records of one run, or of the runs that differ by their seed alone, if there are enough for a band.

    A band has the name that its runs share before their seed, or else that of the first one.
    """
    groups: dict[str, list[str]] = {}
    for name, (config, _) in found.items():
        settings = json.dumps(to_json(config.replace(seed=0, run_dir=None)), sort_keys=True)
        groups.setdefault(settings, []).append(name)
    curves: dict[str, list[Records]] = {}
    for names in groups.values():
        records = [found[name][1] for name in names]
        if len({found[name][0].seed for name in names}) < BAND_FROM:
            curves |= {name: [one] for name, one in zip(names, records, strict=True)}
        else:
            shared = names[0].rpartition("seed=")[0].rstrip(",") if "seed=" in names[0] else names[0]
            title = f"{shared}, {len(names)} seeds".removeprefix(", ")
            curves[title if title not in curves else f"{title} from {names[0]} on"] = records
    return curves


def _draw(
    axes: Any, runs: Mapping[str, Sequence[Records]], key: str, title: str, size: float, *, log: bool = False
) -> None:
    """One panel, with a curve per run, or per group of runs the mean in a band from the least to the greatest."""
    from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

    for (name, group), color in zip(runs.items(), itertools.cycle(COLORS), strict=False):
        curves = [_curve(records, key) for records in group]
        steps = min((steps for steps, _ in curves), key=len)
        each = np.array([np.interp(steps, *curve) if len(curve[0]) else curve[1] for curve in curves])
        if len(group) > 1:
            axes.fill_between(steps, each.min(axis=0), each.max(axis=0), color=color, alpha=0.18, linewidth=0)
        values = each.mean(axis=0)
        if len(steps) >= SMOOTHED_FROM:
            axes.plot(steps, values, color=color, linewidth=0.6, alpha=0.25)
            values = _running_mean(values, len(values) // 40)
        axes.plot(steps, values, color=color, linewidth=WIDTH, solid_capstyle="round", label=name)
        if len(steps):
            axes.plot(steps[-1:], values[-1:], "o", color=color, markersize=3.2)
    axes.set_title(title, loc="left", fontsize=size, color=MUTED, pad=7)
    if log:
        axes.set_yscale("log")
        axes.yaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_locator=NullLocator(), major_formatter="{x:g}")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep="\N{THIN SPACE}"))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=TINY, labelcolor=MUTED, color=FAINT, length=2.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


def _draw_validation(axes: Any, records: Records, baselines: Mapping[str, float]) -> None:
    """The validation return beside the return, with a dot at its best, and lines for Random and the best baseline."""
    steps, values = _curve(records, "validation_return")
    if not len(steps):
        return
    best = int(values.argmax())
    axes.plot(steps, values, color=ORANGE, linewidth=WIDTH, label=f"validation, greedy; best {number(values[best])}")
    axes.plot(steps[best], values[best], "o", color=ORANGE, markersize=5)
    next(line for line in axes.lines if not line.get_label().startswith("_")).set_label("training")
    greatest = max(baselines, key=baselines.__getitem__, default="")
    for name, style in (("Random", ":"), (greatest, "--")):
        if name in baselines:
            label = f"{name}, {number(baselines[name])}"
            axes.axhline(baselines[name], color=MUTED, linewidth=1.0, linestyle=style, label=label)
    look = {"fontsize": TINY, "labelcolor": INK, "facecolor": "white", "edgecolor": "none", "framealpha": 0.9}
    axes.legend(loc="center right", **look)


def _curve(records: Sequence[Mapping[str, Any]], key: str) -> tuple[np.ndarray, np.ndarray]:
    """The environment steps and the values of a curve; supersteps without a value have none."""
    points = [(record["env_steps"], record[key]) for record in records if record.get(key) is not None]
    steps, values = np.array(points, float).reshape(-1, 2).T
    return steps, values


def _running_mean(values: np.ndarray, window: int) -> np.ndarray:
    """Means over up to `window` values on either side, fewer near the ends."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    reach = np.minimum(window, np.minimum(at, at[::-1]))
    return (sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1)


def _duration(seconds: float) -> str:
    """`42 s`, `3 min 20 s` or `2 h 05 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
