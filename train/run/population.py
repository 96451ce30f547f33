"""A population: members with other seeds or hyperparameters, trained side by side in one compiled program.

A member is a run like any other, with a folder of its own, and computes what that run would alone. Members that do not
fit into the memory of the device together train in turns. Checkpoints are of all members of a turn.
"""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from jaxenv.core import Environment
from train.lanes import Lanes
from train.networks.policy import LearnedPolicy
from train.run.algorithm import Algorithm
from train.run.checkpoint import Checkpoints, Finished, NoCheckpoints, Progress
from train.run.clock import Clock
from train.run.console import Bar
from train.run.folder import RunFolder
from train.run.member import Member
from train.run.runner import OnStart, Outcome, check, write_both
from train.run.start import from_policy
from train.run.stop_signal import StopSignal
from train.run.turns import compile_superstep, keys_and_hyper, turns, within_memory
from train.score.validation import make_validator
from train.settings import task
from train.settings.config import Config
from train.settings.members import members


def run_population(
    algorithm: Algorithm,
    config: Config,
    env: Environment,
    env_params: Any,
    folder: RunFolder | None = None,
    *,
    on_start: OnStart | None = None,
    show_progress: bool = True,
) -> dict[str, Outcome]:
    """Trains the members that `config` describes, resuming where `folder` holds checkpoints: name -> outcome.

    A member whose loss or gradient is not finite trains no further; the others go on. Members that were finished
    before, in turns, are left out. Without `at_once` a run that resumes has the turns that it was begun with; a new one
    trains as many members at once as fit into memory, and warns where these are not all.

    Args:
        algorithm: how to learn.
        config: the settings, with `seeds`, `sweep` and `at_once`.
        env: the environment.
        env_params: its params.
        folder: where to write, each member into a folder by its name; None writes nothing.
        on_start: is told where the members that train at once start, unless they are finished.
        show_progress: whether to draw a progress bar.

    Returns:
        Name of a member -> what became of it.

    Raises:
        ValueError: if another process is writing into the folder, or the settings do not fit the environment.
        Finished: if the population has done all its steps.
        CheckpointError: if its newest checkpoint is broken or of another task.
    """
    check(algorithm, config, env, env_params)
    config = task.complete(config, env, env_params)
    named = members(config)
    compile_once = functools.lru_cache(maxsize=1)  # so that the program that fits is run, and equal turns share it
    compiled = compile_once(functools.partial(compile_superstep, algorithm, config, env, env_params, named))
    outcomes: dict[str, Outcome] = {}
    with contextlib.ExitStack() as stack:
        began, tell = time.perf_counter(), on_start
        if folder is not None:
            stack.enter_context(folder.locked())
            config = config.replace(at_once=config.at_once or folder.read_config().at_once)
        if config.at_once is None and (folder is None or not folder.has_results):
            if on_start is not None:
                on_start(None)
            config, tell = within_memory(config, compiled, len(named)), None  # it is told already
        for number, each in enumerate(turns(config, named)):
            group = Group(algorithm, config, env, env_params, each, folder, f"checkpoints-{number}")
            outcomes |= group.train(compiled, began, on_start=tell, show_progress=show_progress)
            if group.is_interrupted:
                break
            began, tell = time.perf_counter(), on_start
    if not outcomes:
        raise Finished("the population is finished; continue it with a greater total_steps")
    return outcomes


