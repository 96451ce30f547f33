"""Which workloads a benchmark has, by the names that its table prints."""

import functools
from collections.abc import Callable, Mapping, Sequence

import jaxenv
from jaxenv.host.names import did_you_mean_one_of
from train.benchmark import learning, programs
from train.benchmark.workload import STEPS, Workload, steps_of

Build = Callable[[int], Workload]  # environments -> the workload to time
KINDS = ("environments", "rollout", "training")


def select(
    kinds: Sequence[str],
    banks: Sequence[str],
    *,
    only: str = "",
    steps: int = STEPS,
    num_steps: int | None = None,
    others: Mapping[str, Build] | None = None,
) -> dict[str, Build]:
    """Name -> builder of its workload, in the order of the table; after the registered environments the others.

    Raises:
        ValueError: for an unknown kind or bank, and where no name contains `only`.
    """
    for given, known in ((kinds, KINDS), (banks, programs.BANKS)):
        for name in given:
            if name not in known:
                raise ValueError(f"no {name!r} here.{did_you_mean_one_of(name, known)}")
    found: dict[str, Build] = {}
    for bank in banks:
        end = ", generated" if bank == "generated" else ""
        for id in jaxenv.registered():
            bare = functools.partial(programs.registered, id, bank=bank)
            if "environments" in kinds:
                found[id + end] = functools.partial(stepped, bare, steps)
                found[f"{id}, counted{end}"] = functools.partial(stepped, functools.partial(bare, counted=True), steps)
            if "rollout" in kinds:
                found[f"{id}, rollout{end}"] = functools.partial(_acting, id, steps, bank)
    for id in jaxenv.registered() if "training" in kinds else ():
        found[f"{id}, training"] = functools.partial(_training, id, num_steps)
    found |= others or {}
    chosen = {name: build for name, build in found.items() if only in name}
    if not chosen:
        raise ValueError(f"no program's name contains {only!r}. Available: {'; '.join(found)}.")
    return chosen


def stepped(build: Callable[[], programs.Program], steps: int, num_envs: int) -> Workload:
    """Steps of a program in a batch."""
    return steps_of(build(), num_envs, steps=steps)


def _acting(id: str, steps: int, bank: str, num_envs: int) -> Workload:
    return learning.acting(learning.config_of(id, num_envs=num_envs), steps=steps, bank=bank)


def _training(id: str, num_steps: int | None, num_envs: int) -> Workload:
    return learning.training(learning.config_of(id, num_envs=num_envs, num_steps=num_steps))
