"""A run: members train side by side in one compiled program, with metrics, checkpoints, a clean stop, and resuming.

A run without `seeds` and `sweep` has a single member, whose files lie in its folder itself. A population has several,
each in a separate folder, and each computes the same as a single run. Those that do not fit into the memory of
the device together train in turns. Checkpoints are of all members of a turn.
"""

import contextlib
import dataclasses
import functools
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import jax

from train.log.recorder import Callback
from train.processes import any_of, is_writer, wait_for_all
from train.run.group import Group, OnStart, turns, within_memory
from train.run.job import Job
from train.run.outputs import FailedUpdate, NotFinite, Outcome, Outputs
from train.save.checkpoint import Checkpoints, Finished
from train.save.description import Progress
from train.save.folder import RunFolder
from train.score.held_out import Validator, make_validator


def run_members(
    job: Job,
    folder: RunFolder | None = None,
    *,
    callback: Callback | None = None,
    on_start: OnStart | None = None,
    show_progress: bool = True,
    returns_finished: bool = False,
) -> dict[str, Outcome]:
    """Trains, resuming from the newest checkpoints in `folder` if it holds any: name -> outcome.

    Metrics, checkpoints and policies are written there, also if a signal ends the run early, and with validation the
    policy that validated best. Checkpoints do not affect learning: a run that was killed and resumed finishes
    bit-for-bit identical to an uninterrupted one.

    A member whose loss or gradient is not finite trains no further; the others continue. Members that were finished
    before, in turns, are left out. Without `at_once` a run that resumes has the turns that it was begun with; a new one
    trains as many members at once as fit into memory, and warns where these are not all.

    Args:
        job: the run; training uses the bank of its params, unless the settings ask for generated scenarios.
        folder: where to write; None writes nothing.
        callback: called with the record of each superstep; if it returns True the run ends early.
        on_start: is called for the members that train at once, unless they are finished.
        show_progress: whether to draw a progress bar.
        returns_finished: of a run that has done all its steps, give the outcome.

    Raises:
        ValueError: if another process is writing into the folder.
        Finished: if the run has done all its steps, unless it `returns_finished`.
        CheckpointError: if its newest checkpoint is broken or of another task.
        NotFinite: if a loss or gradient of a single run is NaN or infinite; `folder.not_finite` has the state before
            that update.
    """
    shown: Any = {"callback": callback, "show_progress": show_progress}
    options = {**shown, "on_start": on_start, "returns_finished": returns_finished}
    with contextlib.nullcontext() if folder is None else folder.locked():
        if not job.is_alone:
            return _in_turns(job, folder, **options)
        group = Group(job)
        return train(group, folder, "checkpoints", group.compile, **options)


def _in_turns(job: Job, folder: RunFolder | None, *, on_start: OnStart | None, **options: Any) -> dict[str, Outcome]:
    """Trains the members of a population, as many at once as fit: name -> outcome."""
    config, outcomes = job.config, {}

    @functools.lru_cache(maxsize=1)  # the program that fits is run, and equal turns share it
    def compiled(number: int) -> Any:
        return Group(job, dict(list(job.members.items())[:number])).compile()

    if folder is not None:
        config = config.replace(at_once=config.at_once or folder.read_config().at_once)
    began, starts = time.perf_counter(), on_start
    if config.at_once is None and (folder is None or not folder.has_results):
        if on_start is not None:
            on_start(None)
        config = within_memory(config, compiled, len(job.members))
        starts = None  # it has been called for the first turn
    for number, turn in enumerate(turns(config, job.members)):
        group = Group(dataclasses.replace(job, config=config), turn)
        program = functools.partial(compiled, len(turn))
        with contextlib.suppress(Finished):
            outcomes |= train(group, folder, f"checkpoints-{number}", program, began=began, on_start=starts, **options)
        if any(outcome.stopped for outcome in outcomes.values()):
            break
        began, starts = time.perf_counter(), on_start
    if not outcomes:
        raise Finished("the population is finished; continue it with a greater total_steps")
    return outcomes


