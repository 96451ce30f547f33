"""Returns by the difficulty of generated scenarios: of the rule-based agents, and of runs as means over their seeds.

python -m lab difficulty Week-v0 runs/gru runs/feedforward
"""

import argparse
import functools
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np

import jaxenv
import train
from jaxenv import baselines
from train.experience.bank import generate_bank
from train.score.scores import aggregate, paired_difference

SEED = 2**20  # of the scenarios


def main(argv: Sequence[str]) -> int:
    """Prints a row for each agent and, of two runs, one for the first less the second on the same scenarios."""
    parser = argparse.ArgumentParser(prog="python -m lab difficulty", description=__doc__)
    parser.add_argument("env", help="id of an environment whose scenarios are generated")
    parser.add_argument("runs", nargs="*", type=Path, help="folders of runs, or of populations")
    parser.add_argument("--difficulties", nargs="+", type=float, default=[0.0, 0.5, 1.0, 1.5])
    parser.add_argument("--scenarios", type=int, default=512, help="of each difficulty")
    given = parser.parse_args(argv)

    env, params = jaxenv.make(given.env)
    agents = {name: [policy] for name, policy in baselines.for_environment(env).items()}
    agents |= {str(run): [train.load_policy(path, env, params) for path in members(run)] for run in given.runs}
    draw = functools.partial(generate_bank, env, jax.random.key(SEED), count=given.scenarios)
    played = [params.replace(bank=draw(difficulty=(each, each))) for each in given.difficulties]
    returns = {
        name: [np.stack([jaxenv.evaluate(policy, env, params).returns[:, 0] for policy in seeds]) for params in played]
        for name, seeds in agents.items()
    }
    print("difficulty", *given.difficulties, sep=" | ")
    for name, scores in returns.items():
        print(f"{name}, {len(agents[name])}", *map(aggregate, scores), sep=" | ")
    if len(given.runs) == 2:
        pairs = zip(*(returns[str(run)] for run in given.runs), strict=True)
        print("difference", *(aggregate(*pair, statistic=paired_difference) for pair in pairs), sep=" | ")
    return 0


def members(run: Path) -> list[Path]:
    """The folders of the runs of a population, or of one run."""
    return sorted(path.parent for path in run.glob("*/policy.msgpack")) or [run]
