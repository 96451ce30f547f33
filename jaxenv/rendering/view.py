"""The drawing interface of an environment: scenes of its states, and its actions and steps in words.

A package `jaxenv/envs/<family>/view/` provides it, with the same modules for each: `names` (for the indices in
arrays), `snapshot` (a state read into plain Python), `main_panel` and `side_panel` (its drawing), `text` (the same in
words) and, if an episode has a picture of its own, `timeline`. Its `__init__` composes them into a `View`.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax

from jaxenv.rendering.canvas import PAGE, Canvas
from jaxenv.rendering.names import Given
from jaxenv.rendering.text import joined


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """One state, ready to be shown; the page around it, rewards included, is the same for every environment.

    Attributes:
        title: which episode it is, the same for all its scenes; may be empty.
        moment: how far the episode has come.
        text: the state as lines of plain text, without these two.
        main: draws the main panel, on a canvas of any size.
        side: draws the side panel.
        whole: draws the episode up to this state, beside its steps; if None, the first and the last state are drawn.
        size: of the page, points.
        share: the main panel's share of the width.
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
        return joined(self.title, self.moment)


def scenario_of(params: Any, state: Any) -> Any:
    """The scenario of a state, on the host."""
    return jax.device_get(params.bank[int(state.scenario)])


def scenes_of(
    snapshots: Iterable[Any],
    text: Any,
    main: Callable[..., None],
    side: Callable[..., None],
    whole: Callable[..., None] | None = None,
    **page: Any,
) -> list[Scene]:
    """A scene for each snapshot.

    Args:
        snapshots: the states of one episode, read for drawing.
        text: a module with `title`, `moment` and `body`, each from a snapshot to text.
        main: (snapshot, canvas) -> None, draws the main panel.
        side: the same for the side panel.
        whole: the same for the whole episode, or None.
        **page: `size` and `share` of `Scene`.
    """
    return [
        Scene(
            title=text.title(snapshot),
            moment=text.moment(snapshot),
            text=text.body(snapshot),
            main=functools.partial(main, snapshot),
            side=functools.partial(side, snapshot),
            whole=functools.partial(whole, snapshot) if whole else None,
            **page,
        )
        for snapshot in snapshots
    ]


class View(NamedTuple):
    """How an environment is shown; `views.VIEWS` has one for each.

    All arguments are on the host: the environment is unwrapped, and states and actions are NumPy arrays.
    """

    scenes: Callable[[Any, Sequence[Any], Any, Given], list[Scene]]
    """(env, states of one episode, params, names) -> a scene for each state, drawn on the same scale."""

    describe_action: Callable[[Any, Any, Any, Any, Given], str]
    """(env, state, action, params, names) -> the meaning of the action in that state, as a short phrase."""

    describe_step: Callable[[Any, Any, Any, Any, Any, Given], list[str]] = lambda *_: []
    """(env, state, next state, action, params, names) -> the effects of the step, a line each; may be empty."""

    of_agent: Callable[[int], "View"] | None = None
    """agent -> the view of one of several agents; None if all see the same."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of an episode, in plain Python numbers; sums over the agents if there are several.

    Attributes:
        action: the index, or a list of them.
        description: the meaning of the action.
        reward: its reward.
        parts: the named terms of the reward that are not zero.
        total: the return so far.
        end: `""`, `"terminated"` or `"truncated"`.
        effects: the effects of the step, a line each.
    """

    action: Any
    description: str
    reward: float
    parts: dict[str, float]
    total: float
    end: str = ""
    effects: tuple[str, ...] = ()
