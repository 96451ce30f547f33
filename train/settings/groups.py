"""The groups of settings of a training run: frozen records. The comment beside an entry is its `--help`."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import tyro
from flax import struct

from train.settings.bounds import MAX_BATCH, Fraction, Interval, NotNegative, Positive, Within, settle

MAX_LAYERS = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rollout:
    """How experience is collected and reused. These are sizes, so changing one recompiles.

    With N agents an environment step gives N samples: an update has N times as many minibatches.

    Examples:
        >>> Rollout(num_envs=64, num_steps=8).batch_size
        512
    """

    num_envs: int = 1024  # E, parallel environments
    num_steps: int = 16  # T, steps per environment and update
    epochs: int = 4  # passes over a rollout; with a replay buffer, samples drawn from it for each step collected
    minibatch_size: int = 2048  # samples per gradient step; all of them if a rollout has fewer environment steps
    # Samples whose gradient is computed at once; a minibatch is accumulated over them. Less memory, the same gradient.
    # Default: the whole minibatch.
    microbatch_size: int | None = None
    updates_per_superstep: int = 4  # updates compiled into one call; metrics are written once per call
    # Parts with their own environments, scenarios, keys and shuffles, over which devices are spread; results depend on
    # it, and not on the devices. Default: one per device.
    lanes: int | None = None
    # Bootstrap the value at a time limit (Pardo et al. 2018). Off: a time limit counts as termination, which is right
    # where the clock is observed and the limit is part of the task.
    bootstrap_truncated: bool = True
    # Rewards are divided by the standard deviation of the discounted return, for learning; reported returns are not.
    normalize_rewards: bool = False

    def __post_init__(self) -> None:
        """Rejects sizes out of bounds, and parts of unequal size."""
        settle(self)
        if self.batch_size > MAX_BATCH:
            raise ValueError(f"num_envs x num_steps may be {MAX_BATCH:,}, got {self.batch_size:,}")
        rollout = f"{self.num_envs} environments x {self.num_steps} steps = {self.batch_size} samples"
        if self.batch_size % self.samples_per_step:
            raise ValueError(f"{rollout} cannot be split into minibatches of {self.minibatch_size}")
        if self.samples_per_step % self.samples_at_once:
            raise ValueError(
                f"a minibatch of {self.samples_per_step} samples cannot be split into parts of {self.microbatch_size}"
            )
        sizes = {"environments": self.num_envs, "samples per minibatch": self.samples_per_step}
        for what, size in {**sizes, "samples at once": self.samples_at_once}.items():
            if size % self.num_lanes:
                raise ValueError(f"{size} {what} cannot be split into {self.lanes} equal lanes")

    @property
    def batch_size(self) -> int:
        """T * E, environment steps per update; with N agents each step gives N samples."""
        return self.num_envs * self.num_steps

    @property
    def samples_per_step(self) -> int:
        """The samples of a gradient step, over all lanes."""
        return min(self.minibatch_size, self.batch_size)

    @property
    def samples_at_once(self) -> int:
        """The samples whose gradient is computed at once, over all lanes."""
        return self.samples_per_step if self.microbatch_size is None else self.microbatch_size

    @property
    def num_lanes(self) -> int:
        """L; one, unless the settings or the start of a run say otherwise."""
        return 1 if self.lanes is None else self.lanes

    @property
    def of_a_lane(self) -> "Rollout":
        """The sizes of one lane."""
        return dataclasses.replace(
            self,
            lanes=1,
            num_envs=self.num_envs // self.num_lanes,
            minibatch_size=self.samples_per_step // self.num_lanes,
            microbatch_size=self.samples_at_once // self.num_lanes,
        )


class Hyper(struct.PyTreeNode, kw_only=True):
    """Hyperparameters. They are traced: changing one never recompiles, and `jax.vmap` over them is a sweep.

    Examples:
        >>> Hyper(gamma=1.0).replace(learning_rate=1e-3).gamma
        1.0
    """

    learning_rate: NotNegative = 3e-4  # the optimizer's learning rate at the first update
    learning_rate_end: NotNegative = 0.0  # final value after linear decay
    max_grad_norm: Positive = 0.5  # gradients are clipped to this global norm
    gamma: Fraction = 0.99  # discount per step
    gae_lambda: Fraction = 0.95  # weight of longer returns: lambda of generalized advantage estimation and of Q(lambda)
    clip: Positive = 0.2  # clipping range of the probability ratio at the first update
    clip_end: NotNegative | None = None  # final value after linear change; default: the same as at the first update
    # An update makes no more gradient steps once a minibatch has a greater approximate KL divergence, in nats, from the
    # policy that acted. Default: it makes all of them.
    target_kl: Annotated[float, Within(1e-12, math.inf)] | None = None
    value_clip: Positive = 10.0  # clipping range of the value, in units of scaled reward
    value_coef: NotNegative = 0.5  # weight of the value loss
    entropy_coef: NotNegative = 0.01  # weight of the entropy bonus at the first update
    entropy_coef_end: NotNegative = 0.0  # final value after linear decay
    teacher_coef: NotNegative = 5.0  # weight of the teacher's cross-entropy at the first update; read only with one
    teacher_coef_end: NotNegative = 0.0  # final value after linear decay
    reward_scale: Positive = 1.0  # rewards are multiplied by this for learning; reported returns are unscaled


@dataclasses.dataclass(frozen=True, kw_only=True)
class Network:
    """The network that computes policy and value.

    Examples:
        >>> Network(encoder="entities", core="gru").core_units
        128
    """

    # What a network reads has about mean 0 and variance 1, by statistics of all that was seen in training so far.
    normalize_observations: bool = False
    # A custom module, MODULE:NAME, and its arguments; `train.networks.custom` fills them in. Then nothing below may be
    # given.
    module: tyro.conf.Suppress[str | None] = None
    arguments: tyro.conf.Suppress[Mapping[str, Any]] = dataclasses.field(default_factory=dict, hash=False)
    encoder: Literal["flat", "entities"] = "flat"  # an MLP over the flat vector, or entities embedded and pooled
    embedding: int = 32  # units per embedded entity (encoder entities only)
    hidden: tuple[int, ...] = (256, 256)  # units per hidden layer
    activation: Literal["tanh", "relu", "swish"] = "tanh"  # after each hidden layer
    # What is remembered from step to step of an episode, beside what is seen; gradients reach back over one rollout.
    core: Literal["none", "gru", "lru"] = "none"
    core_units: int = 128  # of the core
    critic: str = "scalar"  # form of the value: a name in `train.networks.outputs.CRITICS`
    shared_trunk: bool = False  # policy and value share their hidden layers
    layer_norm: bool = False  # hidden layers are normalized before their activation
    # What embeddings and hidden layers are computed in; weights, logits, values and losses stay in float32.
    dtype: Literal["float32", "bfloat16"] = "float32"
    sees_actions: bool = True  # hidden layers read the features of the actions (encoder entities only)
    # Units in whose place they read the features of an action; 0: all features themselves.
    action_embedding: Annotated[int, Within(0, 2**16)] = 0
    sees_mask: bool = False  # hidden layers read which actions are legal (encoder entities only)

    def __post_init__(self) -> None:
        """Rejects sizes out of bounds, too many layers, and settings beside a module that does not read them."""
        settle(self)
        if len(self.hidden) > MAX_LAYERS:
            raise ValueError(f"hidden may name {MAX_LAYERS} layers, got {len(self.hidden)}")
        of_any = ("normalize_observations", "module", "arguments")
        built_in = [field for field in dataclasses.fields(self) if field.name not in of_any]
        changed = [field.name for field in built_in if getattr(self, field.name) != field.default]
        if self.module is not None and changed:
            option = changed[0].replace("_", "-")
            raise ValueError(f"--{option} is for the built-in networks: {self.module} does not read it")


@dataclasses.dataclass(frozen=True, kw_only=True)
class QLearning:
    """Exploration of PQN and DQN, and DQN's buffer. Nothing else reads them; changing one recompiles.

    Examples:
        >>> QLearning(epsilon_end=0.1).buffer_size
        65536
    """

    epsilon_start: Fraction = 1.0  # probability of a random legal action at the first update
    epsilon_end: Fraction = 0.05  # final value after linear decay
    epsilon_fraction: Fraction = 0.25  # share of the run over which it decays
    buffer_size: int = 65_536  # steps of all agents that DQN's replay buffer holds; checkpoints hold them too
    # Environment steps collected before DQN's first gradient step.
    learning_starts: Annotated[int, Within(0, 10**13)] = 10_000
    double_q: bool = True  # DQN's learning network, not its target network, chooses the next action of a target
    target_period: int = 1  # gradient steps between two changes of DQN's target network
    # How far it then moves towards the learning network: 1 copies it, less is Polyak averaging.
    target_rate: Fraction = 0.005

    def __post_init__(self) -> None:
        """Rejects shares and sizes out of bounds."""
        settle(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scenarios:
    """The training scenarios.

    Examples:
        >>> Scenarios(scenarios="library").scenarios
        'library'
    """

    scenarios: str = "generated"  # "generated", "library", or in a command a file or folder of scenarios
    count: int | None = None  # size of the bank of generated scenarios; default: 4 * num_envs
    difficulty: tuple[Fraction, Fraction] = (0.0, 1.0)  # range of the difficulty of generated scenarios, within 0..1
    refresh: Interval = 1  # regenerate the scenarios not in play every N updates (0 = never)

    def __post_init__(self) -> None:
        """Rejects numbers out of bounds and an empty range."""
        settle(self)
        low, high = self.difficulty
        if low > high:
            raise ValueError(f"difficulty must be a range from low to high, got {low} {high}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curriculum:
    """Which of the generated scenarios episodes start in.

    Examples:
        >>> Curriculum(curriculum="plr", replay_share=0.3).is_uniform
        False
    """

    # "uniform": always new ones; "plr": also those that still teach (prioritised level replay, Jiang et al. 2021).
    curriculum: Literal["uniform", "plr"] = "uniform"
    replay_share: Fraction = 0.5  # of the starts, and at most of the bank, that replay goes to
    level_score: Literal["positive_value_loss", "max_mc"] = "positive_value_loss"  # what a scenario may still teach
    # Temperature of the priorities by rank: towards 0 the best alone is played again; at 0.3 the best of 2,048
    # scenarios has a third of the starts.
    rank_temperature: Annotated[float, Within(1e-6, 1e6)] = 2.0
    staleness: Fraction = 0.3  # share of the priorities that go by the time since a scenario was played

    def __post_init__(self) -> None:
        """Rejects numbers out of bounds."""
        settle(self)

    @property
    def is_uniform(self) -> bool:
        """Whether nothing is kept of the steps that were played."""
        return self.curriculum == "uniform"
