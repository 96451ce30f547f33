"""Statistics of scores that compare agents, for `train.score.scores.aggregate`.

The interquartile mean and the probability of improvement are those of Agarwal et al. 2021. Both mislead where returns
have two humps, such as crises won and lost: the one leaves out up to a quarter of the losses, and to the other a lost
crisis is no more than a hundredth of a return. So the mean and the paired difference come first.
"""

import numpy as np

TRIMMED = 0.25  # of the values at either end, for the interquartile mean


def interquartile_mean(values: np.ndarray) -> float:
    """The mean of the middle half of all values, whatever their axes.

    >>> interquartile_mean(np.array([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 100.0]]))
    3.5
    """
    ordered = np.sort(values, axis=None)
    cut = int(TRIMMED * ordered.size)
    return float(ordered[cut : ordered.size - cut].mean())


def probability_of_improvement(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The mean over scenarios of P(a seed of `ours` is better than a seed of `theirs`), where a tie counts one half.

    >>> probability_of_improvement(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[2.0, 5.0]]))
    0.5

    Args:
        ours: [seeds, S] scores.
        theirs: [other seeds, S] scores on the same scenarios.
    """
    above = (ours[:, None] > theirs[None]).astype(float) + 0.5 * (ours[:, None] == theirs[None])
    return float(above.mean())
