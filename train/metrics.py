"""What a run tells of itself: sums reduced inside the program, one line of JSON per superstep outside it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import struct

from jaxenv.wrappers import EpisodeSummary
from train.run_folder import write_whole


class Ended(struct.PyTreeNode):
    """Sums over the episodes that ended, with their count: never a mean over none."""

    episodes: EpisodeSummary  # count, return_sum, length_sum; returns are undiscounted and unscaled
    terminated: jax.Array  # [] int32, how many came to a natural end


class Losses(struct.PyTreeNode):
    """The terms of the objective, each [] float32."""

    policy_loss: jax.Array
    value_loss: jax.Array
    entropy: jax.Array  # nats
    approx_kl: jax.Array
    clip_fraction: jax.Array


class Metrics(struct.PyTreeNode):
    """Of one update, or with a leading axis of several."""

    ended: Ended
    losses: Losses  # means over the minibatches
    grad_norm: jax.Array  # [] float32, before clipping, mean over the minibatches
    not_finite: dict[str, jax.Array]  # term -> [] bool, NaN or infinite; where any is, the update was not made
    explained_variance: jax.Array  # [] float32, 1 - Var(target - value) / Var(target)
    learning_rate: jax.Array  # [] float32
    entropy_coef: jax.Array  # [] float32


def summarise(metrics: Metrics) -> dict[str, float | int | None]:
    """Plain numbers by name, of K updates (leading axis K): episodes add up, the rest are means over the updates.

    Return, length and terminated are None where no episode ended. Counts are added up here, in 64 bits: on a large
    machine those of a superstep can pass 2**31.
    """
    host = jax.device_get(metrics)
    ended = jax.tree.map(_total, host.ended)
    means = ended.episodes.means()
    terms = {**vars(host.losses), **{name: getattr(host, name) for name in MEANS}}
    return {
        **means,
        "terminated": int(ended.terminated) / means["episodes"] if means["episodes"] else None,
        **{name: float(np.mean(values, dtype=np.float64)) for name, values in terms.items()},
    }


MEANS = ("grad_norm", "explained_variance", "learning_rate", "entropy_coef")


def _total(values: np.ndarray) -> np.ndarray:
    """The sum over a leading axis, in 64 bits."""
    return values.sum(axis=0, dtype=np.float64 if np.issubdtype(values.dtype, np.floating) else np.int64)


def not_finite(metrics: Metrics) -> list[str]:
    """The terms that were not finite in the first of K updates that was not made; none if all were made."""
    host = jax.device_get(metrics.not_finite)
    first = np.argmax(np.any(list(host.values()), axis=0))
    return [name for name, is_bad in host.items() if is_bad[first]]


class MetricsWriter:
    """Appends records to a `.jsonl` file, each on the disk once `write` returns."""

    def __init__(self, path: Path, *, from_superstep: int = 0) -> None:
        """Opens the file; what it tells of `from_superstep` and later ones is cut off, since they come again."""
        if path.exists():
            kept = [record for record in read_metrics(path) if record["superstep"] < from_superstep]
            write_whole(path, "".join(_line(record) for record in kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: dict[str, Any]) -> None:
        """Adds one line; a number that is not finite is null, as JSON has no other word for it."""
        self._file.write(_line(record))
        self._file.flush()

    def __enter__(self) -> "MetricsWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a `.jsonl` file; a last line cut short by a killed run is left out."""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _line(record: dict[str, Any]) -> str:
    """A record as one line of JSON."""
    told = {name: _finite(value) for name, value in record.items()}
    return json.dumps(told, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    """The value, or None where it is a float that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
