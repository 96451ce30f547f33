"""The loop around the compiled program: metrics, checkpoints, a clean stop, and resuming."""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.core.contents import require_valid
from train.experience.bank import check_start_weights
from train.lanes import SHARED, Lanes
from train.networks.own import check_outputs
from train.networks.policy import LearnedPolicy
from train.run.algorithm import Algorithm, State, check_abilities
from train.run.best_policy import BestPolicy
from train.run.checkpoint import Checkpoints, Finished, NoCheckpoints, Progress
from train.run.clock import Clock
from train.run.folder import RunFolder
from train.run.policy_file import save_policy
from train.run.processes import any_of, is_writer, place
from train.run.recorder import Callback, Recorder
from train.run.reports import FailedUpdate, Reports
from train.run.start import from_policy
from train.run.stop_signal import StopSignal
from train.run.weights_and_biases import check_installed
from train.score.validation import check_scenarios, make_validator
from train.settings import task
from train.settings.config import Config

OnStart = Callable[[Progress | None], None]
"""Is told where a run starts, before anything is compiled: the progress of a checkpoint, or None for the beginning."""

LEARNED = ("weights", "optimizer", "learning.weights", "learning.optimizer", "target")
"""Parts of a run's state that are finite in its checkpoints. Those of a population have members that failed, and the
state in `not_finite` is of a run that is about to."""


