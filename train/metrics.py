"""What a run tells of itself: sums and means reduced inside the program, one line of JSON per superstep outside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
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
    explained_variance: jax.Array  # [] float32, 1 - Var(target - value) / Var(target)
    learning_rate: jax.Array  # [] float32
    entropy_coef: jax.Array  # [] float32


def over_updates(metrics: Metrics) -> Metrics:
    """The metrics of K updates (leading axis K) as one: ended episodes add up, the rest are means."""
    means = jax.tree.map(lambda x: jnp.mean(x, axis=0), metrics)
    return means.replace(ended=jax.tree.map(lambda x: jnp.sum(x, axis=0), metrics.ended))


def summarise(metrics: Metrics) -> dict[str, float | int | None]:
    """Plain numbers by name; return, length and terminated are None where no episode ended."""
    host = jax.device_get(metrics)
    means = host.ended.episodes.means()
    return {
        **means,
        "terminated": int(host.ended.terminated) / means["episodes"] if means["episodes"] else None,
        **{name: float(value) for name, value in vars(host.losses).items()},
        "grad_norm": float(host.grad_norm),
        "explained_variance": float(host.explained_variance),
        "learning_rate": float(host.learning_rate),
        "entropy_coef": float(host.entropy_coef),
    }


class MetricsWriter:
    """Appends records to a `.jsonl` file, each on the disk once `write` returns."""

    def __init__(self, path: Path, *, from_superstep: int = 0) -> None:
        """Opens the file; what it tells of `from_superstep` and later ones is cut off, since they come again."""
        if path.exists():
            kept = [record for record in read_metrics(path) if record["superstep"] < from_superstep]
            write_whole(path, "".join(json.dumps(record) + "\n" for record in kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: dict[str, Any]) -> None:
        """Adds one line."""
        self._file.write(json.dumps(record) + "\n")
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
