"""A policy beside the baselines: the table on a library of scenarios, with their reference returns."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

import scenarios
from jaxenv import baselines
from jaxenv.core import Environment
from jaxenv.evaluation import Evaluation, evaluate
from jaxenv.host.companions import command
from train import processes
from train.protocol import shipped
from train.run.outputs import Outcome
from train.score.held_out import COUNT, validation_returns
from train.score.scores import ReferenceReturns, summarize, table
from train.settings import task
from train.settings.serialize import differences, in_words

EPISODES = 64  # per scenario, for the table: more than one because some environments are random
MAX_DIFFERING = 12  # params of the training that a note names


def library_of(env: Environment, path: str | None) -> scenarios.Library | None:
    """`shipped.library_for`; of a path it prints the number of warnings, if any, and the command that lists them."""
    library = shipped.library_for(env, path)
    number = 0 if path is None or library is None else len(library.warnings)
    if number and processes.is_writer():
        told = f"{number} warning{'s' if number > 1 else ''}"
        print(f"{path}: {told}, see `{command('scenarios')} check {path}`", flush=True)
    return library


def compare(
    policy: Any,
    env: Environment,
    params: Any,
    library: scenarios.Library | None,
    *,
    name: str,
    repetitions: int = EPISODES,
) -> tuple[str, dict[str, float]]:
    """The table of every baseline and this policy, under its name, on a library; and their validation returns.

    There are validation returns if the library is the shipped one. Without a library the table is a line of mean
    returns.
    """
    if library is None:
        return mean_returns({**baselines.for_environment(env), name: policy}, env, params, repetitions), {}
    params = params.replace(bank=library.bank)
    rules = baselines.for_environment(env)
    validation = validation_returns({**rules, name: policy}, env, params) if library.is_shipped else {}
    reference = shipped.reference_returns(env, params, library, rules.pop("Random"))
    policies = {**rules, name: policy}
    results = {title: on_library(each, env, params, repetitions) for title, each in policies.items()}
    return table(reference, results, validation), validation


def on_library(policy: Any, env: Environment, params: Any, repetitions: int) -> Evaluation:
    """`evaluate` of a bank in parts as large as the validation set, whose compiled program they share.

    Fewer episodes than that are played as they are, since a search takes longer for each than to compile.
    """
    size = params.bank.size
    if size * repetitions < COUNT:
        return evaluate(policy, env, params, repetitions=repetitions)
    index = np.arange(size).repeat(repetitions)
    starts = range(0, index.size, COUNT)
    parts = [np.resize(index[start : start + COUNT], COUNT) for start in starts]  # the last one is filled up
    banks = [params.bank.replace(scenarios=params.bank[part], start_table=None) for part in parts]
    found = [
        evaluate(policy, env, params.replace(bank=bank), key=jax.random.key(start))
        for start, bank in zip(starts, banks, strict=True)
    ]
    whole = jax.tree.map(lambda *leaves: np.concatenate(leaves)[: index.size, 0], *found)
    return jax.tree.map(lambda leaf: leaf.reshape(size, repetitions, *leaf.shape[1:]), whole)


def members_table(outcomes: Mapping[str, Outcome], env: Environment, params: Any, library: Any) -> str:
    """A line for each member of a population: its last validation return, and its mean score, or else return."""
    reference = None
    if library is not None:
        params = params.replace(bank=library.bank)
        known = shipped.reference_returns(env, params, library, baselines.random_policy)
        reference = None if np.isnan(known.top).all() else known
    rows = [_row(outcome, env, params, reference) for outcome in outcomes.values()]
    width = max(map(len, [*outcomes, "mean"]))
    lines = [f"{'':<{width}}  {'validation':>10}  {'mean score' if reference else 'return':>10}"]
    spread = [f"{np.mean(column):.3f} ± {np.std(column):.3f}" for column in zip(*rows, strict=True)]
    for (name, outcome), (validated, scored) in zip(outcomes.items(), rows, strict=True):
        failure = f"  stopped early, not finite: {outcome.failure}" if outcome.failure else ""
        lines.append(f"{name:<{width}}  {validated:>10.3f}  {scored:>10.3f}{failure}")
    lines.append(f"{'mean':<{width}}  {'  '.join(spread)} (standard deviation)")
    return "\n".join([*lines, *([f"score: {reference.meaning}"] if reference else [])])


def _row(outcome: Outcome, env: Environment, params: Any, reference: ReferenceReturns | None) -> tuple[float, float]:
    """The last validation return of a member, and its mean score, or its mean return without a reference."""
    validated = outcome.metrics["validation_return"]
    validated = validated[~np.isnan(validated)]
    last = float(validated[-1]) if validated.size else float("nan")
    result = evaluate(outcome.policy, env, params, repetitions=EPISODES)
    if reference is None:
        return last, float(np.mean(result.returns))
    scored = summarize(result, reference).mean_score
    return last, scored.value if scored else float("nan")


def mean_returns(policies: Mapping[str, Any], env: Environment, params: Any, repetitions: int) -> str:
    """The mean return of each policy over the scenarios of the params, as a line."""
    found = {name: evaluate(each, env, params, repetitions=repetitions).returns for name, each in policies.items()}
    means = ", ".join(f"{name} {np.mean(returns):.2f}" for name, returns in found.items())
    return f"mean return of {np.size(next(iter(found.values()))):,} episodes: {means}"


def training_note(params: Mapping[str, Any], env: Environment) -> str:
    """A line on the params that differ from the default ones of the table, if any did.

    Args:
        params: of the training, as `task.describe_params` has them.
        env: the environment, whose default params score.
    """
    defaults = task.describe_params(env.default_params)
    differing = differences(params, {name: defaults.get(name) for name in params})
    text = in_words(differing, "{} {} (scored with {})", most=MAX_DIFFERING)
    return f"\ntrained with other params than the defaults: {text}" if differing else ""