class NotFinite(ArithmeticError):
    """A loss or gradient is NaN or infinite, so training cannot continue.

    >>> import train
    >>> try:
    ...     raise train.NotFinite("not finite in update 3 of 64: policy_loss")  # as `train.train` does
    ... except train.NotFinite as failed:
    ...     print(failed)
    not finite in update 3 of 64: policy_loss
    """


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a run.

    >>> import numpy as np, train
    >>> curve = {"return": np.array([-20.5, 3.25])}
    >>> outcome = train.Outcome(None, 8_192, 2.0, 4.5, stopped=False, metrics=curve)  # `train.train` gives one
    >>> float(outcome.metrics["return"][-1]), outcome.env_steps / outcome.seconds
    (3.25, 4096.0)
    """

    policy: LearnedPolicy  # as it was at the end; `jaxenv.evaluate` and `train.save_policy` take it
    env_steps: int  # of the whole run, also of its parts before it was resumed
    seconds: float  # from the first superstep on, including validation and checkpoints
    compile_seconds: float  # before the first superstep: compilation, and for a moment the first bank and episodes
    stopped: bool  # interrupted by a signal or the callback
    metrics: dict[str, np.ndarray]  # name -> [supersteps], what `metrics.jsonl` has; NaN where a record has nothing
    failure: str | None = None  # of a member of a population: the terms of the loss that were not finite


def run(
    algorithm: Algorithm,
    config: Config,
    env: Environment,
    env_params: Any,
    folder: RunFolder | None = None,
    *,
    callback: Callback | None = None,
    on_start: OnStart | None = None,
    show_progress: bool = True,
) -> Outcome:
    """Trains as `config` says, resuming from the newest checkpoint in `folder` if it holds one.

    Metrics, checkpoints and a policy are written there, also if a signal ends the run early, and with validation the
    policy that validated best. Checkpoints do not affect learning: a run that was killed and resumed finishes
    bit-for-bit identical to an uninterrupted one.

    Args:
        algorithm: how to learn.
        config: the settings; `env_args` and `params` are filled in from the given environment and params.
        env: the environment.
        env_params: its params; training uses their bank, unless the settings ask for generated scenarios.
        folder: where to write; None writes nothing.
        callback: is shown the record of each superstep; if it returns True the run ends early.
        on_start: is told where the run starts, unless it is finished.
        show_progress: whether to draw a progress bar.

    Returns:
        What became of it, with the records of its earlier parts where it resumed.

    Raises:
        ValueError: if another process is writing into the folder.
        Finished: if the run has done all its steps.
        CheckpointError: if its newest checkpoint is broken or of another task.
        NotFinite: if a loss or gradient is NaN or infinite; `folder.not_finite` has the state before that update.
    """
    check(algorithm, config, env, env_params)
    config, lanes = place(task.complete(config, env, env_params))

    def policy_of(state: State) -> LearnedPolicy:
        return lanes.local(algorithm.policy_of(state, config=config, env=env))

    with _storage(folder, config) as checkpoints:
        began = time.perf_counter()
        lacks_policy = folder is not None and not folder.policy.exists()  # also of a run killed ahead of writing it
        state, progress = restore_or_init(
            algorithm, config, env, env_params, checkpoints, lanes, may_be_finished=lacks_policy, on_start=on_start
        )
        if folder is not None:
            folder.write_config(config)
        source = {"scenarios": progress.scenarios, "algorithm": algorithm.name}
        best_path = folder.best_policy if folder is not None and is_writer() else None

        def save(path: Path, policy: LearnedPolicy, validation_return: float | None = None) -> None:
            save_policy(path, policy, config, **source, validation_return=validation_return)

        def write_policy(state: State) -> None:
            if folder is not None and is_writer():
                save(folder.policy, policy_of(state))

        params, hyper = lanes.put((env_params, config.hyper), SHARED)
        superstep = algorithm.make_superstep(config, env, lanes).lower(state, params, hyper).compile()
        validate = make_validator(config, env, env_params, policy_of(state))
        best = BestPolicy(best_path, save, policy_of(state))
        jax.block_until_ready(state)  # or the initial state would count in the time of the first superstep
        compile_seconds = time.perf_counter() - began
        clock = Clock(config.steps_per_superstep, env_steps=progress.env_steps, seconds=progress.seconds)
        recorder = Recorder(config, folder, progress, callback=callback, show_progress=show_progress)
        with recorder, StopSignal() as stop:
            reports = Reports(recorder, clock)
            clock.start()
            try:
                for number in range(progress.superstep, config.num_supersteps):
                    state, metrics = superstep(state, params, hyper)
                    validation = validate(number, policy_of(state))
                    candidate = None if validation is None else best.candidate(policy_of(state))
                    reports.add(number, metrics, validation, candidate)
                    stops, is_due = any_of(stop.is_requested or recorder.is_stop_requested, checkpoints.is_due())
                    is_last = stops or number + 1 == config.num_supersteps
                    if is_last or is_due:
                        reports.flush()
                        done = {"superstep": number + 1, "env_steps": clock.env_steps, "seconds": clock.seconds}
                        progress = dataclasses.replace(progress, **done)
                        recorder.flush()
                        write_both(checkpoints, state, progress, functools.partial(write_policy, state))
                        lacks_policy = False
                        clock.start()
                    if is_last:
                        break
            except FailedUpdate as failed:
                raise _not_finite(failed, state, progress, config, folder) from None
        if lacks_policy:
            write_policy(state)
    is_finished = progress.superstep == config.num_supersteps
    length = clock.env_steps, clock.seconds, compile_seconds
    return Outcome(policy_of(state), *length, stopped=not is_finished, metrics=recorder.arrays())


def check(algorithm: Algorithm, config: Config, env: Environment, env_params: Any) -> None:
    """A ValueError if a run cannot do what the settings ask of it; to be called before there is a folder."""
    require_valid(env_params)
    check_scenarios(config, env)
    check_start_weights(config, env_params)
    check_abilities(algorithm, config)
    check_installed(config)
    check_outputs(config.network, env, env_params)


@contextlib.contextmanager
def _storage(folder: RunFolder | None, config: Config) -> Iterator[Checkpoints | NoCheckpoints]:
    """The checkpoints of a run, whose folder is locked and holds its settings."""
    if folder is None:
        yield NoCheckpoints()
        return
    with folder.locked(), Checkpoints(folder.checkpoints, config, finite=LEARNED) as checkpoints:
        checkpoints.check_begun(folder.policy)
        yield checkpoints


def write_both(
    checkpoints: Checkpoints | NoCheckpoints, state: Any, progress: Progress, write_policy: Callable[[], None]
) -> None:
    """Writes a checkpoint and the policy.

    The first checkpoint comes before a mark and the policy, so that one of them without it tells that checkpoints are
    lost; a later one comes after the policy, so that a run whose last checkpoint is there has its last policy.
    """
    is_first = checkpoints.is_empty
    if is_first:
        checkpoints.save(state, progress)
        checkpoints.mark_begun()
    write_policy()
    if not is_first:
        checkpoints.save(state, progress)


def restore_or_init(
    algorithm: Algorithm,
    config: Config,
    env: Environment,
    env_params: Any,
    checkpoints: Checkpoints | NoCheckpoints,
    lanes: Lanes | None = None,
    *,
    may_be_finished: bool = False,
    on_start: OnStart | None = None,
) -> tuple[Any, Progress]:
    """State and progress of the newest checkpoint, or of a new run, which may start from a policy.

    Raises:
        Finished: if the run has done all its steps, unless it `may_be_finished`.
    """
    key = jax.random.key(config.seed)
    progress = checkpoints.newest()
    if progress is not None and progress.superstep >= config.num_supersteps and not may_be_finished:
        raise Finished(
            f"the run is finished: {progress.env_steps:,} of {config.total_steps:,} steps are done; "
            "continue it with a greater total_steps"
        )
    if on_start is not None:
        on_start(progress)
    init = functools.partial(algorithm.init, key, env_params, config=config, env=env)
    bank = algorithm.training_bank(key, env_params, config=config, env=env)
    scenarios = "" if bank is None else bank.fingerprint()
    if progress is None:
        state = from_policy(algorithm, init(lanes=lanes), config, env, env_params, lanes)
        return state, Progress(scenarios=scenarios)
    like = jax.eval_shape(init)
    like = like if lanes is None else lanes.placed(like, algorithm.SPECS)
    return checkpoints.restore(progress, like, scenarios=scenarios)


def _not_finite(
    failed: FailedUpdate, state: State, progress: Progress, config: Config, folder: RunFolder | None
) -> NotFinite:
    """The error for an update that failed, once the state before it is saved."""
    updates, sizes = int(state.updates), config.rollout
    problem = f"not finite in update {updates + 1} of {config.num_updates}: {failed}. Training has stopped"
    if folder is None:
        return NotFinite(problem)
    folder.remove_not_finite()  # of an earlier attempt
    with Checkpoints(folder.not_finite, config) as dump:
        done = {"superstep": updates // sizes.updates_per_superstep, "env_steps": updates * sizes.batch_size}
        dump.save(state, dataclasses.replace(progress, **done))
    return NotFinite(
        f"{problem}; the state before that update is in {folder.not_finite}, checkpoints and policy are as they were "
        "last written"
    )
