"""What a checkpoint says of its run, as JSON beside the arrays: how far it has come, and whether this is as written."""

import dataclasses
import math
from typing import Any

from train.save.arrays import digest


@dataclasses.dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has come; counters are Python ints, since they exceed 2**31."""

    superstep: int = 0  # supersteps done
    env_steps: int = 0
    seconds: float = 0.0  # of training, excluding compilation
    scenarios: str  # fingerprint of the bank that training started with
    drawn: str = ""  # the same without floats, whose last bits another kind of processor computes otherwise


PROGRESS = [field.name for field in dataclasses.fields(Progress)]
_FIELDS = {**dict.fromkeys(("config", "shapes", "digests"), (dict,)), "seconds": (int, float)}
_FIELDS |= {"scenarios": (str,), "drawn": (str,)} | dict.fromkeys(("superstep", "env_steps", "processes"), (int,))


def problem_of(info: Any, step: int) -> str | None:
    """The difference between a description and the one that was written, if there is one."""
    if not _describes(info, step):
        return "it does not describe its run"
    try:
        is_as_written = digest({name: value for name, value in info.items() if name != "digest"}) == info.get("digest")
    except RecursionError:  # of values in each other without end
        is_as_written = False
    if not is_as_written:
        return "its description is not what was written"
    if "digests" not in info:
        return "its arrays have no checksums"
    return None


def _describes(info: Any, step: int) -> bool:
    """Whether this is the description beside the arrays of a step, with the numbers of a progress."""
    if not isinstance(info, dict):
        return False
    found = {"digests": {}, "processes": 1, "drawn": "", **info}
    return (
        all(type(found.get(name)) in kinds for name, kinds in _FIELDS.items())
        and found["superstep"] == step  # or it is the description of another one
        and found["env_steps"] >= 0
        and 0 <= found["seconds"] < math.inf
    )
