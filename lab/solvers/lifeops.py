"""Known returns of the library's days: exact ones by search, and that of the rule-based baseline.

- `random`: the mean return of a policy that takes every legal action equally often; `best`, `worst`: over all plays;
- `heuristic`: the return of the baseline of that name.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxenv import baselines
from jaxenv.core import Environment
from jaxenv.envs.lifeops import LifeOps, State
from jaxenv.evaluation import evaluate
from lab.solvers.known_returns import DIGITS, Row
from scenarios.libraries import Library

CHUNK = 1024  # states that are stepped at once


def returns(env: LifeOps, library: Library, seconds: float = 0.0) -> dict[str, Row]:
    """The row of every day; the search is exact, however long it takes."""
    del seconds
    params = env.params_for(library.bank)
    played = evaluate(baselines.for_environment(env)["Heuristic"], env, params).returns[:, 0].tolist()
    return {id: _row(env, params, number, played[number]) for number, id in enumerate(library.ids)}


def _row(env: LifeOps, params: Any, number: int, heuristic: float) -> Row:
    """The returns of one day."""
    found = solve(env, params, number, _future_of)
    row = {"random": found.random, "heuristic": heuristic, "best": found.best, "worst": found.worst}
    return {name: _plain(value) for name, value in row.items()}


def _future_of(state: State) -> State:
    """Everything except the sources of events, which only text needs."""
    return state.replace(source=None)


def _plain(value: float) -> float:
    """A number with a few digits; a whole one without a point."""
    rounded = round(value, DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded


class Values(NamedTuple):
    """Undiscounted returns from a state to the end of the episode."""

    best: float
    worst: float
    random: float  # the mean of a policy that takes every legal action equally often


class _Layer(NamedTuple):
    """The successors of all states at one step under all actions; S states."""

    rewards: np.ndarray  # [S, A] float32
    legal: np.ndarray  # [S, A] bool
    next: np.ndarray  # [S, A] int32, place in the next layer, -1 where the episode ends or the action is not legal


def solve(env: Environment, params: Any, scenario: int, future_of: Callable[[Any], Any]) -> Values:
    """The exact returns of whole episodes of one scenario.

    Args:
        env: draws nothing in a step.
        params: its params.
        scenario: index in the bank.
        future_of: state -> the arrays that decide its future; states that share them are searched once.
    """
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[None], env.init(jax.random.key(0), params, scenario))
    layers = []
    while len(jax.tree.leaves(states)[0]):
        layer, states = _expand(env, params, states, future_of)
        layers.append(layer)
    values = np.zeros((3, 0))
    for layer in reversed(layers):
        values = _backward(layer, values)
    return Values(*values[:, 0].tolist())


def _backward(layer: _Layer, values: np.ndarray) -> np.ndarray:
    """[3, S] the best, worst and random value of each state, from those of the next layer."""
    after = np.append(values, np.zeros((3, 1)), axis=1)[:, layer.next]  # the last one is that of an ended episode
    best, worst, random = layer.rewards.astype(np.float64) + after
    return np.array(
        [
            np.where(layer.legal, best, -np.inf).max(axis=1),
            np.where(layer.legal, worst, np.inf).min(axis=1),
            np.where(layer.legal, random, 0.0).sum(axis=1) / layer.legal.sum(axis=1),
        ]
    )


def _expand(env: Environment, params: Any, states: Any, future_of: Callable[[Any], Any]) -> tuple[_Layer, Any]:
    """A layer, and the different states that it leads to."""
    layers, found = [], []
    places: dict[bytes, int] = {}
    size = len(jax.tree.leaves(states)[0])
    for start in range(0, size, CHUNK):
        rows = np.arange(start, start + CHUNK).clip(max=size - 1)  # one shape, so that stepping compiles once
        stepped = _step_all(env, jax.tree.map(lambda leaf, rows=rows: leaf[rows], states), params)
        after, rewards, legal, ended = jax.tree.map(lambda leaf, n=size - start: np.asarray(leaf)[:n], stepped)
        goes_on = legal & ~ended
        after = jax.tree.map(lambda leaf, goes_on=goes_on: leaf[goes_on], after)
        next = np.full(legal.shape, -1, np.int32)
        next[goes_on], first = _numbered(future_of(after), places)
        layers.append(_Layer(rewards, legal, next))
        found.append(jax.tree.map(lambda leaf, first=first: leaf[first], after))
    joined = jax.tree.map(lambda *leaves: np.concatenate(leaves), *found)
    return _Layer(*map(np.concatenate, zip(*layers, strict=True))), joined


def _numbered(futures: Any, places: dict[bytes, int]) -> tuple[np.ndarray, np.ndarray]:
    """([n] the place of each state, the rows that are met for the first time); adds these to `places`."""
    leaves = [leaf.reshape(len(leaf), math.prod(leaf.shape[1:])) for leaf in jax.tree.leaves(futures)]
    keys = np.concatenate([np.ascontiguousarray(leaf).view(np.uint8) for leaf in leaves], axis=1)
    different, rows, inverse = np.unique(
        keys.view(np.dtype((np.void, keys.shape[1]))).ravel(), return_index=True, return_inverse=True
    )
    known = len(places)
    numbers = np.array([places.setdefault(key.tobytes(), len(places)) for key in different], np.int32)
    return numbers[inverse], rows[numbers >= known]


@functools.partial(jax.jit, static_argnums=0)
def _step_all(env: Any, states: Any, params: Any) -> tuple[Any, jax.Array, jax.Array, jax.Array]:
    """Every action in every state: (states afterwards, rewards, legal, whether the episode has ended), each [S, A]."""

    def step(state: Any, action: jax.Array) -> tuple[Any, jax.Array, jax.Array]:
        after, reward, terminated, _ = env.transition(jax.random.key(0), state, action, params)
        return after, reward, terminated | env.is_truncated(after, params)

    def step_each(state: Any) -> tuple[Any, jax.Array, jax.Array, jax.Array]:
        after, rewards, ended = jax.vmap(step, in_axes=(None, 0))(state, jax.numpy.arange(env.num_actions))
        return after, rewards, env.action_mask(state, params), ended

    return jax.vmap(step_each)(states)
