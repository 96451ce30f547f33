"""What a training run is told: frozen records in groups, each entry with its meaning.

Axes: T steps of a rollout, B environments, F features of an observation, A actions.
"""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import tyro
from flax import struct


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rollout:
    """How experience is collected and how often it is gone through; sizes, so a change recompiles."""

    num_envs: int = 1024  # E, environments side by side
    num_steps: int = 16  # T, steps of each environment between two updates
    epochs: int = 4  # passes over a rollout
    minibatches: int = 8  # gradient steps in a pass
    updates_per_superstep: int = 4  # updates compiled into one call, between two looks from outside
    # Value what lies beyond a time limit (Pardo et al. 2018). Off: the limit is an end like any other, right
    # where the clock is observed and the limit scored.
    bootstrap_truncated: bool = True

    def __post_init__(self) -> None:
        """Refuses sizes under 1, and minibatches of different sizes."""
        for name, value in dataclasses.asdict(self).items():
            if name != "bootstrap_truncated" and value < 1:
                raise ValueError(f"{name} is at least 1, got {value}")
        if self.batch_size % self.minibatches:
            raise ValueError(
                f"{self.num_envs} environments x {self.num_steps} steps = {self.batch_size} samples "
                f"do not divide into {self.minibatches} equal minibatches"
            )

    @property
    def batch_size(self) -> int:
        """T * E, the environment steps of one update; of N agents each step is N samples."""
        return self.num_envs * self.num_steps


class Hyper(struct.PyTreeNode, kw_only=True):
    """Numbers of the objective. They are traced: a change never recompiles, `jax.vmap` over them is a sweep."""

    learning_rate: float = 3e-4  # of Adam, at the first update
    learning_rate_end: float = 0.0  # where it has fallen to, in a straight line, after the last
    max_grad_norm: float = 0.5  # gradients are scaled down to this global norm
    gamma: float = 0.99  # discount of one step
    gae_lambda: float = 0.95  # of generalised advantage estimation
    clip: float = 0.2  # range of the probability ratio
    value_clip: float = 10.0  # range in which a value moves in one update, in scaled reward
    value_coef: float = 0.5  # weight of the value loss
    entropy_coef: float = 0.01  # weight of the entropy bonus at the first update
    entropy_coef_end: float = 0.0  # the same after the last
    reward_scale: float = 1.0  # rewards are multiplied by this for learning; what is reported is not


@dataclasses.dataclass(frozen=True, kw_only=True)
class Network:
    """What the policy and the value are computed by."""

    encoder: Literal["flat", "entities"] = "flat"  # an MLP over the flat vector, or entities embedded and pooled
    embedding: int = 32  # units of an embedded entity; only for entities
    hidden: tuple[int, ...] = (256, 256)  # units of each hidden layer
    activation: Literal["tanh", "relu"] = "tanh"  # after each hidden layer
    shared_trunk: bool = False  # one set of hidden layers for policy and value, or one each
    sees_actions: bool = True  # whether hidden layers read the features of the actions; only for entities


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scenarios:
    """What is trained on."""

    scenarios: str = "generated"  # "generated", "library", or a file or folder of scenarios
    count: int | None = None  # generated scenarios in the bank; four times as many as environments where not given
    difficulty: tuple[float, float] = (0.0, 1.0)  # range that each scenario's is drawn from
    refresh: int = 1  # updates until all scenarios that no episode plays are generated anew; 0: never

    def __post_init__(self) -> None:
        """Refuses an empty bank and a range that is none."""
        if (self.count is not None and self.count < 1) or self.refresh < 0:
            raise ValueError(f"count is at least 1 and refresh at least 0, got {self.count} and {self.refresh}")
        low, high = self.difficulty
        if not 0.0 <= low <= high <= 1.0:
            raise ValueError(f"difficulty is a range within 0..1, got {low} {high}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """A training run."""

    env: str  # id of a registered environment
    # What its constructor takes and the numbers of its params, both by dotted name, where they are not the defaults; a
    # run writes down all of them. See `train.task`.
    env_args: tyro.conf.Suppress[Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    params: tyro.conf.Suppress[Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    seed: int = 0  # of everything random
    total_steps: int = 4_000_000  # environment steps, rounded up to whole supersteps
    run_dir: Path | None = None  # folder to write, which must not exist; default runs/ENV-SEED-N
    validate_every: int = 4  # supersteps between two looks at the validation set; 0: none
    checkpoint_every: float = 60.0  # seconds between two checkpoints; the end of a run has one in any case
    tensorboard: bool = True  # write TensorBoard events too, where tensorboardX is installed
    rollout: Rollout = dataclasses.field(default_factory=Rollout)
    hyper: Hyper = dataclasses.field(default_factory=Hyper)
    network: Network = dataclasses.field(default_factory=Network)
    training: Scenarios = dataclasses.field(default_factory=Scenarios)

    def __post_init__(self) -> None:
        """Refuses looks less often than never, and a bank whose scenarios might all be in use."""
        if self.validate_every < 0:
            raise ValueError(f"validate_every is at least 0, got {self.validate_every}")
        num_envs, settings = self.rollout.num_envs, self.training
        if self.is_generated and settings.refresh and self.num_scenarios < num_envs:
            raise ValueError(
                f"count is at least num_envs, {num_envs}, got {settings.count}: a refresh replaces only scenarios that "
                "no environment is playing; refresh 0 keeps the first ones"
            )

    @property
    def num_scenarios(self) -> int:
        """S, generated scenarios in the bank."""
        return 4 * self.rollout.num_envs if self.training.count is None else self.training.count

    @property
    def is_generated(self) -> bool:
        """Whether training scenarios are drawn by the environment's generator."""
        return self.training.scenarios == "generated"

    @property
    def steps_per_superstep(self) -> int:
        """Environment steps of one compiled call."""
        return self.rollout.batch_size * self.rollout.updates_per_superstep

    @property
    def num_supersteps(self) -> int:
        """Compiled calls of the whole run, at least one."""
        return max(1, math.ceil(self.total_steps / self.steps_per_superstep))

    @property
    def num_updates(self) -> int:
        """Updates of the whole run, over which the schedules fall."""
        return self.num_supersteps * self.rollout.updates_per_superstep
