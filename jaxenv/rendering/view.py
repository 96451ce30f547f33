"""The drawing interface of an environment: scenes of its states, and its actions and steps in words.

A package `jaxenv/envs/<family>/view/` provides it, which begins with `snapshot` (names for the indices in
arrays, and a state read into plain Python): `text` says it in words, the other modules draw it. Its `__init__` composes
them into a `View`.
"""

import dataclasses
import functools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

from jaxenv.host.names import did_you_mean
from jaxenv.rendering.canvas import PAGE, Canvas
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


T = TypeVar("T")
Given = Mapping[str, Any]
"""The names of a scenario, by field of its environment's `Names`; empty if none are given."""


def numbered(kind: str, count: int) -> tuple[str, ...]:
    """Default names, such as `("event 1", "event 2")`."""
    return tuple(f"{kind} {number}" for number in range(1, count + 1))


def with_defaults(kind: type[T], given: Given, **defaults: Any) -> T:
    """The names that are given, and defaults for the others.

    Args:
        kind: the dataclass of names.
        given: by field. An empty name counts as missing; a mapping is completed by the default one.
        **defaults: for the fields without a default. A tuple has an entry for each item of the
            scenario.

    Raises:
        ValueError: if a tuple is longer or shorter than the scenario needs, or a field is unknown.
    """
    fields = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType]
    for field in given:
        if field not in fields:
            hint = did_you_mean(field, fields)
            raise ValueError(f"names: unknown field {field!r}.{hint} Fields: {', '.join(fields)}.")
    filled = {field: _filled(field, given.get(field), default) for field, default in defaults.items()}
    return kind(**{**given, **filled})


def _filled(field: str, given: Any, default: Any) -> Any:
    """One field: the given names, completed by the default ones."""
    if given is None:
        return default
    if isinstance(default, Mapping):
        return {**default, **given}
    if isinstance(default, tuple):
        if len(given) != len(default):
            found = f"{field} has {len(given)} entries and the scenario {len(default)}"
            raise ValueError(f"names: {found}; they are the names of another scenario")
        return tuple(usual if name == "" else name for name, usual in zip(given, default, strict=True))
    return given


def to_host(tree: Any) -> Any:
    """The arrays as NumPy's; the same object where they all are, which `remembered` knows again.

    Of many small arrays it takes a third of the time of `jax.device_get`, which copies each.
    """
    is_there = all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(tree))
    return tree if is_there else jax.tree.map(np.asarray, tree)


def scenario_of(params: Any, state: Any) -> Any:
    """The scenario of a state, on the host; it goes there once for all states of an episode."""
    return _row(params.bank, int(state.scenario))


class _Same:
    """An object that equals itself alone, and that is not kept alive: a bank may be large."""

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self.value = weakref.ref(value)
        except TypeError:  # of a mapping
            self.value = lambda: value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value() is other.value() is not None

    def __hash__(self) -> int:
        return self._hash


def remembered(function: Callable[..., T]) -> Callable[..., T]:
    """A function whose last results are kept; an argument is the same if it is the same object, number or text.

    So an argument must not change: `views.names_in` copies mappings but those that cannot.
    """

    @functools.lru_cache(maxsize=256)
    def found(*arguments: Any) -> Any:
        return function(*(each.value() if isinstance(each, _Same) else each for each in arguments))

    @functools.wraps(function)
    def remembering(*arguments: Any) -> T:
        return found(*(each if isinstance(each, int | str) else _Same(each) for each in arguments))

    return remembering


@remembered
def _row(bank: Any, index: int) -> Any:
    return to_host(bank[index])


def from_all(describe_actions: Callable[[Any, Any, Any, Given], Sequence[str]]) -> Callable[..., str]:
    """`View.describe_action` of one agent, from `View.describe_actions`."""

    def describe_action(env: Any, state: Any, action: Any, params: Any, names: Given) -> str:
        return meaning(int(action), describe_actions(env, state, params, names), legal_mask(env, state, params))

    return describe_action


def meaning(action: int, phrases: Sequence[str], legal: Any) -> str:
    """The phrase of an action, and whether it is not legal or does not exist; `legal` is [A] bool."""
    if not 0 <= action < len(phrases):
        return f"action {action}, which does not exist"
    return phrases[action] if legal[action] else f"{phrases[action]}, not legal"


legal_mask = jax.jit(lambda env, state, params: env.action_mask(state, params), static_argnums=0)
"""(env, state, params) -> [A] bool, the legal actions of a state on the host."""

is_over = jax.jit(lambda env, state, params: env.is_over(state, params), static_argnums=0)
"""(env, state, params) -> [] bool, whether the episode of a state on the host has ended."""


def observe(env: Any, state: Any, params: Any) -> Any:
    """The observation in a state, on the host."""
    return to_host(_observe(env, state, params))


_observe = jax.jit(lambda env, state, params: env.observe(state, params), static_argnums=0)


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

    describe_actions: Callable[[Any, Any, Any, Given], Sequence[str]] | None = None
    """(env, state, params, names) -> the meaning of each entry of the catalogue, legal or not; None: one by one."""

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
