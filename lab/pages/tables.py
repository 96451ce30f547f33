"""The tables of docs/ that repeat declarations: records of the environments, and sizes of training."""

import functools
import importlib
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxenv
import train
from jaxenv.core import Environment, fields, terms
from jaxenv.core.types import dense
from jaxenv.wrappers import EpisodeStatistics
from lab.pages import licences, policies
from lab.results.markdown import as_table
from train.experience.rollout import observation_shapes
from train.learning import state as learner
from train.protocol import leaderboard
from train.settings.presets import scaled

DOCS = Path(__file__).parents[2] / "docs"
TABLE = re.compile(r"(<!-- table: ([\w.-]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
ENGINES = {
    "lifeops": "LifeOps-v0",
    "lifestack": "LifeStack-v0",
    "teamsclone": "TeamsClone-Mentions-v0",
    "week": "Week-v0",
}


def table(name: str) -> str:
    """The table of a record, by `environment.Record`, or of the sizes of training."""
    if name in TRAINING:
        return TRAINING[name]()
    family, record = name.split(".")
    if family == "leaderboard":
        return ranked(leaderboard.cells(row for row in leaderboard_rows() if row.env == record))
    if record == "RewardWeights":
        return weights_table(importlib.import_module(f"jaxenv.envs.{family}.reward").RewardWeights)
    env: Any = jaxenv.make(ENGINES[family])[0]
    return record_table(
        getattr(importlib.import_module(f"jaxenv.envs.{family}.types"), record), env.sizes, fill=record == "Scenario"
    )


def _fields(kind: type) -> Iterator[tuple[str, fields.Array | fields.Nested]]:
    """(dotted name, declaration) of every field of a record, and of every record in it, in their order."""
    yield from _rows("", fields.Nested(kind, {}, {}, ""))


def _rows(prefix: str, nested: fields.Nested) -> Iterator[tuple[str, fields.Array | fields.Nested]]:
    for name, each in nested.fields.items():
        yield f"{prefix}{name}", each
        if isinstance(each, fields.Nested):
            yield from _rows(f"{prefix}{name}.", each)


def record_table(kind: type, sizes: fields.Sizes, *, fill: bool) -> str:
    """The fields as a Markdown table, with bounds for these sizes, and with padding if `fill`."""
    names = ["field", "axes", "dtype", "range", *(["where absent"] if fill else []), "meaning"]
    arrays = [(name, each) for name, each in _fields(kind) if isinstance(each, fields.Array) or each.doc]
    return as_table([names, *(_line(name, each, sizes, fill) for name, each in arrays)])


def _line(name: str, declared: fields.Array | fields.Nested, sizes: fields.Sizes, fill: bool) -> list[str]:
    if isinstance(declared, fields.Nested):
        return [f"`{name}`", *[""] * (4 if fill else 3), declared.doc]
    box, dtype = declared.space(sizes), declared.sized(sizes)[1]
    bounds = "" if declared.low is None and declared.high is None else f"{box.low:,} to {box.high:,}"
    absent = [f"{declared.fill:,}" if dtype != np.dtype(bool) else "False"] if fill else []
    cells = [f"`{name}`", " × ".join(declared.shape.split()), dtype.name, bounds, *absent]
    return [*(cell.replace("-", "−") for cell in cells), declared.doc]


def weights_table(weights: type) -> str:
    """The rows as a Markdown table: weight, paid quantity, and a column for each preset."""
    declared = terms.rows(weights)
    presets = list(dict.fromkeys(name for row in declared.values() for name in row.presets))
    head = f"| weight | paid for | {' | '.join(presets)} |\n|---|---|{'---|' * len(presets)}"
    return "\n".join([head, *(_term_line(name, row, presets) for name, row in declared.items())])


def _term_line(name: str, row: terms.Row, presets: list[str]) -> str:
    numbers = [f"{row.presets[preset]:g}".replace("-", "−") if preset in row.presets else "–" for preset in presets]
    return f"| `{name}` | {row.doc} | {' | '.join(numbers)} |"


@functools.cache
def sizes() -> str:
    """The sizes that a run of each environment's preset keeps: a row for each id."""
    columns = (
        "id",
        "actions",
        "numbers that describe one",
        "weights",
        "gradient, MB",
        "observation, bytes",
        "state, bytes",
    )
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for id in jaxenv.registered():
        env, params = jaxenv.make(id)
        rows.append(f"| `{id}` | {' | '.join(figures(env, params, train.preset(id)))} |")
    return "\n".join(rows)


def environments() -> str:
    """Of each id what a learner asks for first."""
    rows = [["id", "actions", "flat vector", "steps at most", "discount of the preset"]]
    for id in jaxenv.registered():
        env, params = jaxenv.make(id)
        flat = jax.eval_shape(env.flatten, observed(env, params), params)
        numbers = (str(env.num_actions), f"{flat.size:,}", str(int(params.max_steps_in_episode)))
        rows.append([f"`{id}`", *numbers, str(train.preset(id).hyper.gamma)])
    return as_table(rows)


def large() -> str:
    """The settings that the law of large batches gives: a row for each number of environments."""
    chosen = ("LifeOps-Shaped-v0", "LifeStack-v0", "TeamsClone-v0")
    columns = ("environments", *(f"`{id}`" for id in chosen))
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for num_envs in (1024, 16_384, 32_768, 65_536, 262_144):
        configs = [scaled(train.preset(id), num_envs) for id in chosen]
        sizes = [
            f"{config.rollout.num_steps}, {config.rollout.minibatch_size:,}, {config.total_steps / 1e6:.0f} M"
            for config in configs
        ]
        rows.append(f"| {' | '.join([f'{num_envs:,}', *sizes])} |")
    return "\n".join(rows)


@functools.cache
def leaderboard_rows() -> list[leaderboard.Row]:
    """All rows, by environment, the best on the test set first."""
    return leaderboard.rows(DOCS.parent / "leaderboard")


def leaderboard_sections() -> str:
    """A section for each environment."""
    by_environment = itertools.groupby(leaderboard_rows(), lambda row: row.env)
    return "\n\n".join(f"## {env_id}\n\n{ranked(leaderboard.cells(found))}" for env_id, found in by_environment)


def ranked(lines: list[list[str]]) -> str:
    """The rows of one environment, without its name and without columns that are empty in all."""
    kept = [number for number, _ in enumerate(lines[0]) if number and any(line[number] for line in lines[1:])]
    return as_table([[line[number] for number in kept] for line in lines])


TRAINING = {
    "environments": environments,
    "training.sizes": sizes,
    "training.large": large,
    "leaderboard": leaderboard_sections,
    "policies.training": policies.training,
    "policies.returns": policies.returns,
}


def observed(env: Environment, params: Any) -> Any:
    """The shapes and dtypes of the observation of one agent."""
    of_all = observation_shapes(env, params)
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), of_all)


