"""`jaxenv collect`: a dataset of a policy's transitions."""

from pathlib import Path
from typing import Any, Literal

import jax
from tqdm import tqdm
from tyro.conf import Positional

from jaxenv.core import Environment
from train.cli import comparison, trained
from train.data import dataset, minari_format
from train.experience.bank import generate_bank
from train.save.folder import policy_path


def collect(
    run_dir: Positional[Path],
    out: Path,
    episodes: int = 1000,
    env: str | None = None,
    network: str | None = None,
    scenarios: str | None = None,
    best: bool = False,
    greedy: bool = True,
    seed: int = 0,
    at_once: int = 64,
    format: Literal["npz", "minari"] = "npz",
    name: str | None = None,
) -> None:
    """Write the transitions of a policy as a dataset, for learning offline; docs/datasets.md has its layout.

    Args:
        run_dir: The folder of a run, or its policy file.
        out: The file, .npz.
        episodes: Episodes, of the scenarios in turns.
        env: MODULE:FACTORY of an environment of your own that it was trained in.
        network: MODULE:FACTORY of a network of your own that it was trained with.
        scenarios: generated, or a file or folder of scenarios; default: the environment's library.
        best: The policy that had the best validation return, not the last one.
        greedy: Take the most probable action instead of sampling one.
        seed: Random seed of actions, episodes and generated scenarios.
        at_once: Episodes that are played side by side, and kept in memory.
        format: minari adds it to the local datasets of Minari too, if that is installed.
        name: The name of the dataset in Minari; default: ENV/ALGORITHM-v0.
    """
    if format == "minari":
        minari_format.minari()  # or it would be missed when all is played
    policy, made, params, header = trained.read(run_dir, env, network, best=best, greedy=greedy, as_trained=True)
    path = policy_path(run_dir, best=best)
    key, bank_key = jax.random.split(jax.random.key(seed))
    params = _with_scenarios(made, params, scenarios, bank_key, episodes)
    source = {
        "algorithm": header.get("algorithm", ""),
        "file": path.name,
        "sha256": trained.digest(path),
        "scenarios": header["scenarios"],
    }
    with tqdm(total=episodes, unit=" episodes", desc=made.name) as bar:
        found = dataset.collect(
            *(out, policy, made, params, episodes),
            key=key,
            source={**source, "seed": seed},
            at_once=at_once,
            on_progress=bar.update,
        )
    print(f"{found['transitions']:,} transitions, mean return {found['mean_return']:.2f}, written to {out}")
    if format == "minari":
        title = name or f"{made.name.lower()}/{source['algorithm'] or 'policy'}-v0"
        minari_format.convert(out, title)
        print(f"added to Minari as {title}")


def _with_scenarios(env: Environment, params: Any, source: str | None, key: jax.Array, episodes: int) -> Any:
    """The params with the scenarios that are played; generated ones are as many as episodes."""
    if source == "generated":
        shared = params.bank.shared
        return params.replace(bank=generate_bank(env, key, count=episodes, difficulty=(0.0, 1.0), shared=shared))
    library = comparison.library_for(env, source)
    comparison.tell_warnings(library, source)
    return params if library is None else params.replace(bank=library.bank)