def train(
    group: Group,
    folder: RunFolder | None,
    checkpoints_name: str,
    compiled: Callable[[], Any],
    *,
    began: float | None = None,
    on_start: OnStart | None = None,
    callback: Callback | None = None,
    show_progress: bool = True,
    returns_finished: bool = False,
) -> dict[str, Outcome]:
    """Trains the members of a group to the end, or to an interruption: name -> outcome.

    Args:
        group: the members.
        folder: of the run; None writes nothing.
        checkpoints_name: of the group's checkpoints in it.
        compiled: gives the compiled superstep.
        began: the start of the work before the first superstep, by `time.perf_counter`; by default now.
        on_start: called before anything is compiled, unless all steps are done.
        callback: called with each record.
        show_progress: whether to draw a progress bar.
        returns_finished: give the outcome where all steps are done.

    Raises:
        Finished: if all steps are done, unless it `returns_finished`.
        NotFinite: if the loss of a single run is not finite.
    """
    began, config = began or time.perf_counter(), group.config
    with contextlib.ExitStack() as stack:
        checkpoints = stack.enter_context(group.checkpoints(folder, checkpoints_name))
        # A run that is finished, but was killed ahead of writing its policy, writes it.
        lacks_policy = group.is_alone and folder is not None and not folder.policy.exists()
        may_be_finished = lacks_policy or returns_finished
        state, progress = group.restore_or_begin(checkpoints, may_be_finished=may_be_finished, on_start=on_start)
        if folder is not None:
            folder.write_config(config)
        is_left = progress.superstep < config.num_supersteps
        superstep: Any = compiled() if is_left else None
        validate: Any = make_validator(config, group.env, group.env_params, group.policy(state)) if is_left else None
        jax.block_until_ready(state)  # or the initial state would count in the time of the first superstep
        compile_seconds = time.perf_counter() - began
        outputs = Outputs(stack, group, folder, state, progress, callback=callback, show_progress=show_progress)
        state = loop(superstep, validate, state, progress, checkpoints, outputs)
        if lacks_policy and not is_left:
            outputs.save(state)
        is_stopped = outputs.clock.env_steps < config.num_supersteps * config.steps_per_superstep
    return outputs.outcomes(state, compile_seconds, stopped=is_stopped)


def loop(
    superstep: Callable[..., tuple[Any, Any]],
    validate: Validator,
    state: Any,
    progress: Progress,
    checkpoints: Checkpoints | None,
    outputs: Outputs,
) -> Any:
    """Superstep after superstep, to the end or to an interruption: the last state.

    While a superstep runs, the records of the one before are written, so that the device never waits for the host.
    """
    group, clock, running = outputs.group, outputs.clock, None
    policies = [functools.partial(group.policy, member=member) for member in range(len(group.named))]
    with stop_signals() as signals:
        clock.start()
        try:
            for number in range(progress.superstep, group.config.num_supersteps):
                state, metrics = superstep(state, *group.arguments)
                validations = [validate(number, functools.partial(policy, state)) for policy in policies]
                clock.wait(running)
                outputs.add(number, state, metrics, validations)
                running = metrics, validations
                is_due = checkpoints is not None and checkpoints.is_due()
                stops, is_due = any_of(bool(signals) or outputs.is_stop_requested, is_due)
                if stops or is_due or number + 1 == group.config.num_supersteps:
                    clock.wait(running)
                    running = None
                    outputs.flush()
                    done = {"superstep": number + 1, "env_steps": clock.env_steps, "seconds": clock.seconds}
                    progress = dataclasses.replace(progress, **done)
                    write_both(checkpoints, state, progress, outputs)
                    clock.start()
                if stops:
                    break
        except FailedUpdate as failed:
            raise not_finite(failed, state, progress, outputs) from None
    return state


def write_both(checkpoints: Checkpoints | None, state: Any, progress: Progress, outputs: Outputs) -> None:
    """Writes a checkpoint and the policies.

    The first checkpoint comes before a mark and the policies, so that one of them without it shows that checkpoints are
    lost; a later one comes after the policies, so that a run whose last checkpoint is there has its last policy.
    """
    if checkpoints is None:
        return
    is_first = checkpoints.is_empty
    if is_first:
        checkpoints.save(state, progress)
        checkpoints.mark_begun()
    outputs.save(state)
    if not is_first:
        checkpoints.save(state, progress)


def not_finite(failed: FailedUpdate, state: Any, progress: Progress, outputs: Outputs) -> NotFinite:
    """The error for an update of a single run that failed, once the state before it is saved."""
    config, folder, updates = outputs.group.config, outputs.folder, int(state.updates)
    problem = f"not finite in update {updates + 1} of {config.num_updates}: {failed}. Training has stopped"
    if folder is None:
        return NotFinite(problem)
    if is_writer():
        shutil.rmtree(folder.not_finite, ignore_errors=True)  # of an earlier attempt
    wait_for_all("not_finite removed")
    with Checkpoints(folder.not_finite, config) as dump:
        superstep, env_steps = updates // config.rollout.updates_per_superstep, updates * config.rollout.batch_size
        dump.save(state, dataclasses.replace(progress, superstep=superstep, env_steps=env_steps))
    return NotFinite(
        f"{problem}; the state before that update is in {folder.not_finite}, checkpoints and policy are as they were "
        "last written"
    )


@contextlib.contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Takes the first SIGINT or SIGTERM, a request to stop after the superstep; a second one acts as usual."""
    taken: list[int] = []
    with contextlib.ExitStack() as handlers:

        def take(number: int, frame: FrameType | None) -> None:
            taken.append(number)
            handlers.close()

        if threading.current_thread() is threading.main_thread():  # no other one may have handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                handlers.callback(signal.signal, number, signal.signal(number, take))
        yield taken
