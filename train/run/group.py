"""The members that train at once: how their state begins or resumes, and how many fit into the memory of the device."""

import contextlib
import functools
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from train.lanes import SHARED
from train.networks.policy import LearnedPolicy
from train.once import compiled_once
from train.run.job import ALONE, Job
from train.save.checkpoint import Checkpoints, Finished
from train.save.description import Progress
from train.save.folder import RunFolder
from train.settings.config import Config

CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""The memory of a container, by version 2 and 1 of Linux's control groups."""

OnStart = Callable[[Progress | None], None]
"""Called once before compilation with the progress of the checkpoint that a run resumes from, or None for a new run."""

LEARNED = ("weights", "optimizer", "target")
"""Parts of a run's state that are finite in its checkpoints. Those of a population have members that failed, and the
state in `not_finite` is of a run that is about to."""

_CONFIG: Any = jax.config  # whose settings have no declared types


class Group:
    """Some members of a population, along a leading axis M of each array; or a single run, without that axis.

    The lanes of a single run may lie on several devices, those of members lie on one.
    """

    def __init__(self, job: Job, named: Mapping[str, Config] | None = None) -> None:
        """Stacks the seeds and hyperparameters of the members: name -> settings, by default all of the job's."""
        self.algorithm, self.config, self.env, self.env_params = job.algorithm, job.config, job.env, job.env_params
        self.named, self.lanes, self._start = named or job.members, job.lanes, job.start
        self.is_alone = ALONE in self.named
        keys, hypers = zip(*((jax.random.key(each.seed), each.hyper) for each in self.named.values()), strict=True)
        self.first_key = keys[0]
        stacked = jnp.stack(keys), jax.tree.map(lambda *values: jnp.array(values), *hypers)
        self._keys, hyper = (keys[0], hypers[0]) if self.is_alone else stacked
        # Of a superstep beside the state: params, and hyperparameters.
        self.arguments = self.lanes.put((job.env_params, hyper), SHARED)

    def compile(self) -> Any:
        """The compiled superstep: (state, params, hyperparameters) -> (state, metrics); it consumes its state.

        Under `jax.disable_jit` it is not compiled, for a debugger.
        """
        superstep = self.algorithm.make_superstep(self.config, self.env, self.lanes)
        if not self.is_alone:
            superstep = jax.jit(jax.vmap(superstep, in_axes=(0, None, 0)), donate_argnums=0)
        if _CONFIG.jax_disable_jit:
            return superstep
        return superstep.lower(self._shapes(), *self.arguments).compile()

    @contextlib.contextmanager
    def checkpoints(self, folder: RunFolder | None, name: str = "checkpoints") -> Iterator[Checkpoints | None]:
        """Their checkpoints, in the locked folder of the run; None where it writes nothing."""
        if folder is None:
            yield None
            return
        with Checkpoints(folder.path / name, self.config, finite=LEARNED if self.is_alone else ()) as checkpoints:
            checkpoints.check_begun(RunFolder(folder.path / next(iter(self.named))).policy)
            yield checkpoints

    def restore_or_begin(
        self, checkpoints: Checkpoints | None, *, may_be_finished: bool = False, on_start: OnStart | None = None
    ) -> tuple[Any, Progress]:
        """State and progress of the newest checkpoint that is whole, or of a new run, which may start from a policy.

        Raises:
            Finished: if the run has done all its steps, unless it `may_be_finished`.
        """
        progress = checkpoints and checkpoints.newest()
        if progress is not None and progress.superstep >= self.config.num_supersteps and not may_be_finished:
            raise Finished(
                f"the run is finished: {progress.env_steps:,} of {self.config.total_steps:,} steps are done; "
                "continue it with a greater total_steps"
            )
        if on_start is not None:
            on_start(progress)
        if checkpoints and progress:
            return checkpoints.restore(progress, self._shapes(), start=self._at_start())
        return self._begin()

    def _begin(self) -> tuple[Any, Progress]:
        """State and progress of a new run."""

        def start(key: jax.Array, env_params: Any) -> Any:
            state, weights = self._init(key, env_params), self._start()
            if weights is None:
                return state
            return self.algorithm.with_weights(state, self.lanes.put(jax.tree.map(jnp.array, weights), SHARED))

        started = start if self.is_alone else compiled_once(jax.vmap(start, in_axes=(0, None)))
        return started(self._keys, self.env_params), self._at_start()

    def _at_start(self) -> Progress:
        """The progress of a new run, with the fingerprints of the scenarios that its first member starts with."""
        bank = self.algorithm.training_bank(self.first_key, self.env_params, config=self.config, env=self.env)
        if bank is None:
            return Progress(scenarios="")
        drawn = bank.fingerprint(floats=False) if self.config.is_generated else ""
        return Progress(scenarios=bank.fingerprint(), drawn=drawn)

    def policy(self, state: Any, member: int = 0) -> LearnedPolicy:
        """A member's learned policy so far."""
        policy = self.algorithm.policy_of(state, config=self.config, env=self.env)
        return self.lanes.local(policy) if self.is_alone else self.of_member(policy, member)

    def of_member(self, tree: Any, member: int) -> Any:
        """A member's part of arrays that all members have."""
        return tree if self.is_alone else jax.tree.map(lambda x: x[member], tree)

    def _init(self, key: jax.Array, env_params: Any) -> Any:
        return self.algorithm.init(key, env_params, config=self.config, env=self.env, lanes=self.lanes)

    def _shapes(self) -> Any:
        """Shapes and dtypes of the state, with the devices where it lies."""
        if not self.is_alone:
            return jax.eval_shape(jax.vmap(self._init, in_axes=(0, None)), self._keys, self.env_params)
        init = functools.partial(self.algorithm.init, config=self.config, env=self.env)  # shapes are put on no mesh
        return self.lanes.placed(jax.eval_shape(init, self._keys, self.env_params), self.algorithm.SPECS)


