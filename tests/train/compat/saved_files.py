"""The small files that each release leaves for later ones to read.

`PYTHONPATH=.:tests:tests/train python tests/train/compat/saved_files.py` writes `tests/data/compat/<version>/`, once: a
policy of LifeOps, a bank of it, a run folder of a table, half trained, `expected.json`, what is read from them, and the
golden trajectories of the environments that it has.
"""

import dataclasses
import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from probes import GENERATED, PROBES, run_alone

import jaxenv
import train
from strategies.tables import Table
from train import ppo
from train.log.metrics import read_metrics
from train.run.group import Group
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.arrays import by_name, digest
from train.save.checkpoint import Checkpoints
from train.settings.groups import Network, Rollout, Scenarios

FOLDER = Path(__file__).parents[2] / "data" / "compat"
GOLDENS = FOLDER.with_name("goldens")
ENV_ID = "LifeOps-v0"
TABLE, PARAMS = Table(), PROBES["observation"]
CONFIG = GENERATED.replace(
    total_steps=256,
    rollout=Rollout(num_envs=8, num_steps=4, epochs=1, minibatch_size=32, updates_per_superstep=2),
    network=Network(hidden=(8,)),
    training=Scenarios(count=8),
    checkpoint_every=0.0,
)
STOPPED_AFTER = 2  # supersteps


def write(folder: Path) -> None:
    """Writes all files of this version."""
    env, params = jaxenv.make(ENV_ID)
    config = train.preset(ENV_ID).replace(network=Network(hidden=(4,)))
    state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    policy = jax.tree.map(_numbers, ppo.policy_of(state, config=config, env=env))
    folder.mkdir(parents=True)
    train.save_policy(folder / "policy.msgpack", policy, config, scenarios=params.bank.fingerprint(), algorithm="ppo")
    _bank(params).save(folder / "bank.npz")
    _write_run(folder / "run")
    shutil.copytree(GOLDENS, folder / "goldens")
    (folder / "expected.json").write_text(json.dumps(read(folder), indent=1) + "\n")


def read(folder: Path) -> dict[str, object]:
    """What this version finds in the files."""
    env, params = _made()
    policy = train.load_policy(folder / "policy.msgpack", env, params)
    bank = jaxenv.ScenarioBank.load(folder / "bank.npz", env.empty_scenario)
    config = run_folder.RunFolder(folder / "run").read_config()
    metrics = list(read_metrics(folder / "run" / "metrics.jsonl"))
    return {
        "actions": _actions(policy, env, params),
        "weights": digest({str(index): leaf for index, leaf in enumerate(jax.tree.leaves(policy.weights))}),
        "bank": bank.fingerprint(),
        "steps": [record["env_steps"] for record in metrics],
        "returns": [record["return"] for record in metrics],
        "state": _state(folder / "run", config),
    }


def resume(folder: Path) -> train.Outcome:
    """Trains a copy of the run to its end."""
    run = run_folder.RunFolder(folder)
    return run_alone(prepare(ppo, run.read_config(), TABLE, PARAMS), run, show_progress=False)


def _made() -> tuple[Any, Any]:
    return jaxenv.make(ENV_ID)


def _write_run(path: Path) -> None:
    """A run that was stopped, with one checkpoint."""
    run = run_folder.create(CONFIG.replace(run_dir=path))
    config = dataclasses.replace(CONFIG, checkpoint_every=float("inf"))
    run_alone(
        prepare(ppo, config, TABLE, PARAMS), run, show_progress=False, callback=lambda record: record["superstep"] == 0
    )
    run.write_config(run.read_config().replace(run_dir=Path("run")))


def _state(path: Path, config: train.Config) -> str:
    """The digest of the state in the newest checkpoint, read from a copy: reading may put a damaged one aside."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(path / "checkpoints", Path(copy) / "checkpoints")
        with Checkpoints(Path(copy) / "checkpoints", config) as checkpoints:
            state, progress = Group(prepare(ppo, config, TABLE, PARAMS)).restore_or_begin(checkpoints)
        return f"{progress.superstep} {progress.env_steps} {digest(by_name(state))}"


def _actions(policy: Any, env: Any, params: Any) -> list[int]:
    """The policy's first action in each scenario of the library."""
    observations, _ = jax.jit(jax.vmap(env.reset_env, in_axes=(None, None, 0)))(
        jax.random.key(0), params, jnp.arange(params.bank.size)
    )
    found = jax.jit(jax.vmap(policy, in_axes=(None, 0, None)))(jax.random.key(1), observations, params)
    return np.asarray(found).tolist()


def _bank(params: Any) -> jaxenv.ScenarioBank:
    """Two scenarios of the library."""
    return jaxenv.ScenarioBank(jax.tree.map(lambda leaf: leaf[:2], params.bank.scenarios), shared=params.bank.shared)


def _numbers(leaf: jax.ShapeDtypeStruct) -> jax.Array:
    """Weights that no initialization decides, and that differ enough for actions to."""
    count = int(np.prod(leaf.shape))
    values = np.sin(np.arange(count, dtype=np.float64) * 1.7 + leaf.ndim) * 2.0
    return jnp.asarray(values.reshape(leaf.shape), leaf.dtype)


if __name__ == "__main__":
    write(FOLDER / jaxenv.__version__)