class Group:
    """The members that share a program."""

    def __init__(
        self,
        algorithm: Algorithm,
        config: Config,
        env: Environment,
        env_params: Any,
        named: Mapping[str, Config],
        folder: RunFolder | None,
        checkpoints: str,
    ) -> None:
        """Stacks the seeds and hyperparameters of the members."""
        self.algorithm, self.config, self.env, self.env_params = algorithm, config, env, env_params
        self.named, self.folder, self._checkpoints = named, folder, checkpoints
        self.is_interrupted = False
        self._keys, self._hyper = keys_and_hyper(list(named.values()))
        self._lanes = Lanes(config.rollout.num_lanes)

    def train(
        self, compiled: Callable[[int], Any], began: float, *, on_start: OnStart | None, show_progress: bool
    ) -> dict[str, Outcome]:
        """Trains to the end, or to an interruption: name -> outcome; nothing if that was done before.

        Args:
            compiled: number of members -> their compiled superstep.
            began: when what precedes the first superstep began, by `time.perf_counter`.
            on_start: is told where it starts.
            show_progress: whether to draw a progress bar.
        """
        config = self.config
        with contextlib.ExitStack() as stack:
            checkpoints = stack.enter_context(self._open_checkpoints())
            found = checkpoints.newest()
            if found is not None and found.superstep >= config.num_supersteps:
                return {}
            if on_start is not None:
                on_start(found)
            progress = found or Progress(scenarios=self._scenarios())
            state, progress = self._state(checkpoints, progress)
            if self.folder is not None:
                self.folder.write_config(config)
            superstep = compiled(len(self.named))
            validate = make_validator(config, self.env, self.env_params, self.policy(state, 0))
            jax.block_until_ready(state)
            compile_seconds = time.perf_counter() - began
            clock = Clock(config.steps_per_superstep, env_steps=progress.env_steps, seconds=progress.seconds)
            reports = [
                stack.enter_context(self._member(name, progress, clock, self.policy(state, member)))
                for member, name in enumerate(self.named)
            ]
            bar = stack.enter_context(Bar(config, progress.env_steps, is_shown=show_progress))
            stop = stack.enter_context(StopSignal())
            running = None  # metrics of the superstep that is not timed yet
            clock.start()
            for number in range(progress.superstep, config.num_supersteps):
                state, metrics = superstep(state, self.env_params, self._hyper)
                _time(running, clock)  # while the next one runs, so that the device never waits
                running = metrics
                for member, report in enumerate(reports):
                    own = jax.tree.map(lambda x, member=member: x[member], metrics)
                    policy = self.policy(state, member)
                    report.add(number, own, validate(number, policy), policy)
                bar.show(_mean_record([report.latest for report in reports]))
                is_last = stop.is_requested or number + 1 == config.num_supersteps
                if is_last or checkpoints.is_due():
                    _time(running, clock)
                    running = None
                    for report in reports:
                        report.flush()
                    done = {"superstep": number + 1, "env_steps": clock.env_steps, "seconds": clock.seconds}
                    progress = dataclasses.replace(progress, **done)
                    write_both(checkpoints, state, progress, functools.partial(self._save_policies, reports, state))
                    clock.start()
                if is_last:
                    break
            bar.show(_mean_record([report.latest for report in reports]))
        self.is_interrupted = progress.superstep < config.num_supersteps
        policies = [self.policy(state, member) for member in range(len(reports))]
        return {
            report.name: report.outcome(policy, compile_seconds, stopped=self.is_interrupted)
            for report, policy in zip(reports, policies, strict=True)
        }

    def policy(self, state: Any, member: int) -> LearnedPolicy:
        """What a member has learned so far."""
        policies = self.algorithm.policy_of(state, config=self.config, env=self.env)
        return jax.tree.map(lambda x: x[member], policies)  # of the state, only what a policy needs

    def _save_policies(self, reports: Sequence[Member], state: Any) -> None:
        for member, report in enumerate(reports):
            report.save(self.policy(state, member))

    def _member(self, name: str, progress: Progress, clock: Clock, policy: LearnedPolicy) -> Member:
        """One of its members; `policy` is an example of those that it will save."""
        return Member(self.algorithm, self.named[name], self.folder, name, progress, clock, policy)

    def _open_checkpoints(self) -> Any:
        """The checkpoints of the group, or of nothing."""
        if self.folder is None:
            return contextlib.nullcontext(NoCheckpoints())
        checkpoints = Checkpoints(self.folder.path / self._checkpoints, self.config)
        checkpoints.check_begun(RunFolder(self.folder.path / next(iter(self.named))).policy)
        return checkpoints

    def _scenarios(self) -> str:
        """The fingerprint of the scenarios that the first member starts with."""
        bank = self.algorithm.training_bank(self._keys[0], self.env_params, config=self.config, env=self.env)
        return "" if bank is None else bank.fingerprint()

    def _state(self, checkpoints: Checkpoints | NoCheckpoints, progress: Progress) -> tuple[Any, Progress]:
        """The state of all members and their progress: of a checkpoint, or the first."""

        def init(key: jax.Array, env_params: Any) -> Any:
            return self.algorithm.init(key, env_params, config=self.config, env=self.env, lanes=self._lanes)

        def start(key: jax.Array, env_params: Any) -> Any:
            return from_policy(self.algorithm, init(key, env_params), self.config, self.env, self.env_params)

        if not progress.superstep:
            return jax.jit(jax.vmap(start, in_axes=(0, None)))(self._keys, self.env_params), progress
        like = jax.eval_shape(jax.vmap(init, in_axes=(0, None)), self._keys, self.env_params)
        return checkpoints.restore(progress, like, scenarios=self._scenarios())


def _time(metrics: Any, clock: Clock) -> None:
    """Waits for the superstep that gives these metrics, if any, and times it, from the end of the one before."""
    if metrics is not None:
        jax.block_until_ready(metrics)
        clock.tick()


def _mean_record(records: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """The means of the members' last records, for the progress bar."""
    found = [record for record in records if record is not None]

    def mean(name: str) -> float | None:
        values = [record[name] for record in found if record.get(name) is not None]
        return sum(values) / len(values) if values else None

    means = {name: mean(name) for name in ("return", "validation_return", "entropy")}
    return {**means, "env_steps": max((record["env_steps"] for record in found), default=0)}
