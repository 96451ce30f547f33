"""Exact values in LifeOps, whose steps draw nothing: every play from a state on, equal futures searched once."""

import functools
import math
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxenv.envs.lifeops import LifeOps, State

CHUNK = 1024  # states that are stepped at once


class Values(NamedTuple):
    """Undiscounted returns from a state to the end of the episode."""

    best: float
    worst: float
    random: float  # the mean of a policy that takes every legal action equally often
    of_actions: np.ndarray  # [A] float64, the best after each action; minus infinity where it is not legal


class _Layer(NamedTuple):
    """The successors of all states at one step under all actions; S states."""

    rewards: np.ndarray  # [S, A] float32
    legal: np.ndarray  # [S, A] bool
    next: np.ndarray  # [S, A] int32, place in the next layer, -1 where the episode ends or the action is not legal


def solve(env: LifeOps, params: Any, state: State) -> Values:
    """The exact returns from a state on, in which the episode is not over."""
    states = jax.tree.map(lambda leaf: np.asarray(leaf)[None], state)
    layers = []
    while len(jax.tree.leaves(states)[0]):
        layer, states = _expand(env, params, states)
        layers.append(layer)
    values, of_actions = np.zeros((3, 0)), np.zeros((0, 0))
    for layer in reversed(layers):
        values, of_actions = _backward(layer, values)
    best, worst, random = values[:, 0].tolist()
    return Values(best, worst, random, of_actions[0])


def _backward(layer: _Layer, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """([3, S] best, worst and random value of each state, [S, A] the best after each action), from the next layer."""
    after = np.append(values, np.zeros((3, 1)), axis=1)[:, layer.next]  # the last one is that of an ended episode
    best, worst, random = layer.rewards.astype(np.float64) + after
    best = np.where(layer.legal, best, -np.inf)
    worst = np.where(layer.legal, worst, np.inf)
    random = np.where(layer.legal, random, 0.0).sum(axis=1) / layer.legal.sum(axis=1)
    return np.array([best.max(axis=1), worst.min(axis=1), random]), best


def _expand(env: LifeOps, params: Any, states: Any) -> tuple[_Layer, Any]:
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
        next[goes_on], first = _numbered(after.replace(source=None), places)  # which only text needs
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
