"""The tables of docs/policies.md: what each released policy is, and what its own seed scored."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import jax

import jaxenv
from jaxenv.policies import released
from lab.results import measure
from lab.results.markdown import as_table
from train.protocol.score import LIBRARY, WHOLE_TEST, Score, with_test
from train.save.policy_file import read_header

ROOT = Path(__file__).parents[2]
SETS = (WHOLE_TEST, "shifted", LIBRARY)
DIGITS = 8  # of a digest


class Released(NamedTuple):
    """A policy file, and the score of the seed that it is."""

    id: str
    header: dict[str, Any]
    digest: str
    score: Score
    seed: int


def _all() -> list[Released]:
    """In the order of the registry."""
    found = []
    for id in (id for id in jaxenv.registered() if id in released()):
        path = ROOT / "jaxenv" / "policies" / f"{id}.msgpack"
        score, seed = measure.of_policy(ROOT / "leaderboard", id, path)
        found.append(Released(id, read_header(path), measure.sha256(path), score, seed))
    return found


def training() -> str:
    """Size, steps and digests of each."""
    rows = [["policy", "weights", "steps", "seed", "bank begins", "SHA-256 begins"]]
    for id, header, digest, score, seed in _all():
        weights = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(header["weights"]))
        marks = header["scenarios"][:DIGITS], digest[:DIGITS]
        rows.append([id, f"{weights:,}", f"{score.about['env_steps']:,}", str(seed), *marks])
    return as_table(rows)


def returns() -> str:
    """Mean return of each, by set."""
    rows = [["policy", *SETS]]
    for id, _, _, score, seed in _all():
        by_set = with_test(score.returns)
        rows.append([id, *(f"{by_set[name][seed].mean():.2f}" for name in SETS)])
    return as_table(rows)
