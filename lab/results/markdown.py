"""The results as a page of tables."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from lab.results.summary import COMPARED, REFERENCE_AGENT, Row
from train.protocol.score import LIBRARY
from train.protocol.scoring import LIBRARY_EPISODES
from train.score.held_out import COUNT, TEST
from train.score.held_out import TEST_SEED as SEED
from train.score.scores import Aggregate

HEAD = f"""\
# Results

What agents reach in each environment, scored on scenarios that none of them trained on. `make baselines` measures it:
what is missing below has not been run.

- **Returns** are means over seeds and scenarios, in brackets a 95 % interval: a bootstrap that resamples seeds and,
  within each difficulty, scenarios. So is the share of episodes that **succeeded**, where an environment can be won.
  Trained policies take their most probable action.
- **Test** is {COUNT} generated scenarios each of easy, medium and hard (the thirds of difficulty 0 to 1, which training
  draws from), seed {SEED}; **shifted** is {COUNT} from beyond: more requests, more verbs a route, busier channels (the
  rules say what difficulty above 1 draws). One episode each.
- **Less {REFERENCE_AGENT}** is the paired difference: on each scenario the mean over the agent's seeds less that over
  {REFERENCE_AGENT}'s, in the mean over scenarios, with an interval of the same bootstrap; one without 0 orders the two.
- **Library** is the mean score on the scenarios that are shipped ({LIBRARY_EPISODES} episodes each), where 0 is Random
  and 1 what the head of the column names: the *exact best* return, by search, or a proven *upper bound* of what any
  policy earns, which may be out of reach. It is the mean return where neither is known.
- **IQM** and **better** are further statistics of the test set (Agarwal et al. 2021): the interquartile mean, without
  the best and the worst quarter, and the probability that a seed of the agent has the greater return than one of
  {REFERENCE_AGENT} on a scenario, a tie counting one half. Where returns have two humps, as in LifeStack (won or lost),
  the one leaves out most of what is lost, and to the other a hundredth weighs as much as a lost crisis.
- **Myopic** looks one step ahead for the greatest expected reward, by the true model and in the true state, with what
  agents do not see, and learns nothing: where it comes close to {REFERENCE_AGENT}, little credit over time is needed.
- **On the test set**, where an environment counts what agents do: messages an episode, the share of mentions that were
  answered, the mean steps until an answer, the share of channels that were visited and of actions that were legal.
- **Choices** were made by the return on other scenarios, the validation set: settings of PPO for each environment,
  those of PQN (whose targets are of one step, lambda = 0) and DQN as changes of them, lightly tuned in the planner. In
  view were also the library's scores, for features of actions, generators of LifeOps and LifeStack, Mentions's preset
  and Shaped's entropy; the shifted set, for LifeStack's width and minibatches; the test set, for LifeOps's features.
- Agents that learn train on generated scenarios with the preset of the environment, for the steps below its table. An
  agent's time is its share of that of all its seeds, which train side by side in one program; other work may have run
  beside it.
"""

NOTES = {
    "LifeOps-v0": """\
Under the classic rules the best play **never accepts a meeting**: offering another time costs no more than the wishes
it breaks. On each of the library's days the best return is the same where accepting and moving are forbidden. So a high
return here comes from focus time, and is no sign of planning meetings; `LifeOps-Shaped-v0` pays for those. The hardest
quarter of the days makes the mean what it is, and the interquartile mean leaves it out.
""",
}
"""Remarks on an environment before its table."""


def page(
    results: Mapping[str, Sequence[Row]],
    picture: str | None,
    others: Sequence[str] = (),
    earlier: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The page: a section for each environment.

    Args:
        results: environment -> rows.
        picture: the path of the picture from the page, if there is one.
        others: the paths of pages of other lengths of training, each in a folder that is named by it.
        earlier: environment -> the changes in its preset since its agents were trained, in words.
    """
    links = ", ".join(f"[{PurePath(other).parent.name}]({other})" for other in others)
    linked = [f"Trained for other numbers of steps: {links}.\n"] if others else []
    shown = [f"![Returns of every agent]({picture})\n"] if picture else []
    sections = [_section(env_id, rows, earlier.get(env_id, "")) for env_id, rows in results.items()]
    return "\n".join([HEAD, *linked, *shown, *sections])


