"""The results as a page of tables."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from train.results.held_out import COUNT, SEED, SETS
from train.results.measure import LIBRARY_EPISODES
from train.results.summary import REFERENCE_AGENT, Row
from train.score.aggregates import Aggregate

HEAD = f"""\
# Results

What agents reach in each environment, scored on scenarios that none of them trained on. `make baselines` measures it:
what is missing below has not been run.

- **Returns** are the interquartile mean over seeds and scenarios (Agarwal et al. 2021), in brackets a 95 % interval: a
  bootstrap that resamples seeds and, within each difficulty, scenarios. Trained policies take their most probable
  action.
- **Test** is {COUNT} generated scenarios each of easy, medium and hard (the thirds of difficulty 0 to 1, which training
  draws from), seed {SEED}; **shifted** is {COUNT} from beyond: more requests, more verbs a route, busier channels (the
  rules say what difficulty above 1 draws). One episode each.
- **Library** is the mean score on the scenarios that are shipped, where 0 is Random and 1 the best known return
  ({LIBRARY_EPISODES} episodes each); their mean return where no best return is known. **Succeeded** is the share of
  test, shifted and library episodes that ended in success, where an environment can be won.
- **Better than {REFERENCE_AGENT}** is the probability that a seed of the agent has the greater return on a scenario of
  the test set, a tie counting one half.
- **Myopic** looks one step ahead for the greatest expected reward, by the true model and in the true state, with what
  agents do not see, and learns nothing: where it comes close to {REFERENCE_AGENT}, little credit over time is needed.
- **Choices** were made by the return on other scenarios, the validation set: settings of PPO for each environment,
  those of PQN (whose targets are of one step, lambda = 0) and DQN as changes of them, lightly tuned in the planner. The
  library's scores were in view as well when the features of actions and the generators of LifeOps and LifeStack and the
  preset of Mentions were chosen, and the test set was scored between revisions of LifeOps's features.
- Agents that learn train on generated scenarios with the preset of the environment, for the steps below its table. An
  agent's time is its share of that of all its seeds, which train side by side in one program; other work may have run
  beside it.
"""


def page(results: Mapping[str, Sequence[Row]], picture: str | None, others: Sequence[str] = ()) -> str:
    """The page: a section for each environment.

    Args:
        results: environment -> rows.
        picture: the path of the picture from the page, if there is one.
        others: the paths of pages of other lengths of training, each in a folder that is named by it.
    """
    links = ", ".join(f"[{PurePath(other).parent.name}]({other})" for other in others)
    linked = [f"Trained for other numbers of steps: {links}.\n"] if others else []
    shown = [f"![Returns of every agent]({picture})\n"] if picture else []
    return "\n".join([HEAD, *linked, *shown, *(_section(env_id, rows) for env_id, rows in results.items())])


def _section(env_id: str, rows: Sequence[Row]) -> str:
    """An environment's table, and where it was measured."""
    header = ["agent", "test", *SETS, "library", "succeeded", f"better than {REFERENCE_AGENT}", "seeds", "time each"]
    can_be_won = any(share > 0 for row in rows for share in row.succeeded.values())
    cells = [_cells(row, can_be_won) for row in rows]
    kept = [column for column in range(len(header)) if any(line[column] for line in cells)]
    lines = [header, ["---"] * len(header), *cells]
    table = "\n".join(f"| {' | '.join(line[column] for column in kept)} |" for line in lines)
    steps = sorted({row.about["env_steps"] for row in rows} - {0})
    length = f"{' or '.join(f'{count:,}' for count in steps)} environment steps a seed. " if steps else ""
    places = "; ".join(dict.fromkeys(_place(row.about) for row in rows))
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(row.about["command"] for row in rows))
    marks = ", ".join(f"{name} `{mark}`" for name, mark in rows[-1].about["asked"]["scenarios"].items())
    return f"## {env_id}\n\n{table}\n\n{length}{places}: {commands}. Scenarios: {marks}.\n"


def _cells(row: Row, can_be_won: bool) -> list[str]:
    """The entries of a row."""
    shares = [row.succeeded.get(name) for name in ("easy", "medium", "hard")]
    test_share = None if None in shares else sum(share for share in shares if share is not None) / len(shares)
    of_sets = [test_share, row.succeeded.get("shifted"), row.succeeded.get("library")]
    succeeded = " / ".join(f"{share:.0%}" for share in of_sets if share is not None) if can_be_won else ""
    seconds = row.about["seconds"]
    return [
        row.agent,
        _interval(row.test),
        *(_value(row.sets.get(name)) for name in SETS),
        _interval(row.library_score) or ("" if row.library_return is None else f"return {row.library_return:.2f}"),
        succeeded,
        _interval(row.better),
        str(row.about["seeds"]),
        f"{seconds:.0f} s" if seconds else "",
    ]


def _interval(found: Aggregate | None) -> str:
    return "" if found is None else f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _value(found: Aggregate | None) -> str:
    return "" if found is None else f"{found.value:.2f}"


def _place(about: Mapping[str, Any]) -> str:
    """Where something was measured, from `benchmark.hardware.describe()`."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return f"{about['cpu']}, {about['cores']} cores, {about['device']}, {versions}"
