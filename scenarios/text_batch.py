"""Many episodes in words: one compiled step for all of them, and texts that are made once they are read."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import Environment
from jaxenv.rendering.view import to_host
from scenarios.codec import read_answer
from scenarios.episodes import key_of, transition
from scenarios.libraries import Library
from scenarios.situation import Situation, Turn, info_of, not_legal
from scenarios.text.errors import ScenarioError
from scenarios.text_env import NOT_RUNNING, index_of, next_keys, with_library


class Lazy(Sequence[Any]):
    """Items that are made when they are read, and once."""

    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self._count, self._make = count, functools.cache(make)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int | slice) -> Any:
        numbers = range(self._count)[index]
        return self._make(numbers) if isinstance(numbers, int) else [self._make(number) for number in numbers]


class Results(NamedTuple):
    """What a step of a batch returns, in the order of `TextEnv.step`."""

    texts: Sequence[str]
    rewards: np.ndarray  # [n] float32
    dones: np.ndarray  # [n] bool
    infos: Sequence[dict[str, Any]]


class TextBatch:
    """n episodes of a library, played in words: number i is `TextEnv(id, scenario, seed + i)`, bit for bit.

    Texts are made when they are read, so that an agent that asks for the numbers alone pays nothing for them.
    For generated scenarios take the library of a bank, `scenarios.decompile(family, bank)`.

    >>> import scenarios
    >>> batch = scenarios.TextBatch("LifeOps-v0", 256, seed=0)
    >>> texts = batch.reset()
    >>> texts, rewards, dones, infos = batch.step(["1"] * 256)
    >>> rewards.shape, infos[0]["step_taken"], texts[0].splitlines()[1]
    ((256,), True, 'reject Design review: 0.00')
    """

    def __init__(
        self, id: str, n: int, scenario: str | int | None = None, seed: int = 0, *, library: Library | None = None
    ) -> None:
        """Prepares episodes; `reset` begins them.

        Args:
            id: as of `TextEnv`.
            n: how many episodes.
            scenario: its name or index in the library, for all of them; by default one drawn for each at every reset.
            seed: of the first episode; each has the one after that of the one before it.
            library: of `scenarios.load` or `scenarios.decompile`; the shipped one by default.

        Raises:
            ScenarioError: as `TextEnv`.
        """
        if n < 1:
            raise ScenarioError(f"n is {n}, expected at least 1.")
        self._codec = with_library(id, library)
        self._index = index_of(scenario, self._codec.library)
        key_of(seed)  # refuses what is no seed, as the next line does for the last one
        key_of(seed + n - 1)
        self._keys = jax.vmap(jax.random.key)(np.arange(seed, seed + n).astype(np.uint32))
        self._over, self._legal = np.ones(n, bool), np.zeros((n, self._codec.env.num_actions), bool)

    def reset(self) -> Sequence[str]:
        """Begins all episodes: their first texts."""
        env, params, n = self._codec.env, self._codec.params, len(self._over)
        self._keys, states, legal = _begin(env, self._keys, params, self._index)
        self._totals = np.zeros(n)
        now = self._enter(states, legal, {"terminated": np.zeros(n, bool), "truncated": np.zeros(n, bool)})
        return Lazy(n, lambda number: now[number].opening())

    def step(self, answers: Sequence[Any]) -> Results:
        """Takes an answer for each episode; one that is over, or whose answer names no action, takes no step.

        Raises:
            ScenarioError: before the first reset, and for another number of answers.
        """
        if not hasattr(self, "_now"):
            raise ScenarioError(NOT_RUNNING)
        if len(answers) != len(self._over):
            raise ScenarioError(f"{len(answers)} answers for {len(self._over)} episodes, expected one for each.")
        env, params, before = self._codec.env, self._codec.params, self._now
        read = [self._read(number, answer) for number, answer in enumerate(answers)]
        indices = np.array([index for index, _ in read], np.int32)
        taken, errors = indices >= 0, [error for _, error in read]
        self._keys, outcome, states, legal = _turns(env, self._keys, self._states, indices, params)
        rewards, ends, infos = to_host(outcome)
        self._totals = totals = self._totals + rewards
        after = self._enter(states, legal, {name: np.where(taken, ends[name], self._ends[name]) for name in ends})

        def info(number: int) -> Any:
            return _row(infos, number) if taken[number] else None

        def text(number: int) -> str:
            if taken[number]:
                row = (int(indices[number]), errors[number], after[number], float(rewards[number]))
                return Turn(before[number], *row, float(totals[number]), info(number)).text()
            return before[number].refusal(errors[number] or "")

        return Results(
            Lazy(len(taken), text),
            rewards,
            self._over,
            Lazy(len(taken), lambda number: info_of(after[number].ends, errors[number], info(number))),
        )

    @property
    def legal(self) -> np.ndarray:
        """[n, A] bool: the legal actions of each episode, all False where it is over."""
        return self._legal & ~self._over[:, None]

    def legal_actions(self, number: int) -> dict[int, dict[str, Any]]:
        """Number -> action, of one episode; empty where it is over."""
        return {} if self._over[number] else dict(self._now[number].legal)

    def _read(self, number: int, answer: Any) -> tuple[int, str | None]:
        """The index that an answer names, −1 where it takes no step, and why it is not legal."""
        if self._over[number]:
            return -1, NOT_RUNNING
        try:
            action = read_answer(answer)
            if isinstance(action, int) and 0 <= action < self._legal.shape[1]:
                return action, None if self._legal[number, action] else not_legal(action)
            return self._now[number].read(answer)
        except ScenarioError as problem:
            return -1, f"{problem} No step was taken."

    def _enter(self, states: Any, legal: jax.Array, ends: Mapping[str, np.ndarray]) -> Sequence[Situation]:
        """Goes on from the states of all episodes: their situations."""
        states, codec = to_host(states), self._codec
        self._states, self._legal, self._ends = states, np.asarray(legal), ends
        self._over = ends["terminated"] | ends["truncated"]

        def situation(number: int) -> Situation:
            return Situation(codec, _row(states, number), {name: bool(rows[number]) for name, rows in ends.items()})

        self._now = Lazy(len(self._over), situation)
        return self._now


def _row(states: Any, number: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[number], states)


@functools.partial(jax.jit, static_argnums=0)
def _begin(env: Environment, keys: jax.Array, params: Any, index: int | None) -> tuple[Any, Any, Any]:
    """(next keys, states, legal actions [n, A])."""

    def begin(key: jax.Array) -> tuple[Any, Any, Any]:
        next_key, reset_key, _ = jax.random.split(key, 3)
        state = env.reset(reset_key, params, index)[1]
        return next_key, state, jnp.atleast_2d(env.action_mask(state, params))[0]  # of several agents, the first

    return jax.vmap(begin)(keys)


@functools.partial(jax.jit, static_argnums=0)
def _turns(env: Environment, keys: jax.Array, states: Any, indices: jax.Array, params: Any) -> tuple[Any, ...]:
    """(next keys, (rewards, ends, infos), states, legal actions); a negative index takes no step."""

    def turn(key: jax.Array, state: Any, index: jax.Array) -> tuple[Any, ...]:
        next_key, turn_key = next_keys(key)
        after, reward, ends, info = transition(env, turn_key, state, jnp.maximum(index, 0), params)
        key, state, reward = jax.tree.map(
            lambda new, old: jnp.where(index >= 0, new, old), (next_key, after, reward), (key, state, jnp.float32(0))
        )
        return key, (reward, ends, info), state, jnp.atleast_2d(env.action_mask(state, params))[0]

    return jax.vmap(turn)(keys, states, indices)
