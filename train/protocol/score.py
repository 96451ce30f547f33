"""What an agent reaches in an environment: returns and successes of each seed on each scenario, and figures of them."""

import dataclasses
import functools
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import jaxenv
from jaxenv.host.names import require_one_of
from jaxenv.host.regular_files import RefusedFile, open_regular
from train.protocol import shipped
from train.save.writing import write_atomic
from train.score.held_out import TEST
from train.score.scores import Aggregate, ReferenceReturns, aggregate, aligned, mean, paired_difference, score

LIBRARY = "library"
WHOLE_TEST = "test"  # easy, medium and hard together
Arrays = Mapping[str, np.ndarray]  # set -> [seeds, S]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Score:
    """The results of an agent by set: `easy`, `medium` and `hard`, together `test`; `shifted`; `library`.

    `print` shows them in a few lines. Intervals are of 95 %, by a bootstrap over seeds and, within each difficulty,
    scenarios. Asked for a set that was not played, it raises a ValueError with those that were.

    >>> found = Score({"easy": np.array([[1.0, 3.0]])}, {"easy": np.array([[0.0, 1.0]])}, {})
    >>> found.mean("easy").value, found.success("easy").value, found.less(found, "easy").value
    (2.0, 0.5, 0.0)
    """

    returns: Mapping[str, np.ndarray]  # [seeds, S] float32, means over the episodes of a scenario
    succeeded: Mapping[str, np.ndarray]  # [seeds, S] float32, shares
    about: Mapping[str, Any]  # the environment, the scenarios, the cost of training, the machine; plain values

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the sets, of `test` too if all of it was played."""
        return tuple(with_test(self.returns))

    def mean(self, name: str = WHOLE_TEST) -> Aggregate:
        """The mean return on a set."""
        return self._figure(name, mean, self.returns)

    def success(self, name: str = WHOLE_TEST) -> Aggregate:
        """The share of episodes of a set that ended in success."""
        return self._figure(name, mean, self.succeeded)

    def less(self, other: "Score", name: str = WHOLE_TEST) -> Aggregate:
        """The paired difference of returns: the mean over a set's scenarios of this agent's mean less the other's.

        Raises:
            ValueError: if the other was measured on other scenarios.
        """
        parts = TEST if name == WHOLE_TEST else [name]
        if name in self.sets and any(self.scenarios.get(part) != other.scenarios.get(part) for part in parts):
            raise ValueError(f"the two were measured on other scenarios of {name!r}: no difference is paired")
        return self._figure(name, paired_difference, self.returns, other.returns)

    def _figure(self, name: str, statistic: Callable[..., float], *samples: Arrays) -> Aggregate:
        require_one_of(name, self.sets, f"no set {name!r} was played")
        return over(name, *map(with_test, samples), statistic=statistic)

    @property
    def scenarios(self) -> Mapping[str, str]:
        """Set -> `fingerprint(floats=False)` of its bank."""
        return self.about.get("asked", {}).get("scenarios", {})

    @property
    def reference(self) -> ReferenceReturns | None:
        """What 0 and 1 are on the library today; None without one, and for an environment that is not registered."""
        env_id = self.about.get("env")
        return _reference(env_id) if env_id in jaxenv.registered() else None

    @property
    def library_score(self) -> Aggregate | None:
        """The mean score on the library, by `reference`; None without one."""
        return None if self.reference is None else score_of_library(self.returns, self.reference)

    def trained(self, env_steps: float = 0, seconds: float = 0) -> "Score":
        """The same of an agent whose training took so many steps and seconds, each seed; 0 leaves what it says."""
        given = {"env_steps": int(env_steps), "seconds": float(seconds)}
        return dataclasses.replace(self, about={**self.about, **{name: each for name, each in given.items() if each}})

    def save(self, path: str | Path) -> None:
        """Writes an `.npz` file, completely or not at all; `leaderboard.save` writes a row beside it.

        Raises:
            ValueError: for another ending.
        """
        if Path(path).suffix != ".npz":
            raise ValueError(f"{path}: expected .npz; train.protocol.leaderboard.save writes a row of the leaderboard")
        returns = {f"returns/{name}": array for name, array in self.returns.items()}
        succeeded = {f"succeeded/{name}": array for name, array in self.succeeded.items()}
        content, about = io.BytesIO(), np.array(json.dumps(dict(self.about)))
        np.savez_compressed(content, allow_pickle=False, **returns, **succeeded, about=about)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(Path(path), content.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "Score":
        """Reads a file; a ValueError names one that is not regular, or holds something else."""
        try:
            with open_regular(Path(path)) as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            about = json.loads(str(arrays.pop("about")))
        except RefusedFile as error:
            raise ValueError(f"{path} is {error}: expected what was measured") from error
        except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} does not hold what was measured (.npz of `jaxenv score --out`)") from error

        def kind(prefix: str) -> dict[str, np.ndarray]:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        return cls(kind("returns/"), kind("succeeded/"), about)

    def __str__(self) -> str:
        returns, can_be_won = with_test(self.returns), any(shares.any() for shares in self.succeeded.values())
        seeds = len(next(iter(returns.values())))
        head = [f"{self.about.get('env', '')}, {seeds} seed{'s' if seeds > 1 else ''}", "return", "succeeded"]
        rows = [head, *([name, f"{self.mean(name):.2f}", f"{self.success(name):.0%}"] for name in returns)]
        lines = aligned([row[: 3 if can_be_won else 2] for row in rows])
        if (found := self.library_score) is not None and self.reference is not None:
            lines.append(f"library, score {found}: {self.reference.meaning}")
        return "\n".join(lines)


def with_test(arrays: Arrays) -> Arrays:
    """The whole test set, if all of it is there, before its parts and the other sets."""
    parts = [arrays[name] for name in TEST if name in arrays]
    return {**({WHOLE_TEST: np.concatenate(parts, axis=1)} if len(parts) == len(TEST) else {}), **arrays}


def over(name: str, *samples: Arrays, statistic: Callable[..., float]) -> Aggregate:
    """A statistic of the samples of a set; the strata of the whole test set are its parts."""
    sizes = [samples[0][part].shape[1] for part in TEST] if name == WHOLE_TEST else []
    strata = np.repeat(np.arange(len(sizes)), sizes) if sizes else None
    return aggregate(*(sample[name] for sample in samples), statistic=statistic, strata=strata)


@functools.cache
def _reference(env_id: str) -> ReferenceReturns | None:
    return shipped.reference_of(jaxenv.make(env_id)[0])


def score_of_library(returns: Arrays, reference: ReferenceReturns) -> Aggregate | None:
    """The mean score over the scenarios of the library that have one; None if none has."""
    if LIBRARY not in returns:
        return None
    scores = np.stack([score(each, reference) for each in returns[LIBRARY]])
    scored = scores[:, ~np.isnan(scores[0])]
    return aggregate(scored) if scored.size else None
