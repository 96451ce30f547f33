"""The table of docs/policies.md: what each released policy is, and what its own seed scored."""

import math
from pathlib import Path

import jax

import jaxenv
from jaxenv.policies import released
from lab.results import measure
from train.protocol.score import LIBRARY, WHOLE_TEST, Score, with_test
from train.save.policy_file import read_header

ROOT = Path(__file__).parents[2]
HEAD = ["file", "network", "weights", "trained on", "steps", "seed", WHOLE_TEST, "shifted", LIBRARY, "SHA-256 begins"]


def table() -> str:
    """A row for each policy, in the order of the registry."""
    rows = [HEAD, ["---"] * len(HEAD), *(_row(id) for id in jaxenv.registered() if id in released())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(id: str) -> list[str]:
    path = ROOT / "jaxenv" / "policies" / f"{id}.msgpack"
    header, score, mark = read_header(path), Score.load(ROOT / "leaderboard" / id / "PPO.npz"), measure.sha256(path)
    seed = score.about["policies"].index(mark)
    network, returns = header["network"], with_test(score.returns)
    weights = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(header["weights"]))
    return [
        f"`{path.name}`",
        f"{network['encoder']}, {' × '.join(map(str, network['hidden']))}",
        f"{weights:,}",
        f"`{header['scenarios']}`",
        f"{score.about['env_steps']:,}",
        str(seed),
        *(f"{returns[name][seed].mean():.2f}" for name in (WHOLE_TEST, "shifted", LIBRARY)),
        f"`{mark[:16]}`",
    ]
