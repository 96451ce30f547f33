"""An episode as a sequence of pictures, and the player that records one."""

import dataclasses
import functools
import html
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.core.terms import by_name
from jaxenv.core.types import Key, Policy, StatefulPolicy
from jaxenv.rendering import movie, player, views
from jaxenv.rendering.page import overview, page, transcript
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.text import joined
from jaxenv.rendering.view import Scene, Step, to_host

FRAMES_PER_SECOND = 0.7
MAX_FRAMES_PER_SECOND = 100  # the most that a GIF can say
MOVIES: dict[str, Callable[[Path, Sequence[Picture], float], None]] = {".gif": movie.gif, ".mp4": movie.mp4}
PAGE = ".html"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Episode(Sequence[Picture]):
    """A sequence of pictures: number 0 is the first state, number n the state after the n-th step.

    Attributes:
        env: the environment, wrapped or not.
        params: the params that it was played with.
        states: one more than there are steps.
        steps: actions, effects and rewards.
        names: see `render`.
        agent: see `render`.
    """

    env: Environment
    params: Any
    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    names: Any = None
    agent: int = 0

    @property
    def total(self) -> float:
        """The return."""
        return self.steps[-1].total if self.steps else 0.0

    def overview(self) -> Picture:
        """The first state, the last one and all steps as one picture."""
        return overview(self._scenes[0], self._scenes[-1], self.steps)

    def transcript(self) -> str:
        """Every step as plain text: the action, its effects and its reward by part."""
        return transcript(self._scenes[0], self._scenes[-1], self.steps)

    def save(
        self, path: str | Path, *, fps: float = FRAMES_PER_SECOND, frames: slice | Iterable[int] | None = None
    ) -> None:
        """Writes an animated GIF, an MP4 (which needs ffmpeg) or a web page that plays the episode, by the suffix.

        `episode[n].save(...)` saves a single picture.

        Args:
            path: a .gif, .mp4 or .html file.
            fps: pictures a second; of a page, to begin with.
            frames: which pictures, as a slice such as `slice(0, 50, 2)` or as their numbers; default: all.

        Raises:
            ValueError: for another suffix, no pictures, a number that there is not, or a speed of zero.
            FileNotFoundError: for an MP4 without ffmpeg.
        """
        path = Path(path)
        if path.suffix not in (*MOVIES, PAGE):
            known = ", ".join((*MOVIES, PAGE))
            problem = f"{path}: an episode is saved as {known}, got the suffix {path.suffix!r}"
            raise ValueError(f"{problem}; episode.overview() is one picture of it, episode[3] its fourth")
        if not 0 < fps <= MAX_FRAMES_PER_SECOND:
            raise ValueError(f"fps={fps}: expected a number above 0, at most {MAX_FRAMES_PER_SECOND}")
        numbers = self._numbers(frames)
        if path.suffix == PAGE:
            path.write_text(self._page(numbers, fps), encoding="utf-8")
        else:
            MOVIES[path.suffix](path, [self[number] for number in numbers], fps)

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(len(self))[index])
        try:
            number = range(len(self))[index]
        except IndexError:
            raise IndexError(f"episode[{index}]: there are only the pictures 0 to {len(self) - 1}") from None
        return page(self._scenes[number], self.steps[number - 1] if number else None)

    def __str__(self) -> str:
        return "\n\n\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<Episode of {self.env.name}: {len(self.steps)} steps, return {self.total:.2f}>"

    def _repr_html_(self) -> str:
        """For notebooks: a player, or the text if matplotlib is not installed."""
        try:
            page = self._page(range(len(self)), FRAMES_PER_SECOND)
            return player.inline(page, self._title, self.overview())
        except ImportError:
            return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def _title(self) -> str:
        return joined(self.env.name, self._scenes[0].title)

    def _page(self, numbers: Sequence[int], fps: float) -> str:
        """A web page that plays the pictures of these numbers."""
        steps = [(number, self.steps[number - 1] if number else None) for number in numbers]
        return player.document(self._title, [self[number] for number in numbers], steps, fps)

    def _numbers(self, frames: slice | Iterable[int] | None) -> list[int]:
        """The numbers of the chosen pictures, in their order."""
        numbers = range(len(self))
        wanted = numbers if frames is None else numbers[frames] if isinstance(frames, slice) else frames
        try:
            chosen = [numbers[number] for number in wanted]
        except IndexError:
            raise ValueError(f"frames={frames!r}: there are only the pictures 0 to {len(self) - 1}") from None
        if not chosen:
            raise ValueError(f"frames={frames!r} leaves none of the {len(self)} pictures")
        return chosen

    @functools.cached_property
    def _scenes(self) -> list[Scene]:
        return views.scenes(self.env, self.states, self.params, self.names, self.agent)


