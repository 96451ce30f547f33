"""The tables of docs/rules/lifestack.md, sections 3, 4 and 5: verbs, metrics and their cascade, reward weights."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

Record = dict[str, Any]

UNIT = 100_000  # a metric is an integer of 1e-5
TOP = 100 * UNIT
LOW_METRIC = 20 * UNIT  # the line of collapse, and the one below which Greedy looks after itself
HUNDREDTHS = 100  # time, money and energy are integers of hundredths
FULL_ENERGY = 100 * HUNDREDTHS
INSPECT_TIME = 50

WEIGHTS: dict[str, float] = {
    "success": 8.0,
    "failure": -8.0,
    "wellbeing": 4.0,
    "collapse": -0.4,
    "step_cost": -0.08,
    "failed_attempt": -0.2,
    "invalid_action": -0.4,
}
PARTS = ("milestones", "routes", *WEIGHTS)
ENDS = ("success", "condition", "deadline", "dead_end", "burnout")

# ---------------------------------------------------------------------------------------- metrics

METRICS: dict[str, int] = {  # first values
    "career.satisfaction": 70,
    "career.workload": 45,
    "career.stability": 70,
    "career.growth_trajectory": 70,
    "finances.liquidity": 70,
    "finances.debt_pressure": 30,
    "finances.monthly_runway": 70,
    "finances.long_term_health": 70,
    "relationships.romantic": 70,
    "relationships.family": 70,
    "relationships.social": 70,
    "relationships.professional_network": 70,
    "physical_health.energy": 70,
    "physical_health.fitness": 70,
    "physical_health.sleep_quality": 70,
    "physical_health.nutrition": 70,
    "mental_wellbeing.stress_level": 40,
    "mental_wellbeing.clarity": 70,
    "mental_wellbeing.motivation": 70,
    "mental_wellbeing.emotional_stability": 70,
    "time.free_hours_per_week": 70,
    "time.commute_burden": 35,
    "time.admin_overhead": 35,
}
INVERTED = frozenset(
    {
        "career.workload",
        "finances.debt_pressure",
        "mental_wellbeing.stress_level",
        "time.commute_burden",
        "time.admin_overhead",
    }
)

STRESS, WORKLOAD = "mental_wellbeing.stress_level", "career.workload"
FREE_HOURS, ROMANTIC = "time.free_hours_per_week", "relationships.romantic"
MOTIVATION, CLARITY = "mental_wellbeing.motivation", "mental_wellbeing.clarity"
LIQUIDITY, SLEEP = "finances.liquidity", "physical_health.sleep_quality"
ENERGY, FITNESS = "physical_health.energy", "physical_health.fitness"
SATISFACTION, STABILITY = "career.satisfaction", "career.stability"
GROWTH, CALM = "career.growth_trajectory", "mental_wellbeing.emotional_stability"
SOCIAL, NETWORK = "relationships.social", "relationships.professional_network"

CASCADE: dict[str, dict[str, str]] = {  # source: {target: weight}, the weights as decimal text
    WORKLOAD: {STRESS: "0.70", FREE_HOURS: "-0.80"},
    LIQUIDITY: {STRESS: "-0.60", "finances.monthly_runway": "0.90"},
    STRESS: {SLEEP: "-0.55", CALM: "-0.50", MOTIVATION: "-0.40", SATISFACTION: "-0.35"},
    SLEEP: {CLARITY: "0.60", ENERGY: "0.50"},
    ROMANTIC: {CALM: "0.50"},
    FREE_HOURS: {SOCIAL: "0.45", STRESS: "-0.30"},
    ENERGY: {MOTIVATION: "0.40", FITNESS: "0.30"},
    SATISFACTION: {MOTIVATION: "0.50"},
    "finances.debt_pressure": {STRESS: "0.65"},
    "physical_health.nutrition": {ENERGY: "0.35"},
    FITNESS: {ENERGY: "0.40", SLEEP: "0.30", MOTIVATION: "0.25", STRESS: "-0.20"},
    "time.commute_burden": {ENERGY: "-0.30", STRESS: "0.25"},
    SOCIAL: {CALM: "0.30"},
    CLARITY: {GROWTH: "0.45"},
    "finances.long_term_health": {STRESS: "-0.40"},
    "time.admin_overhead": {STRESS: "0.25"},
    STABILITY: {STRESS: "-0.35"},
    GROWTH: {SATISFACTION: "0.40"},
    MOTIVATION: {GROWTH: "0.30"},
    NETWORK: {STABILITY: "0.35"},
}
DAMPING, HOPS = "0.6", 4


def exact(number: float) -> Fraction:
    """A number as its decimal text says it: 0.1 is one tenth."""
    return Fraction(str(number))


@cache
def influence(source: str) -> dict[str, Fraction]:
    """The column of I + G + G² + G³ + G⁴ of one metric: what a change of 1 brings to each metric."""
    total = dict.fromkeys(METRICS, Fraction(0))
    total[source] = Fraction(1)
    wave = dict(total)
    for _ in range(HOPS):
        following = dict.fromkeys(METRICS, Fraction(0))
        for origin, targets in CASCADE.items():
            for target, weight in targets.items():
                following[target] += Fraction(DAMPING) * Fraction(weight) * wave[origin]
        wave = following
        total = {metric: total[metric] + wave[metric] for metric in METRICS}
    return total


@cache
def column(source: str, delta: float) -> dict[str, int]:
    """What one entry {metric: delta} does to every metric, rounded half to even."""
    return {target: round(share * exact(delta) * UNIT) for target, share in influence(source).items()}


def spread(effects: Mapping[str, float]) -> dict[str, int]:
    """What several entries do: each is spread, and rounded, on its own."""
    columns = [column(source, delta) for source, delta in effects.items()]
    return {metric: sum(each[metric] for each in columns) for metric in METRICS}


def adjusted(metric: str, value: int) -> int:
    """A value turned so that more is better."""
    return TOP - value if metric in INVERTED else value


# ------------------------------------------------------------------------------------------ verbs


class Verb(NamedTuple):
    """One row of the verb table, in hundredths; `upkeep` is None where the verb needs a route."""

    time: int
    energy: int
    on_route: dict[str, float]
    upkeep: dict[str, float] | None = None


VERBS: dict[str, Verb] = {
    "communicate": Verb(50, 500, {}, {ROMANTIC: 10, STRESS: -5}),
    "spend": Verb(50, 200, {STRESS: -2}),
    "negotiate": Verb(150, 1500, {WORKLOAD: -5, STRESS: -2}),
    "delegate": Verb(100, 800, {}, {WORKLOAD: -10, NETWORK: -5}),
    "reschedule": Verb(100, 500, {FREE_HOURS: 3}),
    "deprioritize": Verb(50, 300, {}, {FREE_HOURS: 15, SOCIAL: -10}),
    "rest": Verb(100, -1500, {STRESS: -8}, {STRESS: -12}),
    "plan": Verb(50, 300, {CLARITY: 2}),
    "prepare": Verb(50, 300, {CLARITY: 2}),
    "self_care": Verb(100, -500, {STRESS: -6, MOTIVATION: 4}, {STRESS: -6, MOTIVATION: 4}),
    "execute": Verb(100, 800, {}),
    "wait": Verb(0, 0, {}),
}
UPKEEP = ("rest", "self_care", "delegate", "deprioritize", "communicate")
