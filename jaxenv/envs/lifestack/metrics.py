"""The 23 life metrics and the cascade: how a change of one spreads to the others, computed exactly and ahead of time.

A metric is an int32 in units of 10⁻⁵, so 70 is 7,000,000: thresholds are exact and every batch size has the same bits.
"""

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

UNIT = 100_000  # of a metric: 1.0
HIGHEST = 100 * UNIT
HOPS = 4
LOSS = 600  # thousandths: the remaining share of a change at every hop

_FIRST = {  # domain -> metric -> value before a disruption
    "career": {"satisfaction": 70, "workload": 45, "stability": 70, "growth_trajectory": 70},
    "finances": {"liquidity": 70, "debt_pressure": 30, "monthly_runway": 70, "long_term_health": 70},
    "relationships": {"romantic": 70, "family": 70, "social": 70, "professional_network": 70},
    "physical_health": {"energy": 70, "fitness": 70, "sleep_quality": 70, "nutrition": 70},
    "mental_wellbeing": {"stress_level": 40, "clarity": 70, "motivation": 70, "emotional_stability": 70},
    "time": {"free_hours_per_week": 70, "commute_burden": 35, "admin_overhead": 35},
}
METRICS = tuple(f"{domain}.{metric}" for domain, first in _FIRST.items() for metric in first)
"""The paths, in order."""

LOWER_IS_BETTER = (
    "career.workload",
    "finances.debt_pressure",
    "mental_wellbeing.stress_level",
    "time.commute_burden",
    "time.admin_overhead",
)
FIRST = np.array([value * UNIT for first in _FIRST.values() for value in first.values()], np.int32)
"""[23] int32, the values before a disruption."""

INVERTED = np.isin(METRICS, LOWER_IS_BETTER)
"""[23] bool, better when lower."""

# Source -> (target, weight in hundredths).
_EDGES = {
    "career.workload": (("mental_wellbeing.stress_level", 70), ("time.free_hours_per_week", -80)),
    "finances.liquidity": (("mental_wellbeing.stress_level", -60), ("finances.monthly_runway", 90)),
    "mental_wellbeing.stress_level": (
        ("physical_health.sleep_quality", -55),
        ("mental_wellbeing.emotional_stability", -50),
        ("mental_wellbeing.motivation", -40),
        ("career.satisfaction", -35),
    ),
    "physical_health.sleep_quality": (("mental_wellbeing.clarity", 60), ("physical_health.energy", 50)),
    "relationships.romantic": (("mental_wellbeing.emotional_stability", 50),),
    "time.free_hours_per_week": (("relationships.social", 45), ("mental_wellbeing.stress_level", -30)),
    "physical_health.energy": (("mental_wellbeing.motivation", 40), ("physical_health.fitness", 30)),
    "career.satisfaction": (("mental_wellbeing.motivation", 50),),
    "finances.debt_pressure": (("mental_wellbeing.stress_level", 65),),
    "physical_health.nutrition": (("physical_health.energy", 35),),
    "physical_health.fitness": (
        ("physical_health.energy", 40),
        ("physical_health.sleep_quality", 30),
        ("mental_wellbeing.motivation", 25),
        ("mental_wellbeing.stress_level", -20),
    ),
    "time.commute_burden": (("physical_health.energy", -30), ("mental_wellbeing.stress_level", 25)),
    "relationships.social": (("mental_wellbeing.emotional_stability", 30),),
    "mental_wellbeing.clarity": (("career.growth_trajectory", 45),),
    "finances.long_term_health": (("mental_wellbeing.stress_level", -40),),
    "time.admin_overhead": (("mental_wellbeing.stress_level", 25),),
    "career.stability": (("mental_wellbeing.stress_level", -35),),
    "career.growth_trajectory": (("career.satisfaction", 40),),
    "mental_wellbeing.motivation": (("career.growth_trajectory", 30),),
    "relationships.professional_network": (("career.stability", 35),),
}


def index(path: str) -> int:
    """The index of a metric path; raises a ValueError if there is none."""
    return METRICS.index(path)


def indices(*paths: str) -> np.ndarray:
    """[n] int32: the indices of metric paths."""
    return np.array([index(path) for path in paths], np.int32)


@functools.cache
def cascade() -> np.ndarray:
    """[23, 23] int64, I + G + G² + G³ + G⁴ in units of 10⁻¹² with G[target, source] = 0.6 · weight."""
    one_hop = np.zeros((len(METRICS), len(METRICS)), np.int64)  # thousandths
    for source, targets in _EDGES.items():
        for target, hundredths in targets:
            one_hop[index(target), index(source)] = LOSS * hundredths // 100
    total, hop = np.zeros_like(one_hop), np.eye(len(METRICS), dtype=np.int64)
    for hops in range(HOPS + 1):
        total += hop * 1000 ** (HOPS - hops)
        hop = hop @ one_hop
    return total


def spread(deltas: Mapping[str, float]) -> np.ndarray:
    """[23] int32, the total effect of changes of metrics by path, once they have spread.

    Each entry is spread on its own, in exact fractions, and rounded half to even to 10⁻⁵; the entries are added.
    """
    total = np.zeros(len(METRICS), np.int32)
    for path, delta in deltas.items():
        amount = Fraction(str(delta)) * UNIT / 1000**HOPS
        total += np.array([round(int(weight) * amount) for weight in cascade()[:, index(path)]], np.int32)
    return total


def better(values: Any) -> Any:
    """[..., 23]: values higher is better; NumPy and JAX arrays alike."""
    signs = np.where(INVERTED, -1, 1).astype(np.int32)
    zero = np.where(INVERTED, HIGHEST, 0).astype(np.int32)
    lead = (None,) * (values.ndim - 1)
    return values * signs[lead] + zero[lead]


def ranked(values: Any) -> Any:
    """[..., 23]: integers in the order of `better`, for comparisons: one operation on them, and no product."""
    flip = np.where(INVERTED, -1, 0).astype(np.int32)
    return values ^ flip[(None,) * (values.ndim - 1)]


def level(value: int) -> np.ndarray:
    """[23] int32: `ranked` metrics of which `better` is this value."""
    return ranked(np.where(INVERTED, HIGHEST - value, value).astype(np.int32))
