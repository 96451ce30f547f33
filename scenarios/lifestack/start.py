"""The start of a task: metrics after the disruption, time, money and energy."""

from fractions import Fraction

import numpy as np

from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, spread
from jaxenv.envs.lifestack.types import CENTS, MAX_ENERGY
from scenarios.lifestack.document import Task

MONEY_PER_STEP = 100  # if neither a budget nor resources give an amount


def metrics_at_reset(task: Task) -> np.ndarray:
    """[23] int32, the metrics after the disruption."""
    return np.clip(FIRST + spread(task.disruption), 0, HIGHEST)


def resources(task: Task) -> dict[str, int]:
    """Time, money and energy at first, in hundredths."""
    given, budget = task.resources, task.constraints.budget_max
    money = [amount for amount in (given.money, budget) if amount is not None]
    return {
        "time": hundredths(task.horizon if given.time is None else given.time),
        "money": hundredths(min(money) if money else MONEY_PER_STEP * task.horizon),
        "energy": MAX_ENERGY if given.energy is None else hundredths(given.energy),
    }


def hundredths(amount: float) -> int:
    """An amount of time, money or energy, rounded."""
    return round(Fraction(str(amount)) * CENTS)
