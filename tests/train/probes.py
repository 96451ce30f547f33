"""Tables with known answers, and the small settings that train on them."""

import dataclasses
import types

import numpy as np

from strategies.tables import STATES, Table, column, table
from train.run.job import ALONE
from train.run.runner import run_members
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios

SMALL = Config(
    env="Table-v0",
    total_steps=32 * 8 * 20,
    rollout=Rollout(num_envs=32, num_steps=8, epochs=4, minibatch_size=64, updates_per_superstep=2),
    hyper=Hyper(learning_rate=5e-3, entropy_coef=0.01),
    network=Network(hidden=(16,)),
    training=Scenarios(scenarios="library"),  # the banks of the probes say where an episode starts
    tensorboard=False,
)
GENERATED = dataclasses.replace(SMALL, training=Scenarios())  # starts an episode anywhere

# A chain: state 0, then 1, then 2, then the end; a reward at the end alone.
CHAIN = table(rewards=column([0, 0, 1]), following=column([1, 2, 0]), ends=column([False, False, True]))

PROBES = {
    "one step": table(rewards=1.0),
    "observation": table(starts=(0, 1), rewards=column([1, -1, 0])),
    "discounting": CHAIN,
    "action": table(rewards=[[0, 1, 0]]),
    "action x observation": table(starts=(0, 1), rewards=[[1, -1, -1], [-1, 1, -1], [0, 0, 0]]),
    "time limit": table(observations=np.ones((STATES, STATES)), rewards=1.0, ends=False, limit=5),
    "mask": table(rewards=[[0, 0.5, 1]], legal=[[True, True, False]]),
}
GAMMAS = {name: 0.5 if name == "discounting" else 0.8 for name in PROBES}

# name -> value of each state that is visited, and the best action in it where it matters.
VALUES = {
    "one step": {0: 1.0},
    "observation": {0: 1.0, 1: -1.0},
    "discounting": {0: 0.25, 1: 0.5, 2: 1.0},
    "action": {0: 1.0},
    "action x observation": {0: 1.0, 1: 1.0},
    "time limit": {0: 1.0 / (1.0 - GAMMAS["time limit"])},
    "mask": {0: 0.5},
}
BEST_ACTIONS = {"action": {0: 1}, "action x observation": {0: 0, 1: 1}, "mask": {0: 1}}

# What the command line takes for the library of the probe `observation`.
LIBRARY = types.SimpleNamespace(
    is_shipped=True,
    bank=PROBES["observation"].bank,
    ids=("a", "b", "c", "d"),
    documents=("a", "b", "c", "d"),
    returns=lambda name: {id: {"random": -1.0, "best": 1.0} for id in "abcd"},
)


class Registered(Table):
    """The probe `observation` by default."""

    @property
    def default_params(self):
        return PROBES["observation"]


def run_alone(job, folder=None, **options):
    """The outcome of a run that is no population."""
    return run_members(job, folder, **options)[ALONE]
