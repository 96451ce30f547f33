"""What `test_several_devices.py` runs in processes of their own: the number of devices is fixed when JAX starts."""

import dataclasses
import json
import os
import signal
import sys
from pathlib import Path

import jax
import numpy as np

from train import processes
from train.run.job import prepare

if __name__ == "__main__" and sys.argv[1] == "join":
    processes.join(60)  # ahead of what makes arrays

from probes import GENERATED, PROBES, run_alone

from strategies.tables import Table
from train import dqn, ppo
from train.lanes import SHARED
from train.save import folder as run_folder
from train.save.checkpoint import Checkpoints
from train.settings.groups import QLearning

PARAMS = PROBES["time limit"]  # episodes are cut, valued and go on, so that every part of an update has work
CONFIG = dataclasses.replace(
    GENERATED,
    rollout=dataclasses.replace(GENERATED.rollout, lanes=4),
    q=QLearning(buffer_size=1024, learning_starts=0),
)
NORMALIZED = dataclasses.replace(CONFIG.network, normalize_observations=True)
RECURRENT = dataclasses.replace(CONFIG.network, core="gru", core_units=8)
SUPERSTEPS = 3


def train(devices, algorithm=ppo, network=CONFIG.network, **rollout):
    """(weights after three supersteps, metrics of the last, text of the compiled program)."""
    sizes = dataclasses.replace(CONFIG.rollout, **rollout)
    config, lanes = processes.place(dataclasses.replace(CONFIG, rollout=sizes, network=network, devices=devices))
    params, hyper = lanes.put((PARAMS, config.hyper), SHARED)
    state = algorithm.init(jax.random.key(0), params, config=config, env=Table(), lanes=lanes)
    superstep = algorithm.make_superstep(config, Table(), lanes).lower(state, params, hyper).compile()
    for _ in range(SUPERSTEPS):
        state, metrics = superstep(state, params, hyper)
    weights = algorithm.policy_of(state, config=config, env=Table()).weights
    return jax.tree.leaves(lanes.local((weights, metrics))), superstep.as_text()


def difference(one, other):
    """The greatest difference of two lists of arrays."""
    return max(float(np.abs(np.asarray(a, np.float64) - np.asarray(b)).max()) for a, b in zip(one, other, strict=True))


def compare():
    """How far several devices, and other lanes, are from one device."""
    alone, _ = train(1)
    spread, text = train(4)
    other, _ = train(1, lanes=2)
    return {
        "4 devices": difference(alone, spread),
        "2 lanes": difference(alone, other),
        "collectives": sorted(name for name in ("all-gather", "all-to-all", "all-reduce") if name in text),
    }


def compare_others():
    """How far gradients in parts are, and several devices where there is more state: a replay buffer, or statistics."""
    normalized = [train(devices, network=NORMALIZED, normalize_rewards=True)[0] for devices in (1, 4)]
    return {
        "in parts": difference(train(1)[0], train(1, microbatch_size=16)[0]),
        "replay": difference(train(1, dqn)[0], train(4, dqn)[0]),
        "normalized": difference(*normalized),
    }


def compare_memory():
    """How far several devices are where carries lie on them."""
    return {"memory": difference(*(train(devices, network=RECURRENT)[0] for devices in (1, 4)))}


def run(path, devices, total_steps):
    """A run with a checkpoint after each superstep, or its continuation."""
    lasting = {"run_dir": Path(path), "total_steps": total_steps, "checkpoint_every": 0.0}
    config = dataclasses.replace(CONFIG, devices=devices, **lasting)
    folder = run_folder.RunFolder(Path(path))
    folder = folder if folder.checkpoints.exists() else run_folder.create(config)
    outcome = run_alone(prepare(ppo, config, Table(), PARAMS), folder, show_progress=False)
    return [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(outcome.policy.weights)]


def resume(path):
    """A run on 4 devices that goes on with 2, against one that stays on 1."""
    steps = CONFIG.steps_per_superstep
    run(f"{path}/moved", 4, 2 * steps)
    moved, stayed = run(f"{path}/moved", 2, 4 * steps), [run(f"{path}/stayed", 1, n * steps) for n in (2, 4)][-1]
    return {"resumed": difference(moved, stayed)}


def join(path, supersteps="2", killed=None):
    """A run of all processes; one may be killed right after the first checkpoint."""
    if killed == str(jax.process_index()):
        saved = Checkpoints.mark_begun
        Checkpoints.mark_begun = lambda self: (saved(self), os.kill(os.getpid(), signal.SIGKILL))
    weights = run(path, None, int(supersteps) * CONFIG.steps_per_superstep)
    return {"devices": len(jax.devices()), "weights": weights}


if __name__ == "__main__":
    jax.config.update("jax_numpy_rank_promotion", "raise")
    command, *arguments = sys.argv[1:]
    commands = {each.__name__: each for each in (compare, compare_others, compare_memory, resume, join)}
    print(json.dumps(commands[command](*arguments)))
