"""The loop outside the compiled program: metrics, checkpoints, a clean stop, and taking a run up again."""

import dataclasses
import shutil
import time
from typing import Any

import jax

from jaxenv.core import Environment
from train import ppo, task
from train.bank import first_bank
from train.checkpoint import CheckpointError, Checkpoints, Progress
from train.config import Config
from train.console import Bar, Clock, StopSignal
from train.events import Events
from train.metrics import MetricsWriter, not_finite, summarise
from train.networks import make_network
from train.policy import NetworkPolicy, save_policy
from train.run_folder import RunFolder
from train.validation import make_look


class NotFinite(ArithmeticError):
    """A loss or gradient that is NaN or infinite: learning has come to its end."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    policy: NetworkPolicy
    env_steps: int
    seconds: float  # from the first superstep on, with looks at the validation set and checkpoints
    compile_seconds: float  # before it: compilation, and the first bank and episodes, which take a moment
    stopped: bool  # by a signal, before its time


def run(config: Config, env: Environment, env_params: Any, folder: RunFolder, *, show_progress: bool = True) -> Outcome:
    """Trains as `config` says, from the newest checkpoint in `folder` on where it holds one.

    Metrics, checkpoints and a policy are left there, also where a signal ends the run early. When checkpoints are
    written does not change what is learned: a run that was killed and taken up again ends with the same bits.

    Args:
        config: the settings; what they tell of environment and params is filled in from those that are given.
        env: the environment.
        env_params: its params; their bank is trained on, unless the settings ask for generated scenarios.
        folder: where to write.
        show_progress: whether to draw a bar.

    Raises:
        ValueError: where another process is writing into the folder.
        CheckpointError: where the run is finished, or its newest checkpoint broken or not of these settings,
            environment, params, scenarios or shapes.
        NotFinite: where a loss or gradient is NaN or infinite. The state before that update is left in
            `folder.not_finite`, as a checkpoint is; those of the run stay as they were.
    """
    config = task.described(config, env, env_params)
    network = make_network(config.network, env.num_actions)

    def policy_of(state: ppo.TrainState) -> NetworkPolicy:
        return NetworkPolicy(state.weights, network, env)

    with folder.locked(), Checkpoints(folder.checkpoints, config) as checkpoints:
        began = time.perf_counter()
        state, progress = begin(config, env, env_params, checkpoints)
        folder.write_config(config)
        superstep = ppo.make_superstep(config, env).lower(state, env_params, config.hyper).compile()
        look = make_look(config, env, env_params, policy_of(state))
        jax.block_until_ready(state)  # or the beginning would be part of the first superstep's time
        compile_seconds = time.perf_counter() - began

        clock = Clock(config.steps_per_superstep, env_steps=progress.env_steps, seconds=progress.seconds)
        with (
            MetricsWriter(folder.metrics, from_superstep=progress.superstep) as metrics_file,
            Events(folder.path, after_step=progress.env_steps, is_wanted=config.tensorboard) as events,
            Bar(config, progress.env_steps, is_shown=show_progress) as bar,
            StopSignal() as stop,
        ):
            for number in range(progress.superstep, config.num_supersteps):
                clock.start()
                state, metrics = superstep(state, env_params, config.hyper)
                record = {"superstep": number, **summarise(metrics), **clock.tick()}
                failed = not_finite(metrics)
                record["validation_return"] = None if failed else look(number, policy_of(state))
                for tell in (metrics_file.write, events.write, bar.show):
                    tell(record)
                if failed:
                    raise _not_finite(failed, state, progress, config, folder)
                is_last = stop.was_asked or number + 1 == config.num_supersteps
                if is_last or checkpoints.is_due():
                    progress = progress.advanced(number + 1, clock)
                    events.flush()
                    checkpoints.save(state, progress)
                    save_policy(folder.policy, policy_of(state), config, scenarios=progress.scenarios)
                if is_last:
                    break
    is_finished = progress.superstep == config.num_supersteps
    return Outcome(policy_of(state), clock.env_steps, clock.seconds, compile_seconds, stopped=not is_finished)


def begin(
    config: Config, env: Environment, env_params: Any, checkpoints: Checkpoints
) -> tuple[ppo.TrainState, Progress]:
    """State and counters to begin with: those of the newest checkpoint, or of a new run."""
    key = jax.random.key(config.seed)
    progress = checkpoints.newest()
    if progress is not None and progress.superstep >= config.num_supersteps:
        raise CheckpointError(
            f"the run is finished, with {progress.env_steps:,} of {config.total_steps:,} steps done; "
            "a greater --total-steps goes on from there"
        )
    bank = first_bank(ppo.init_keys(key).bank, config, env, env_params)
    scenarios = ppo.playing(env_params, bank).bank.fingerprint()
    if progress is None:
        return ppo.init(key, env_params, config=config, env=env), Progress(scenarios=scenarios)
    like = jax.eval_shape(lambda: ppo.init(key, env_params, config=config, env=env))
    return checkpoints.restore(progress, like, scenarios=scenarios), progress


def _not_finite(
    terms: list[str], state: ppo.TrainState, progress: Progress, config: Config, folder: RunFolder
) -> NotFinite:
    """What is told of an update that cannot be made, once the state before it is written down."""
    updates, sizes = int(state.updates), config.rollout
    shutil.rmtree(folder.not_finite, ignore_errors=True)  # that of an earlier try
    with Checkpoints(folder.not_finite, config) as dump:
        done = {"superstep": updates // sizes.updates_per_superstep, "env_steps": updates * sizes.batch_size}
        dump.save(state, dataclasses.replace(progress, **done))
    return NotFinite(
        f"not finite in update {updates + 1} of {config.num_updates}: {', '.join(terms)}. Training has stopped; the "
        f"state before that update is in {folder.not_finite}, checkpoints and policy are as they were last written"
    )
