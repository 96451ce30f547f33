"""What the states of one episode tell together: metrics and resources over time, and when events fired."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxenv.rendering.lifestack.crisis import Crisis


@dataclasses.dataclass(frozen=True)
class History:
    """Several states in order.

    Attributes:
        metrics: [states, 23] float, turned so that more is better.
        is_episode: whether they are the states of an episode from its first step on.
        fired: (step, or None where it is not known; slot of the event), in that order.
    """

    metrics: np.ndarray
    is_episode: bool
    fired: tuple[tuple[int | None, int], ...]

    @property
    def last_step(self) -> int:
        """The clock at the end, at least 1."""
        return max(len(self.metrics) - 1, 1)

    def fired_until(self, clock: int) -> tuple[tuple[int | None, int], ...]:
        """The events that a state knows of."""
        return tuple((step, event) for step, event in self.fired if step is None or step <= clock)


def history_of(crises: Sequence[Crisis]) -> History:
    """The history of some states of one episode."""
    fired: dict[int, int | None] = {}
    is_episode = len(crises) > 1 and [crisis.clock for crisis in crises] == list(range(len(crises)))
    for crisis in crises:
        for event in crisis.events:
            fired.setdefault(event, crisis.clock if is_episode or crisis.clock == 0 else None)
    return History(
        metrics=np.stack([crisis.metrics for crisis in crises]),
        is_episode=is_episode,
        fired=tuple((step, event) for event, step in fired.items()),
    )
