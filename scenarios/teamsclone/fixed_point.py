"""Probabilities and weights in fixed point, in units of 2⁻¹⁶ as the arrays hold them, and back."""

import itertools
import math
from collections.abc import Iterable, Sequence

from jaxenv.envs.teamsclone.types import ONE

MAX_DIGITS = 6  # after the point, of a decompiled number


def to_fixed(probability: float) -> int:
    """A probability in units of 2⁻¹⁶."""
    return math.floor(probability * ONE + 0.5)


def cdf(weights: Iterable[float]) -> list[int]:
    """The cumulative distribution of weights in units of 2⁻¹⁶; zeros where all weights are zero."""
    sums = list(itertools.accumulate(weights))
    total = sums[-1] or 1.0
    return [math.floor(each / total * ONE + 0.5) for each in sums]


def shares(weights: Iterable[float]) -> list[float]:
    """Weights that sum to 1; zeros where all weights are zero."""
    weights = list(weights)
    total = math.fsum(weights) or 1.0
    return [weight / total for weight in weights]


def probability(amount: int) -> float:
    """The probability with the fewest digits that has a fixed-point value."""
    return next(
        (candidate for candidate in _rounded(amount / ONE) if to_fixed(candidate) == amount),
        amount / ONE,
    )


def weights(row: Sequence[int]) -> list[float]:
    """The weights with the fewest digits that have a cumulative distribution; they sum to about 1."""
    exact = [(high - low) / ONE for low, high in itertools.pairwise([0, *row])]
    ways = zip(*map(_rounded, exact), strict=True)
    return next((list(candidate) for candidate in ways if cdf(candidate) == list(row)), exact)


def _rounded(number: float) -> Iterable[float]:
    """A number with more and more digits."""
    return (round(number, digits) for digits in range(MAX_DIGITS + 1))
