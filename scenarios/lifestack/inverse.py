"""Recovers data that arrays no longer hold: values that comparisons distinguish, and changes before they spread."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxenv.envs.lifestack.metrics import HOPS, METRICS, UNIT, cascade, spread
from scenarios.text.errors import ScenarioError

MAX_DECIMALS, MAX_DIGITS = 4, 9  # of a change in a document: where it is plain, and where it is not
MAX_TURNS = 1000


def values_for(count: int, orders: Sequence[int]) -> dict[int, Any]:
    """Values for the codes 1 to `count`: numbers such that one comparison selects each set in `orders`.

    Sets that neither equality nor inequality selects are one end of an order of codes; the codes in none of them get
    text, which has no order.
    """
    every = (1 << count + 1) - 1
    ends = [codes for codes in orders if not codes & 1 and min(codes.bit_count(), (every & ~codes).bit_count()) > 1]
    for upper in itertools.product((True, False), repeat=max(len(ends) - 1, 0)):
        signs = [1, *(1 if up else -1 for up in upper)]
        weight = {
            code: sum(sign * (codes >> code & 1) for sign, codes in zip(signs, ends, strict=False))
            for code in range(1, count + 1)
        }
        named = {code: f"value_{code}" for code in weight if ends and not any(codes >> code & 1 for codes in ends)}
        ranked = sorted((code for code in weight if code not in named), key=weight.__getitem__)
        if all(_is_end(codes, ranked) for codes in ends):
            return {**{code: rank for rank, code in enumerate(ranked, 1)}, **named} if ends else {c: c for c in weight}
    raise ScenarioError(f"no order of {count} values has the sets of codes {ends} at its ends.")


def _is_end(codes: int, ranked: Sequence[int]) -> bool:
    """Whether a set of codes is the lowest or the highest ones of some."""
    within = [bool(codes >> code & 1) for code in ranked]
    return within in (sorted(within), sorted(within, reverse=True))


def undo_spread(total: np.ndarray, what: str) -> dict[str, float]:
    """Changes by path that spread to the given total: with few digits if possible, otherwise with as many as needed.

    Each change is rounded for each metric that it reaches, so the last units are brought about one metric at a time.
    """
    weights = cascade() / 1000.0**HOPS
    exact = np.linalg.solve(weights, total)  # in units
    for decimals in range(MAX_DECIMALS + 1):
        found = _changes(np.round(exact / UNIT, decimals), total)
        if found is not None:
            return found
    random = np.random.default_rng(0)  # a fixed order of metrics may go round in circles
    exact += random.uniform(-0.01, 0.01, exact.shape)  # away from halves, which floats round as they like
    for _ in range(MAX_TURNS):
        rest = total - np.rint(weights * exact).sum(axis=1)
        if not rest.any():
            break
        one = random.choice(np.flatnonzero(rest))
        own = weights[one, one]
        exact[one] = (np.rint(own * exact[one]) + rest[one] + random.uniform(-0.4, 0.4)) / own
    found = _changes(np.round(exact / UNIT, MAX_DIGITS), total)
    if found is None:
        raise ScenarioError(f"{what}: no changes were found that spread to {total.tolist()}.")
    return found


def _changes(changes: np.ndarray, total: np.ndarray) -> dict[str, float] | None:
    """The changes by path, if they spread to the total."""
    found = {path: change for path, change in zip(METRICS, changes.tolist(), strict=True) if change}
    return found if np.array_equal(spread(found), total) else None