def turns(config: Config, named: Mapping[str, Config]) -> list[dict[str, Config]]:
    """The members that train at once, turn by turn."""
    size = config.at_once or len(named)
    return [dict(list(named.items())[start : start + size]) for start in range(0, len(named), size)]


def within_memory(config: Config, compiled: Callable[[int], Any], number: int) -> Config:
    """The settings with as many members at once as fit into memory; warns where these are not all.

    Args:
        config: the settings, without `at_once`.
        compiled: number of members -> their compiled superstep.
        number: of all members.
    """
    limit = device_bytes()
    at_once = as_many_as_fit(compiled, number, limit)
    if at_once == number:
        return config
    memory = f"{limit / 1e9:,.1f} GB of memory"
    warnings.warn(f"{number} members do not fit into {memory}: they train in turns, {at_once} at once", stacklevel=3)
    return config.replace(at_once=at_once)


def program_bytes(program: Any) -> int:
    """Memory that a compiled program needs: arguments, results that do not lie in them, and temporaries; exact."""
    memory = program.memory_analysis()
    own = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    return own + memory.temp_size_in_bytes


def device_bytes() -> float:
    """The device memory that programs may use, on a CPU that of the machine or container; infinite if it is unknown."""
    device = jax.devices()[0]
    if device.platform == "cpu":
        return min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *map(_limit_in, CGROUP_LIMITS))
    return (device.memory_stats() or {}).get("bytes_limit", math.inf)


def _limit_in(path: Path) -> float:
    """The bytes that a file of a control group allows; infinite where it allows any number, or is missing."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max"
        return math.inf


def as_many_as_fit(compiled: Callable[[int], Any], number: int, limit: float) -> int:
    """How many members train at once: all, or half of them, rounded up, and so on until they fit; at least one.

    Args:
        compiled: number of members -> their compiled program.
        number: of all members.
        limit: bytes that a program may need; of an infinite one nothing is compiled.
    """
    while number > 1 and not _fits(compiled, number, limit):
        number = (number + 1) // 2
    return number


def _fits(compiled: Callable[[int], Any], number: int, limit: float) -> bool:
    """Whether the program of so many members fits; compilers for some devices refuse one that does not."""
    try:
        return _CONFIG.jax_disable_jit or limit == math.inf or program_bytes(compiled(number)) <= limit
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return False
