"""Rows of the leaderboard: an agent's figures in an environment as JSON, beside the arrays that they follow from."""

import functools
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import pydantic

import jaxenv
from jaxenv.host.regular_files import read_regular
from train.protocol.score import LIBRARY, WHOLE_TEST, Score
from train.protocol.scoring import VALIDATION, marks_of
from train.save.writing import write_atomic
from train.score.scores import Aggregate
from train.settings.serialize import differences

BUDGETS = {"1M": 1e6, "10M": 1e7, "100M": 1e8, "1B": 1e9}  # environment steps
WHOLE_SUPERSTEPS = 1.05  # a run ends with a whole superstep, so that it may take a little more
SEEDS = 5  # of an agent that learns, at least
MAX_BYTES = 2**20  # of a row
DIGITS = 4  # of figures, after the point
CLOSE = 2 * 10.0**-DIGITS  # of figures that are computed again
Interval = tuple[float, float, float]  # a value, and its interval of 95 %


class Figures(pydantic.BaseModel):
    """What a row says of one set."""

    model_config = pydantic.ConfigDict(extra="forbid")
    mean_return: Interval
    succeeded: Interval


class Row(pydantic.BaseModel):
    """An agent in an environment."""

    model_config = pydantic.ConfigDict(extra="forbid")
    env: str
    agent: str
    code: str = pydantic.Field(min_length=1)  # an address, or the command in this repository
    env_steps: int  # of each seed; 0 of an agent that does not learn
    seeds: int
    seconds: float  # of training, each seed's share
    hardware: str  # where it was scored
    versions: dict[str, str]
    scenarios: dict[str, str]  # set -> fingerprint
    figures: dict[str, Figures]  # by set
    library_score: Interval | None
    score_is: str  # the kind of return that scores 1; "" without a score

    @property
    def budget(self) -> str:
        """The smallest budget that holds the steps; "" of an agent that does not learn."""
        if not self.env_steps:
            return ""
        return next((name for name, most in BUDGETS.items() if self.env_steps <= most * WHOLE_SUPERSTEPS), "more")


def row_of(score: Score, agent: str, code: str) -> Row:
    """The row that follows from a score and from what it says of its training."""
    about, of_library, reference = score.about, score.library_score, score.reference
    if VALIDATION in score.sets:
        raise ValueError("the validation set is for choosing settings: a row has the others alone")
    return Row(
        env=about["env"],
        agent=agent,
        code=code,
        env_steps=about.get("env_steps", 0),
        seeds=len(next(iter(score.returns.values()))),
        seconds=about.get("seconds", 0.0),
        hardware=f"{about['cpu']}, {about['cores']} cores, {about['device']}",
        versions=about["versions"],
        scenarios=dict(score.scenarios),
        figures={
            name: Figures(mean_return=_interval(score.mean(name)), succeeded=_interval(score.success(name)))
            for name in score.sets
        },
        library_score=None if of_library is None else _interval(of_library),
        score_is="" if reference is None or of_library is None else reference.kind,
    )


def save(score: Score, path: str | Path, *, agent: str, code: str, env_steps: float = 0, seconds: float = 0) -> Row:
    """Writes a row, `.json`, and its arrays beside it: the same name with `.npz`.

    Args:
        score: of the agent.
        path: the file of the row.
        agent: its name.
        code: the address of its code, or its command.
        env_steps: of the training of each seed; 0 for what the score says itself.
        seconds: likewise.

    Raises:
        ValueError: for another ending, no name or address, and a score of the validation set.
    """
    if Path(path).suffix != ".json":
        raise ValueError(f"{path}: expected .json, for a row of the leaderboard")
    if not (agent and code):
        raise ValueError(f"{path}: a row needs the name of the agent and the address of its code")
    score = score.trained(env_steps, seconds)
    row = row_of(score, agent, code)
    score.save(Path(path).with_suffix(".npz"))
    write(Path(path), row)
    return row


def write(path: Path, row: Row) -> None:
    """Writes the row, `.json`, beside its arrays."""
    write_atomic(path, (json.dumps(row.model_dump(), indent=1) + "\n").encode())