def figures(env: Environment, params: Any, config: train.Config) -> list[str]:
    """The numbers in a row of `sizes`: the shapes of an environment's training data, without computing any of it."""
    weights = functools.partial(learner.initial_weights, env_params=params, config=config, env=env)
    count = sum(leaf.size for leaf in jax.tree.leaves(jax.eval_shape(weights, jax.random.key(0))))
    one = observed(env, params)
    described = jax.eval_shape(lambda one: dense(env.entities(one, params).actions), one)
    state = jax.eval_shape(EpisodeStatistics(env).reset, jax.random.key(0), params)[1]
    return [
        *(str(env.num_actions), str(described.shape[-1]), f"{count:,}", f"{4 * count / 1e6:.2f}"),
        *(f"{size(one):,}", f"{size(state):,}"),
    ]


def size(tree: Any) -> int:
    """Bytes of a pytree of shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def rewritten(text: str) -> str:
    """A page with its tables written anew."""
    return TABLE.sub(lambda found: f"{found[1]}{table(found[2])}{found[3]}", text)


def main(argv: Sequence[str]) -> int:
    """Writes the tables of all pages, docs/licences.md and docs/badges/."""
    if argv:
        raise ValueError(f"tables takes no arguments, got {' '.join(argv)}")
    for page in DOCS.rglob("*.md"):
        page.write_text(rewritten(page.read_text("utf-8")), "utf-8")
    licences.write()
    return 0