def record(
    env: Environment,
    params: Any,
    policy: Policy | StatefulPolicy,
    key: Key,
    scenario: int | str | None = None,
    *,
    names: Any = None,
    agent: int = 0,
) -> Episode:
    """Plays one episode to its end, on the host.

    Args:
        env: the environment, wrapped or not.
        params: its params.
        policy: (key, observation, params) -> action, called once a step, or a `StatefulPolicy`. A pytree, such as a
            trained policy, is compiled; `jax.jit` a slow function. Each of several agents acts on its own observation,
            in their order.
        key: a PRNG key.
        scenario: an index of `params.bank`, or the id of a scenario of the library `names`; drawn if None.
        names: see `render`.
        agent: see `render`; rewards are sums over all agents.

    Raises:
        TypeError: for a `scenario` that is an id, where `names` is no library.
        LookupError: if the environment has no view.
        ValueError: for an unknown id or agent, or the names of another scenario.

    Examples:
        >>> import jax, jaxenv
        >>> env, params = jaxenv.make("LifeOps-v0")
        >>> def policy(key, observation, params):
        ...     return jaxenv.masking.sample_uniform(key, observation.action_mask)
        >>> episode = record(env, params, policy, jax.random.key(0), scenario=0)
        >>> len(episode) == len(episode.steps) + 1
        True
        >>> episode.steps[-1].end
        'terminated'
        >>> episode.overview().save("episode.png")  # doctest: +SKIP
        >>> episode.save("episode.html", fps=2, frames=range(0, len(episode), 2))  # doctest: +SKIP
    """
    key, reset_key = jax.random.split(key)
    number = views.number_of(scenario, names) if isinstance(scenario, str) else scenario
    observation, state = env.reset(reset_key, params, number)
    act = _player(env, policy)
    given = views.names_in(env.unwrapped, views.on_host(env, state, params), names)
    states, steps, end = [state], [], ""
    while not end:
        key, policy_key, step_key = jax.random.split(key, 3)
        action = act(policy_key, observation, params)
        observation, after, reward, parts, end = _transition(env, step_key, state, action, params)
        total = reward + (steps[-1].total if steps else 0.0)
        description = views.describe_action(env, state, action, params, given, agent)
        effects = views.describe_step(env, state, after, action, params, given, agent)
        steps.append(Step(np.asarray(action).tolist(), description, reward, parts, total, end, effects))
        states.append(state := after)
    return Episode(env, params, tuple(states), tuple(steps), names, agent)


def _player(env: Environment, policy: Any) -> Callable[[Key, Any, Any], Any]:
    """(key, observation, params) -> action (or one for each agent) for one episode, with the policy's carry kept."""
    agents = env.num_agents
    carry = [policy.initial_carry() if hasattr(policy, "act") else None] * agents
    decide = _decide if jax.tree_util.all_leaves([policy]) else _decide_compiled  # a function, or a pytree

    def act(number: int, key: Key, observation: Any, params: Any) -> Any:
        action, carry[number] = decide(policy, key, observation, params, carry[number])
        return action

    def act_all(key: Key, observation: Any, params: Any) -> Any:
        keys, seen = jax.random.split(key, agents), to_host(observation)
        each = [jax.tree.map(lambda leaf, n=n: leaf[n], seen) for n in range(agents)]
        return np.array([act(n, keys[n], each[n], params) for n in range(agents)])

    return functools.partial(act, 0) if agents == 1 else act_all


def _decide(policy: Any, key: Key, observation: Any, params: Any, carry: Any) -> tuple[Any, Any]:
    """(action, carry) of a policy with memory or without."""
    if hasattr(policy, "act"):
        return policy.act(key, observation, params, carry)
    return policy(key, observation, params), carry


_decide_compiled = jax.jit(_decide)


def _transition(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple[Any, Any, float, dict, str]:
    """(observation, state, reward, its parts, end) after one step without a reset."""
    observation, state, *outputs = _step(env, key, state, action, params)
    reward, parts, terminated, truncated = to_host(outputs)
    end = "terminated" if terminated else "truncated" if truncated else ""
    named = {name: float(np.sum(part)) for name, part in by_name(parts).items()}
    return observation, state, float(np.sum(reward)), {name: part for name, part in named.items() if part}, end


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple:
    observation, state, reward, terminated, info = env.step_env(key, state, action, params)
    return observation, state, reward, info["reward_parts"], terminated, env.is_truncated(state, params)