def _section(env_id: str, rows: Sequence[Row], earlier: str) -> str:
    """An environment's tables, and where they were measured."""
    steps = sorted({row.about["env_steps"] for row in rows} - {0})
    length = f"{' or '.join(f'{count:,}' for count in steps)} environment steps a seed. " if steps else ""
    places = "; ".join(dict.fromkeys(_place(row.about) for row in rows))
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(row.about["command"] for row in rows))
    marks = ", ".join(f"{name} `{mark}`" for name, mark in rows[-1].about["asked"]["scenarios"].items())
    measured = f"{length}{places}: {commands}. Scenarios: {marks}.\n"
    note = [NOTES[env_id]] if env_id in NOTES else []
    note += [f"All of them were trained with an **earlier preset**: {earlier}.\n"] if earlier else []
    tables = [_table(list(map(cells, rows))) for cells in (_reached, _compared, _did)]
    return "\n".join([f"## {env_id}\n", *note, *filter(None, tables), measured])


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    """The rows that have more than a name, by column; without the columns that are empty in all."""
    kept = [row for row in rows if any(list(row.values())[1:])]
    columns = [
        name for name in dict.fromkeys(name for row in kept for name in row) if any(row.get(name) for row in kept)
    ]
    lines = [columns, *([row.get(name, "") for name in columns] for row in kept)]
    return f"{as_table(lines)}\n" if kept else ""


def as_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, the head first, in Markdown."""
    head, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *others])


def _reached(row: Row) -> dict[str, str]:
    """The results of an agent, by column."""
    library, seconds = row.library_score or row.returns.get(LIBRARY), row.about["seconds"]
    return {
        "agent": row.agent,
        **{name: _interval(row.returns.get(name)) for name in COMPARED},
        **{name: _value(row.returns.get(name)) for name in TEST},
        **{f"succeeded, {name}": _interval(row.succeeded.get(name), ".0%") for name in (*COMPARED, LIBRARY)},
        f"library, 1 = {row.score_is}" if row.score_is else "library, return": _interval(library),
        "IQM": _interval(row.interquartile),
        "seeds": str(row.about["seeds"]),
        "time each": f"{seconds:.0f} s" if seconds else "",
    }


def _compared(row: Row) -> dict[str, str]:
    """How an agent compares with another one, by column."""
    return {
        f"less {REFERENCE_AGENT}": row.agent,
        **{f"return, {name}": _interval(gain, "+.2f") for name, gain in row.return_gained.items()},
        **{
            f"points of success, {name}": _interval(gain, "+.1%").replace("%", "")
            for name, gain in row.success_gained.items()
        },
        "better": _interval(row.better),
    }


def _did(row: Row) -> dict[str, str]:
    """The behaviour of an agent on the test set, by column."""
    known = max(map(len, row.figures.values()), default=0)
    of = "" if known == row.about["seeds"] else f", {known} of {row.about['seeds']} seeds"
    means = {name: sum(values) / len(values) for name, values in row.figures.items()}
    return {"on the test set": f"{row.agent}{of}", **{name: f"{mean:.2f}" for name, mean in means.items()}}


def _interval(found: Aggregate | None, form: str = ".2f") -> str:
    return "" if found is None else f"{found:{form}}"


def _value(found: Aggregate | None) -> str:
    return "" if found is None else f"{found.value:.2f}"


def _place(about: Mapping[str, Any]) -> str:
    """Where something was measured, from `benchmark.hardware.describe()`."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return f"{about['cpu']}, {about['cores']} cores, {about['device']}, {versions}"
