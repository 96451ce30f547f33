"""The loop outside the compiled program: scenarios, progress, metrics, a clean stop."""

import dataclasses
import signal
import time
from types import FrameType
from typing import Any

import jax
from tqdm import tqdm

from jaxenv.core import Environment
from train import ppo, rollout
from train.bank import generate_bank
from train.config import Config
from train.metrics import MetricsWriter, summarise
from train.networks import make_network
from train.policy import NetworkPolicy, save_policy
from train.run_folder import RunFolder


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    policy: NetworkPolicy
    env_steps: int
    seconds: float  # of training, compilation apart
    compile_seconds: float
    stopped: bool  # by a signal, before its time


def run(config: Config, env: Environment, env_params: Any, folder: RunFolder, *, show_progress: bool = True) -> Outcome:
    """Trains as `config` says, and leaves metrics and a policy in `folder`, also where a signal ends it early.

    Args:
        config: the settings.
        env: the environment.
        env_params: its params; their bank is trained on, unless the settings ask for generated scenarios.
        folder: where to write.
        show_progress: whether to draw a bar.
    """
    init_key, bank_key, refresh_key = jax.random.split(jax.random.key(config.seed), 3)
    env_params = training_params(bank_key, config, env, env_params)
    fingerprint = env_params.bank.fingerprint()
    network = make_network(config.network, env.num_actions)
    state = ppo.init(init_key, env_params, config=config, env=env)
    began = time.perf_counter()
    superstep = ppo.make_superstep(config, env).lower(state, env_params, config.hyper).compile()
    compile_seconds = time.perf_counter() - began

    clock = Clock(config.steps_per_superstep)
    with MetricsWriter(folder.metrics) as writer, Bar(config, show_progress) as bar, StopSignal() as stop:
        for number in range(config.num_supersteps):
            if is_refreshed(number, config):
                bank_key, envs_key = jax.random.split(jax.random.fold_in(refresh_key, number))
                env_params = training_params(bank_key, config, env, env_params)
                # Every environment is reset: an episode must not outlive the scenario that it plays.
                envs = rollout.reset(envs_key, env_params, env=env, network=network, num_envs=config.rollout.num_envs)
                state = state.replace(envs=envs)
            state, metrics = superstep(state, env_params, config.hyper)
            record = {"superstep": number, **summarise(metrics), **clock.tick()}
            writer.write(record)
            bar.show(record)
            if stop.was_asked:
                break

    policy = NetworkPolicy(state.weights, network, env)
    save_policy(folder.policy, policy, network=config.network, scenarios=fingerprint)
    return Outcome(policy, clock.env_steps, clock.seconds, compile_seconds, stop.was_asked)


def training_params(key: Any, config: Config, env: Environment, env_params: Any) -> Any:
    """The params with a newly generated bank, or as they are where their own bank is trained on."""
    settings = config.training
    if settings.scenarios != "generated":
        return env_params
    return env_params.replace(bank=generate_bank(env, key, count=settings.count, difficulty=settings.difficulty))


def is_refreshed(superstep: int, config: Config) -> bool:
    """Whether the bank is generated anew before a superstep; the first has its bank already."""
    settings = config.training
    if settings.scenarios != "generated" or settings.refresh == 0:
        return False
    return superstep > 0 and superstep % settings.refresh == 0


class Clock:
    """Counts environment steps, as Python ints, and the seconds they take."""

    def __init__(self, steps_per_tick: int) -> None:
        """Starts now."""
        self.env_steps, self.seconds = 0, 0.0
        self._steps_per_tick, self._began = steps_per_tick, time.perf_counter()

    def tick(self) -> dict[str, float | int]:
        """Counts one superstep, which took since the last: `env_steps`, `seconds`, `steps_per_second`."""
        elapsed = time.perf_counter() - self._began
        steps_per_second = self._steps_per_tick / (elapsed - self.seconds)
        self.env_steps, self.seconds = self.env_steps + self._steps_per_tick, elapsed
        return {"env_steps": self.env_steps, "seconds": elapsed, "steps_per_second": steps_per_second}


class Bar:
    """A progress bar in environment steps: steps/s, return, time left."""

    def __init__(self, config: Config, is_shown: bool) -> None:
        """Draws an empty bar."""
        total = config.num_supersteps * config.steps_per_superstep
        self._bar = tqdm(
            total=total, unit=" steps", unit_scale=True, desc=config.env, disable=not is_shown, dynamic_ncols=True
        )

    def show(self, record: dict[str, Any]) -> None:
        """Moves the bar to a record of the metrics."""
        if record["return"] is not None:
            self._bar.set_postfix_str(f"return {record['return']:.2f}, entropy {record['entropy']:.2f}", refresh=False)
        self._bar.update(record["env_steps"] - self._bar.n)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()


class StopSignal:
    """Turns the first SIGINT or SIGTERM into a wish to stop after the superstep; a second one acts as ever."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self.was_asked = False
        self._previous: dict[int, Any] = {}

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.was_asked = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __enter__(self) -> "StopSignal":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
