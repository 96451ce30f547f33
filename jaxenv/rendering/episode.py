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

    def save(self, path: str | Path) -> None:
        """Writes an animated GIF; `episode[n].save(...)` saves a single picture.

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
        policy: (key, observation, params) -> action, called once a step, or a `StatefulPolicy`; `jax.jit` a slow one.
            Each of several agents acts on its own observation, in their order.
        key: a PRNG key.
        scenario: an index of `params.bank`; drawn if None.
        names: see `render`.
        agent: see `render`; rewards are sums over all agents.

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
    """
    key, reset_key = jax.random.split(key)
    observation, state = env.reset(reset_key, params, scenario)
    act = _player(env, policy)
    given = views.names_in(env, state, params, names)
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

    def act(number: int, key: Key, observation: Any, params: Any) -> Any:
        if not hasattr(policy, "act"):
            return policy(key, observation, params)
        action, carry[number] = policy.act(key, observation, params, carry[number])
        return action

    def act_all(key: Key, observation: Any, params: Any) -> Any:
        keys, seen = jax.random.split(key, agents), jax.device_get(observation)
        each = [jax.tree.map(lambda leaf, n=n: leaf[n], seen) for n in range(agents)]
        return np.array([act(n, keys[n], each[n], params) for n in range(agents)])

    return functools.partial(act, 0) if agents == 1 else act_all


def _transition(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple[Any, Any, float, dict, str]:
    """(observation, state, reward, its parts, end) after one step without a reset."""
    observation, state, *outputs = _step(env, key, state, action, params)
    reward, parts, terminated, truncated = jax.device_get(outputs)
    end = "terminated" if terminated else "truncated" if truncated else ""
    named = {field.name: float(np.sum(getattr(parts, field.name))) for field in dataclasses.fields(parts)}
    return observation, state, float(np.sum(reward)), {name: part for name, part in named.items() if part}, end


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Environment, key: Key, state: Any, action: Any, params: Any) -> tuple:
    observation, state, reward, terminated, info = env.step_env(key, state, action, params)
    return observation, state, reward, info["reward_parts"], terminated, env.is_truncated(state, params)