def read(path: Path) -> Row:
    """Reads a row; a ValueError names an entry that is missing, unknown or of another kind."""
    try:
        return Row.model_validate_json(read_regular(path, MAX_BYTES))
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        entry = [".".join(map(str, first["loc"]))] if first["loc"] else []
        raise ValueError(": ".join([str(path), *entry, first["msg"]])) from error


def check(path: Path) -> Row:
    """A row whose figures follow from its arrays, on the scenarios of today.

    Raises:
        ValueError: with the first entry that does not.
    """
    row = read(path)
    if row.env not in jaxenv.registered():
        raise ValueError(f"{path}: env: there is no {row.env!r}")
    score = Score.load(path.with_suffix(".npz"))
    found = row_of(score, row.agent, row.code)
    for name, there, here in differences(_entries(row), _entries(found)):
        if not (isinstance(there, float) and isinstance(here, float) and math.isclose(there, here, abs_tol=CLOSE)):
            raise ValueError(f"{path}: {name} is {there}, and {here} by the arrays")
    today = _marks(row.env)
    for name in score.returns:
        if row.scenarios.get(name) != today.get(name):
            raise ValueError(f"{path}: scenarios.{name} is {row.scenarios.get(name)}, and {today.get(name)} today")
    return row


def lacks(row: Row) -> list[str]:
    """What a row does not have, in words: seeds, sets, the time of training."""
    missing = [name for name in _marks(row.env) if name not in row.scenarios]
    return [
        *([f"{row.seeds} of at least {SEEDS} seeds"] if row.env_steps and row.seeds < SEEDS else []),
        *([f"no {', '.join(missing)}"] if missing else []),
        *(["no seconds of training"] if row.env_steps and not row.seconds else []),
    ]


def paths(folder: Path) -> list[Path]:
    """The files of the rows in a folder and below it."""
    return sorted(path for path in folder.rglob("*.json") if path.with_suffix(".npz").exists())


def rows(folder: Path) -> list[Row]:
    """All rows in a folder and below it, by environment in the order of the registry, the best first.

    An agent that does not learn, and was scored beside those of several budgets, has one row.
    """
    read_in = [read(path) for path in paths(folder)]
    found = {(row.env, row.agent, row.env_steps): row for row in read_in}.values()
    order = list(jaxenv.registered())
    return sorted(found, key=lambda row: (order.index(row.env) if row.env in order else len(order), -_rank(row)))


def cells(listed: Iterable[Row]) -> list[list[str]]:
    """The table: a head, and for each row the means on the test and the shifted set, and the score on the library."""
    lines = [["environment", "agent", "budget (M steps)", "seeds", "test", "shifted", "succeeded", "library"]]
    for row in listed:
        test, shifted = (row.figures.get(name) for name in (WHOLE_TEST, "shifted"))
        lines.append(
            [
                row.env,
                row.agent,
                f"{row.budget} ({row.env_steps / 1e6:.3g})" if row.env_steps else "",
                str(row.seeds),
                "" if test is None else f"{Aggregate(*test.mean_return):.2f}",
                "" if shifted is None else f"{Aggregate(*shifted.mean_return):.2f}",
                "" if test is None or not test.succeeded[0] else f"{test.succeeded[0]:.0%}",
                "" if row.library_score is None else f"{row.library_score[0]:.3f}",
            ]
        )
    return lines


def _rank(row: Row) -> float:
    """The mean return on the test set, or else on the library."""
    ranked = row.figures.get(WHOLE_TEST) or row.figures.get(LIBRARY)
    return -math.inf if ranked is None else ranked.mean_return[0]


def _interval(found: Aggregate) -> tuple[float, float, float]:
    return round(found.value, DIGITS), round(found.low, DIGITS), round(found.high, DIGITS)


@functools.cache
def _marks(env_id: str) -> Mapping[str, str]:
    return marks_of(*jaxenv.make(env_id))


def _entries(row: Row) -> dict[str, Any]:
    """Dotted name -> entry."""
    leaves = jax.tree_util.tree_leaves_with_path(row.model_dump(), is_leaf=lambda entry: entry is None)
    return {jax.tree_util.keystr(path, simple=True, separator="."): entry for path, entry in leaves}
