"""What is shown of a crisis: records of what an agent knows of a state, by name."""

import dataclasses

import numpy as np

from jaxenv.rendering.lifestack.names import Names

OPEN, COMPLETED, CLOSED = "open", "completed", "closed"
LOCKED, REACHED = "locked", "reached"
RESOURCES = ("time", "money", "energy")


@dataclasses.dataclass(frozen=True)
class Fact:
    """A key."""

    name: str
    value: str | None  # None where unknown
    shown: bool  # whether it always shows its current value
    wanted: bool  # whether a route that leads to success asks for it


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition, in words."""

    words: str
    stands: int  # HOLDS, FAILS or NOT_KNOWN, as far as is known
    now: str = ""  # the value of its metric, which is not turned here

    @property
    def at_length(self) -> str:
        """The condition with the value of its metric."""
        return f"{self.words} (now {self.now})" if self.now else self.words


@dataclasses.dataclass(frozen=True)
class Need:
    """A precondition of a route: on a key, or on a bound."""

    of_bound: bool
    slot: int
    stands: int  # HOLDS, FAILS or NOT_KNOWN


@dataclasses.dataclass(frozen=True)
class Write:
    """A consequence of a route."""

    key: int
    value: str
    holds: bool  # whether the key is known to have this value now
    succeeds: bool  # whether it satisfies a success condition
    fails: bool  # whether it satisfies a failure condition
    reaches: bool  # whether it meets a milestone


@dataclasses.dataclass(frozen=True)
class Route:
    """A way out."""

    name: str
    status: str  # OPEN, COMPLETED or CLOSED
    verbs: tuple[tuple[str, bool], ...]  # with whether each has been done
    reward: float
    price: str  # what it costs beside its verbs
    affordable: bool  # whether the money that is still to be paid is there
    serves: bool
    needs: tuple[Need, ...]
    writes: tuple[Write, ...]
    closes: tuple[str, ...]
    enables: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Milestone:
    """A checkpoint."""

    name: str
    reward: float
    status: str  # LOCKED, OPEN or REACHED


@dataclasses.dataclass(frozen=True)
class Crisis:
    """Everything that is shown of a state."""

    names: Names
    clock: int
    horizon: int
    deadline: int | None
    outcome: str  # empty while it goes on
    has: dict[str, float]  # by the names of RESOURCES
    had: dict[str, float]  # the same at the beginning
    metrics: np.ndarray  # [23] float, turned so that more is better
    facts: tuple[Fact, ...]
    bounds: tuple[Condition, ...]
    routes: tuple[Route, ...]
    success: tuple[Condition, ...]
    failure: tuple[Condition, ...]
    milestones: tuple[Milestone, ...]
    events: tuple[int, ...]  # slots of those that have fired and are told
