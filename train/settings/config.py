"""The settings of a training run, in groups, and those of the members of a population.

The comment beside an entry is its `--help`.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import tyro

from jaxenv.host.names import require_one_of
from train.settings.bounds import Interval, Steps, Within, local, settle, settled
from train.settings.groups import Curriculum, Hyper, Network, QLearning, Rollout, Scenarios


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """The settings of one run: what it trains on, for how long, and how.

    >>> config = Config(env="LifeOps-v0", rollout=Rollout(num_envs=64), hyper=Hyper(gamma=1.0), total_steps=100_000)
    >>> config.steps_per_superstep  # 64 environments x 16 steps x 4 updates
    4096
    >>> config.num_supersteps
    25
    """

    env: str  # id of a registered environment, or MODULE:FACTORY of one of your own
    # Constructor arguments and numbers of the params, by dotted name, where they differ from the defaults. A run saves
    # all of them, see `train.settings.task`.
    env_args: tyro.conf.Suppress[Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    params: tyro.conf.Suppress[Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    seed: Annotated[int, Within(0, 2**32 - 1)] = 0  # random seed
    # Train members with this seed and the next ones, in one program, each in a folder of its own.
    seeds: Annotated[int, Within(1, 65_536)] = 1
    # Train a member, or with `seeds` several, for each combination of values: learning_rate=3e-4,1e-3 gamma=0.9,0.99
    sweep: tuple[str, ...] = ()
    at_once: int | None = None  # members in one program, the others in turns; default: as many as fit into memory
    # Devices to train on, of which each has the same number of lanes; default: all.
    devices: Annotated[int, Within(1, 2**20)] | None = None
    # The policy file, or the run folder, whose weights a new run starts from, of the same network. Its environments may
    # differ in number or kind, as far as the shapes of the weights allow. A run that resumes does not read it.
    # Default: random weights.
    init_from: str | None = None
    # Whose actions are imitated wherever the learner goes, ever less (kickstarting, Schmitt et al. 2018): a baseline by
    # its name, such as Rule-based; Myopic, a step ahead in the true state; or search, by the true model and what was
    # learned so far (expert iteration, Anthony et al. 2017; extra plan). Default: nobody's.
    teacher: str | None = None
    simulations: Annotated[int, Within(1, 2**16)] = 8  # steps that the teacher search tries before each action
    total_steps: Steps = 4_000_000  # environment steps, rounded up to whole supersteps
    run_dir: Path | None = None  # output folder, which must not exist yet; default: runs/ENV-SEED-N
    # Validate every N supersteps and at the end (0 = never), only with generated scenarios.
    validate_every: Interval = 4
    # Seconds between checkpoints; a run always writes one at its end.
    checkpoint_every: Annotated[float, Within(0.0, math.inf)] = 60.0
    tensorboard: bool = True  # also write TensorBoard events, if tensorboardX is installed
    wandb: str | None = None  # project of Weights & Biases that the metrics are logged to; wandb must be installed
    rollout: Rollout = dataclasses.field(default_factory=Rollout)
    hyper: Hyper = dataclasses.field(default_factory=Hyper)
    network: Network = dataclasses.field(default_factory=Network)
    q: QLearning = dataclasses.field(default_factory=QLearning)
    training: Scenarios = dataclasses.field(default_factory=Scenarios)
    curriculum: Curriculum = dataclasses.field(default_factory=Curriculum)

    def __post_init__(self) -> None:
        """Settles types; rejects numbers out of bounds, a bank that might all be in play, and cut sequences."""
        settle(self)
        # It does not settle itself, since compiled programs make it of arrays.
        object.__setattr__(self, "hyper", self.hyper.replace(**settled(self.hyper)))
        if self.run_dir is not None:
            object.__setattr__(self, "run_dir", local(self.run_dir))
        num_envs, settings = self.rollout.num_envs, self.training
        if self.is_generated and settings.refresh and self.num_scenarios < num_envs:
            raise ValueError(
                f"count must be at least num_envs ({num_envs}), got {settings.count}: a refresh replaces only "
                "scenarios that no environment is playing; refresh 0 keeps the first bank"
            )
        if not (self.curriculum.is_uniform or (self.is_generated and settings.refresh == 1)):
            raise ValueError("a curriculum needs generated scenarios and refresh 1: with --num-envs add --refresh 1")
        compares_returns = not self.curriculum.is_uniform and self.curriculum.level_score == "max_mc"
        if compares_returns and self.rollout.normalize_rewards:
            raise ValueError(
                "--level-score max_mc compares returns of different updates, which --normalize-rewards scales "
                "differently: choose positive_value_loss"
            )
        step = self.rollout.num_steps * self.rollout.num_lanes
        if self.network.core != "none" and self.rollout.samples_at_once % step:
            raise ValueError(
                f"with a recurrent core a minibatch is made of whole rollouts: {self.rollout.samples_at_once} samples "
                f"at once cannot be split into {self.rollout.num_lanes} lanes of sequences of {self.rollout.num_steps}."
                f" Choose multiples of {step} as --minibatch-size, which else follows --num-envs, and --microbatch-size"
            )
        if self.is_generated and self.num_scenarios % self.rollout.num_lanes:
            raise ValueError(f"{self.num_scenarios} scenarios cannot be split into {self.rollout.lanes} equal lanes")

    def replace(self, **changed: Any) -> "Config":
        """The settings with some of them changed."""
        return dataclasses.replace(self, **changed)

    @property
    def num_scenarios(self) -> int:
        """S, the size of the bank of generated scenarios."""
        return 4 * self.rollout.num_envs if self.training.count is None else self.training.count

    @property
    def of_a_lane(self) -> "Config":
        """The settings of one lane: its share of the environments, samples and generated scenarios."""
        training = dataclasses.replace(self.training, count=self.num_scenarios // self.rollout.num_lanes)
        return dataclasses.replace(self, rollout=self.rollout.of_a_lane, training=training)

    @property
    def is_generated(self) -> bool:
        """Whether training scenarios come from the environment's generator."""
        return self.training.scenarios == "generated"

    @property
    def steps_per_superstep(self) -> int:
        """Environment steps per superstep, which is one compiled call."""
        return self.rollout.batch_size * self.rollout.updates_per_superstep

    @property
    def num_supersteps(self) -> int:
        """Supersteps of the whole run, at least one."""
        return max(1, math.ceil(self.total_steps / self.steps_per_superstep))

    @property
    def num_updates(self) -> int:
        """Updates of the whole run, over which the schedules decay."""
        return self.num_supersteps * self.rollout.updates_per_superstep

    @property
    def num_gradient_steps(self) -> int:
        """Gradient steps of the whole run, of one agent; with N there are N times as many."""
        return self.num_updates * self.rollout.epochs * (self.rollout.batch_size // self.rollout.samples_per_step)


def is_population(config: Config) -> bool:
    """Whether the settings describe more than one run."""
    return config.seeds > 1 or bool(config.sweep)


def members(config: Config) -> dict[str, Config]:
    """Name -> settings of each member, of which a single one has no name.

    >>> found = members(Config(env="LifeOps-v0", seeds=2, sweep=("gamma=0.9,1",)))
    >>> list(found)
    ['gamma=0.9,seed=0', 'gamma=0.9,seed=1', 'gamma=1,seed=0', 'gamma=1,seed=1']
    >>> found["gamma=1,seed=1"].hyper.gamma, found["gamma=1,seed=1"].seed
    (1.0, 1)

    Raises:
        ValueError: for a sweep over something that is not a number of `Hyper`.
    """
    axes = [[(name, value) for value in values] for name, values in map(_axis, config.sweep)]
    if len({axis[0][0] for axis in axes}) < len(axes):
        raise ValueError(f"sweep {' '.join(config.sweep)}: each setting may be named once")
    if config.seeds > 1:
        axes.append([("seed", str(config.seed + number)) for number in range(config.seeds)])
    return {
        ",".join(f"{name}={value}" for name, value in chosen): _member(config, dict(chosen))
        for chosen in itertools.product(*axes)
    }


def _member(config: Config, chosen: dict[str, str]) -> Config:
    """The settings of one member."""
    seed = int(chosen.pop("seed", config.seed))
    hyper = config.hyper.replace(**{name: float(value) for name, value in chosen.items()})
    return dataclasses.replace(config, seed=seed, hyper=hyper, seeds=1, sweep=(), at_once=None)


def _axis(text: str) -> tuple[str, list[str]]:
    """The setting and the values of one entry of a sweep, `gamma=0.9,0.99`."""
    name, _, values = text.partition("=")
    name = name.strip().removeprefix("--").replace("-", "_")
    known = [field.name for field in dataclasses.fields(Hyper)]
    require_one_of(name, known, f"sweep {text}: {name!r} cannot be swept over")
    found = [value.strip() for value in values.split(",")]
    try:
        numbers = {float(value) for value in found}
    except ValueError:
        numbers = set()
    if len(numbers) < len(found):
        raise ValueError(f"sweep {text}: expected different numbers, such as {name}=0.1,0.2")
    return name, found
