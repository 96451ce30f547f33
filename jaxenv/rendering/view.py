"""What an environment tells about itself to be shown: scenes of its states, and its actions in words."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxenv.rendering.canvas import PAGE, Canvas


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """One state, ready to be shown; the page around it, rewards included, is the same for every environment.

    Attributes:
        title: which episode it is, the same for all its scenes; may be empty.
        moment: how far it has come.
        text: the state as lines of plain text, without these two.
        main: draws what matters most, on a canvas of any size.
        side: draws the rest, on a smaller one.
        whole: draws the episode up to this state, beside its steps; None for the first and the last state instead.
        size: of the page, points.
        share: of the width of the page, what the main part takes.
    """

    title: str
    moment: str
    text: str
    main: Callable[[Canvas], None]
    side: Callable[[Canvas], None]
    whole: Callable[[Canvas], None] | None = None
    size: tuple[float, float] = PAGE
    share: float = 0.6

    @property
    def heading(self) -> str:
        """Title and moment on one line."""
        return " · ".join(filter(None, [self.title, self.moment]))


def nothing_told(env: Any, before: Any, after: Any, action: Any, params: Any, document: Any) -> list[str]:
    """For views that tell of a step nothing but its action."""
    del env, before, after, action, params, document
    return []


class View(NamedTuple):
    """How an environment is shown; `views.VIEWS` has one for each."""

    scenes: Callable[[Any, Sequence[Any], Any, Any], list[Scene]]
    """(env, states, params, document or None) -> a scene for each state, drawn on the same scale.

    Everything is on the host: the environment is unwrapped and the states, of one episode, are NumPy arrays.
    """

    words: Callable[[Any, Any, Any, Any, Any], str]
    """(env, state, action, params, document or None) -> what the action means in that state, as a short phrase."""

    told: Callable[[Any, Any, Any, Any, Any, Any], list[str]] = nothing_told
    """(env, state, next state, action, params, document or None) -> what the step did, a line each; may be empty."""

    of_agent: Callable[[int], "View"] | None = None
    """agent -> the view of that one of several; None where all see the same."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of an episode, in Python's own numbers; sums over the agents where there are several.

    Attributes:
        action: the index, or a list of them.
        words: what it means.
        reward: its reward.
        parts: the named terms of the reward that are not zero.
        total: the return so far.
        end: `""`, `"terminated"` or `"truncated"`.
        told: what it did, a line each.
    """

    action: Any
    words: str
    reward: float
    parts: dict[str, float]
    total: float
    end: str = ""
    told: tuple[str, ...] = ()
