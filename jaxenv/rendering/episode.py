"""An episode as a sequence of pictures, and the player that records one."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.core.types import Key, Policy, StatefulPolicy
from jaxenv.rendering import views
from jaxenv.rendering.page import overview, page, transcript
from jaxenv.rendering.picture import Picture, blank_figure
from jaxenv.rendering.view import Scene, Step

FRAMES_PER_SECOND = 0.7
GIF_DOTS_PER_INCH = 100


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Episode(Sequence[Picture]):
    """Pictures: number 0 is the beginning, number n what the n-th step led to.

    Attributes:
        env: the environment, wrapped or not.
        params: those that it was played with.
        states: one more than there are steps.
        steps: what was done, and what it was worth.
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
        """Beginning, end and all steps as one picture."""
        return overview(self._scenes[0], self._scenes[-1], self.steps)

    def transcript(self) -> str:
        """What was done, what came of it and what it was worth, step by step, as plain text."""
        return transcript(self._scenes[0], self._scenes[-1], self.steps)

    def save(self, path: str | Path) -> None:
        """Writes an animated GIF; single pictures are saved by `episode[n].save(...)`.

        Raises:
            ValueError: for a suffix other than `.gif`.
        """
        path = Path(path)
        if path.suffix != ".gif":
            raise ValueError(f"{path}: an episode is saved as .gif, got the suffix {path.suffix!r}")
        figure = blank_figure(self[0].size)
        from matplotlib.animation import PillowWriter

        writer = PillowWriter(fps=FRAMES_PER_SECOND)  # pyright: ignore[reportArgumentType]  # fractions work
        with writer.saving(figure, str(path), GIF_DOTS_PER_INCH):
            for picture in self:
                picture.draw_on(figure)
                writer.grab_frame()

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[n] for n in range(len(self))[index])
        number = range(len(self))[index]
        return page(self._scenes[number], self.steps[number - 1] if number else None)

    def __str__(self) -> str:
        return "\n\n\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<Episode of {self.env.name}: {len(self.steps)} steps, return {self.total:.2f}>"

    def _repr_html_(self) -> str:
        """For notebooks: the pictures one under another."""
        return "\n".join(f"<div>{picture._repr_html_()}</div>" for picture in self)

    @functools.cached_property
    def _scenes(self) -> list[Scene]:
        return views.scenes(self.env, self.states, self.params, self.names, self.agent)


def record(
    env: Environment,
    params: Any,
    policy: Policy | StatefulPolicy,
    key: Key,
    scenario: int | None = None,
    *,
    names: Any = None,
    agent: int = 0,
) -> Episode:
    """Plays one episode to its end, on the host.

    Args:
        env: the environment, wrapped or not.
        params: its params.
        policy: (key, observation, params) -> action, called once a step, or a `StatefulPolicy`; `jax.jit` it where it
            is slow. Of several agents each acts by it on its own observation, in their order.
        key: consumed.
        scenario: an index of `params.bank`; drawn if None.
        names: see `render`.
        agent: see `render`; rewards are sums over all agents.
    """
    key, reset_key = jax.random.split(key)
    observation, state = env.reset(reset_key, params, scenario)
    act = _player(env, policy)
    states, steps, end = [state], [], ""
    while not end:
        key, policy_key, step_key = jax.random.split(key, 3)
        action = act(policy_key, observation, params)
        observation, after, reward, parts, end = _turn(env, step_key, state, action, params)
        total = reward + (steps[-1].total if steps else 0.0)
        words = views.words(env, state, action, params, names, agent)
        told = views.told(env, state, after, action, params, names, agent)
        steps.append(Step(np.asarray(action).tolist(), words, reward, parts, total, end, told))
        states.append(state := after)
    return Episode(env, params, tuple(states), tuple(steps), names, agent)


def _player(env: Environment, policy: Any) -> Callable[[Key, Any, Any], Any]:
    """(key, observation, params) -> action for one episode: of all agents, and with what a policy remembers."""
    agents = env.num_agents
    memory = [policy.initial_carry() if hasattr(policy, "act") else None] * agents

    def act(number: int, key: Key, observation: Any, params: Any) -> Any:
        if not hasattr(policy, "act"):
            return policy(key, observation, params)
        action, memory[number] = policy.act(key, observation, params, memory[number])
        return action

    def act_all(key: Key, observation: Any, params: Any) -> Any:
        keys, seen = jax.random.split(key, agents), jax.device_get(observation)
        each = [jax.tree.map(lambda leaf, n=n: leaf[n], seen) for n in range(agents)]
        return np.array([act(n, keys[n], each[n], params) for n in range(agents)])

    return functools.partial(act, 0) if agents == 1 else act_all


def _turn(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple[Any, Any, float, dict, str]:
    """(observation, state, reward, its parts, end) after one step without a reset."""
    observation, state, *told = _step(env, key, state, action, params)
    reward, parts, terminated, truncated = jax.device_get(told)
    end = "terminated" if terminated else "truncated" if truncated else ""
    named = {field.name: float(np.sum(getattr(parts, field.name))) for field in dataclasses.fields(parts)}
    return observation, state, float(np.sum(reward)), {name: part for name, part in named.items() if part}, end


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple:
    observation, state, reward, terminated, info = env.step_env(key, state, action, params)
    return observation, state, reward, info["reward_parts"], terminated, env.is_truncated(state, params)
