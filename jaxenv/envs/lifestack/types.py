"""The records of LifeStack and their shapes.

Axes: K keys (facts), R routes, M milestones, X exogenous events, S members of the success condition, B bounds on
metrics, V the 12 verbs, A actions; 23 metrics. Capacities are in `Limits`, everything else is traced. Units: metrics
10⁻⁵, time 10⁻² hours, money and energy 10⁻²; the clock counts steps. A fact is a code, 0 for absent; a set of codes is
an unsigned integer with bit c for code c.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import ScenarioBank
from jaxenv.core.types import ActionMask
from jaxenv.envs.lifestack.metrics import METRICS

NUM_METRICS = len(METRICS)
CENTS = 100  # units of time, money and energy in 1.0
MOST_ENERGY = 100 * CENTS
MOST_AMOUNT = 2**30  # of time or money, in units
MOST_REWARD = 100.0  # of a route or a milestone, either sign

ABSENT = 0  # the code of a fact that has no value
UNKNOWN = -1  # in `known`: never looked at
UNWRITTEN = -1  # in tables of consequences and mutations: the key is left as it is
EVERY_STEP = -1  # the step of an event that may fire at any
NEVER = 32767  # the step of an absent event, or a deadline that is not set

RUNNING, SUCCESS, CONDITION, DEADLINE, DEAD_END, BURNOUT = range(6)
OUTCOMES = ("running", "success", "failure condition", "deadline", "dead end", "burnout")

IN_SUCCESS, IN_FAILURE, IN_MILESTONE, IN_PRECONDITION = range(4)
"""Where a key or a bound may matter."""

NO_RELATION, HOLDS, FAILS, NOT_KNOWN = range(4)
"""What is known of a route's precondition on a key."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Capacities; `codes` counts the values of a key, absence included."""

    keys: int = 16
    codes: int = 8
    routes: int = 8
    milestones: int = 8
    events: int = 8
    success: int = 4  # members of the success condition
    bounds: int = 4  # bounds on metrics, over all conditions

    def __post_init__(self) -> None:
        """Refuses a capacity under 1 and one whose codes would not fit their dtypes."""
        for name, value in dataclasses.asdict(self).items():
            if value < 1:
                raise ValueError(f"Limits({name}={value}): a capacity is at least 1")
        if self.keys > 30 or max(self.codes, self.routes) > 32 or max(dataclasses.astuple(self)) > 120:
            raise ValueError(f"{self}: at most 30 keys, 32 codes and routes, and 120 of the others fit their dtypes")

    @property
    def code_set(self) -> Any:
        """The dtype of a set of codes."""
        return np.uint8 if self.codes <= 8 else np.uint16 if self.codes <= 16 else np.uint32


class Conditions(struct.PyTreeNode):
    """A table of C conditions; one holds if any of its facts or bounds does, and never where it is absent.

    Conditions lie along the last axis, since reductions over a leading one are several times faster.
    """

    facts: jax.Array  # [K, C] code sets that satisfy it, 0 where a key does not
    bounds: jax.Array  # [B, C] bool, bounds that satisfy it


class Bounds(struct.PyTreeNode):
    """Closed bounds on metrics; conditions refer to them."""

    metric: jax.Array  # [B] int8, index of the metric, 0 where absent
    low: jax.Array  # [B] int32, least value that is within, 0 where absent
    high: jax.Array  # [B] int32, greatest value that is within, 0 where absent


class Routes(struct.PyTreeNode):
    """Ways out, in document order."""

    required: jax.Array  # [R] int16, bit v for verb v, 0 where absent
    preconditions: jax.Array  # [R, K] code sets, 0 where there is none
    order: jax.Array  # [R, K] int8, place of the precondition in the document, from 1; 0 where there is none
    bound_order: jax.Array  # [R, B] int8, the same for preconditions on metrics
    writes: jax.Array  # [R, K] int8, consequences as codes, UNWRITTEN where none
    closes: jax.Array  # [R, R] bool, row: the route that completes
    unlocks: jax.Array  # [R, M] bool
    reward: jax.Array  # [R] float32, `final_reward`, 0 where absent
    time: jax.Array  # [R] int32, added to each of its verbs
    energy: jax.Array  # [R] int32, added to each of its verbs
    money: jax.Array  # [R] int32, paid once
    effects: jax.Array  # [R, 23] int32, on the metrics, spread


class Events(struct.PyTreeNode):
    """What happens from outside, in document order."""

    step: jax.Array  # [X] int16, EVERY_STEP for any, NEVER where absent
    probability: jax.Array  # [X] float32
    writes: jax.Array  # [X, K] int8, mutations as codes, UNWRITTEN where none
    closes: jax.Array  # [X, R] bool
    effects: jax.Array  # [X, 23] int32, on the metrics, spread
    silent: jax.Array  # [X] bool, never shown


class Links(struct.PyTreeNode):
    """How conditions and routes hang together, worked out by `links.link` from the rest of a scenario."""

    gives: jax.Array  # [R, R] uint32, bit k: the row writes on key k what the column has as a precondition
    breaks: jax.Array  # [R, R] bool, the row writes on some key what violates a precondition of the column
    meets_success: jax.Array  # [S, R] bool, a consequence of the route satisfies the member
    meets_milestone: jax.Array  # [M, R] bool, a consequence of the route meets the milestone
    moves: jax.Array  # [B, R] int8, 1 or -1 where the route's effects raise or lower the metric of the bound
    inspectable: jax.Array  # [] uint32, bit k: key k exists and is not always shown
    key_uses: jax.Array  # [4, K] bool, rows IN_SUCCESS .. IN_PRECONDITION: such a condition rests on the key
    bound_uses: jax.Array  # [4, B] bool, the same for bounds


class Scenario(struct.PyTreeNode):
    """One crisis as data."""

    num_keys: jax.Array  # [] int8
    facts: jax.Array  # [K] int8, first codes, ABSENT where absent
    known: jax.Array  # [K] int8, the same where it is known from the start, else UNKNOWN
    shown: jax.Array  # [K] bool, always shows its current value
    num_routes: jax.Array  # [] int8
    routes: Routes
    num_milestones: jax.Array  # [] int8
    milestones: Conditions  # [M]
    milestone_reward: jax.Array  # [M] float32, 0 where absent
    locked: jax.Array  # [M] bool, closed until a route that unlocks it completes
    events: Events
    num_success: jax.Array  # [] int8
    success: Conditions  # [S], all of which must hold
    failure: Conditions  # [1], which must not hold
    num_bounds: jax.Array  # [] int8
    bounds: Bounds
    metrics: jax.Array  # [23] int32, after the disruption
    time: jax.Array  # [] int32
    money: jax.Array  # [] int32
    energy: jax.Array  # [] int32
    horizon: jax.Array  # [] int16, the time limit in steps
    deadline: jax.Array  # [] int16, steps, NEVER where there is none
    links: Links


class State(struct.PyTreeNode):
    """What changes during a crisis; the rest is looked up in `params.bank`."""

    scenario: jax.Array  # [] int32, index of the bank
    clock: jax.Array  # [] int16, steps taken
    outcome: jax.Array  # [] int8, RUNNING, or how it ended
    facts: jax.Array  # [K] int8, codes
    known: jax.Array  # [K] int8, codes as of the last look, UNKNOWN where there was none
    marks: jax.Array  # [R] int16, bit v: verb v has been done
    completed: jax.Array  # [R] bool
    closed: jax.Array  # [R] bool, for good; a completed route may be closed as well
    reached: jax.Array  # [M] bool
    fired: jax.Array  # [X] bool
    metrics: jax.Array  # [23] int32
    time: jax.Array  # [] int32, left
    money: jax.Array  # [] int32, left
    energy: jax.Array  # [] int32, left, at most MOST_ENERGY


class ObservedKeys(struct.PyTreeNode):
    """What is known of the facts."""

    exists: jax.Array  # [K] bool
    shown: jax.Array  # [K] bool, always shows its current value
    inspectable: jax.Array  # [K] bool, exists and is not always shown
    code: jax.Array  # [K] int8, as of the last look, UNKNOWN where there was none
    in_success: jax.Array  # [K] bool, a condition of this kind rests on it
    in_failure: jax.Array  # [K] bool
    in_milestone: jax.Array  # [K] bool
    in_precondition: jax.Array  # [K] bool
    wanted: jax.Array  # [K] bool, a route that serves has a precondition on it


class ObservedRoutes(struct.PyTreeNode):
    """The routes, and how they stand to facts and to each other."""

    exists: jax.Array  # [R] bool
    open: jax.Array  # [R] bool, neither closed nor completed
    completed: jax.Array  # [R] bool
    outstanding: jax.Array  # [R, V] bool, verbs still to be done, of open ones
    reward: jax.Array  # [R] float32, `final_reward`
    time: jax.Array  # [R] int32, added to each of its verbs
    energy: jax.Array  # [R] int32, added to each of its verbs
    money: jax.Array  # [R] int32, paid once
    relation: jax.Array  # [R, K] int8, NO_RELATION, HOLDS, FAILS or NOT_KNOWN
    needs_bound: jax.Array  # [R, B] bool, has the bound as a precondition
    enables: jax.Array  # [R, R] uint32, bit k: the row writes on key k what the column has as a precondition
    breaks: jax.Array  # [R, R] bool, a consequence of the row violates a precondition of the column
    closes: jax.Array  # [R, R] bool
    serves: jax.Array  # [R] bool, open, and leads to an unmet success condition as far as known


class ObservedMilestones(struct.PyTreeNode):
    """The checkpoints."""

    exists: jax.Array  # [M] bool
    open: jax.Array  # [M] bool, not locked (any more)
    reached: jax.Array  # [M] bool
    reward: jax.Array  # [M] float32
    in_sight: jax.Array  # [M] bool, the consequences of an open route meet it


class ObservedBounds(struct.PyTreeNode):
    """The bounds on metrics that conditions refer to."""

    exists: jax.Array  # [B] bool
    metric: jax.Array  # [B] int8, index of the metric
    low: jax.Array  # [B] int32, least value that is within
    high: jax.Array  # [B] int32, greatest value that is within
    holds: jax.Array  # [B] bool
    in_success: jax.Array  # [B] bool, a condition of this kind rests on it
    in_failure: jax.Array  # [B] bool
    in_milestone: jax.Array  # [B] bool
    in_precondition: jax.Array  # [B] bool


class Observation(struct.PyTreeNode):
    """The crisis as the agent knows it: hidden facts, the schedule of events and their odds do not enter."""

    keys: ObservedKeys
    routes: ObservedRoutes
    milestones: ObservedMilestones
    bounds: ObservedBounds
    fired: jax.Array  # [X] bool, events that have fired and are not silent
    metrics: jax.Array  # [23] int32
    time: jax.Array  # [] int32, left
    money: jax.Array  # [] int32, left
    energy: jax.Array  # [] int32, left
    clock: jax.Array  # [] int16, steps taken
    horizon: jax.Array  # [] int16
    deadline: jax.Array  # [] int16, NEVER where there is none
    action_mask: ActionMask  # [A] bool


class RewardWeights(struct.PyTreeNode):
    """The coefficients of the reward, each a [] float32 (or a Python float); zero switches a part off."""

    milestones: jax.Array | float
    routes: jax.Array | float
    success: jax.Array | float
    failure: jax.Array | float
    wellbeing: jax.Array | float
    collapse: jax.Array | float
    step_cost: jax.Array | float
    failed_attempt: jax.Array | float
    invalid_action: jax.Array | float


class RewardParts(struct.PyTreeNode):
    """The named terms of one step's reward, each [] float32; they sum to it."""

    milestones: jax.Array
    routes: jax.Array
    success: jax.Array
    failure: jax.Array
    wellbeing: jax.Array
    collapse: jax.Array
    step_cost: jax.Array
    failed_attempt: jax.Array
    invalid_action: jax.Array


class Ends(struct.PyTreeNode):
    """Which ends a step came to, each [] bool; success alone, or several of the others at once."""

    success: jax.Array
    condition: jax.Array
    deadline: jax.Array
    dead_end: jax.Array
    burnout: jax.Array


class Params(struct.PyTreeNode):
    """The numbers of the environment, all traced."""

    bank: ScenarioBank  # of Scenario
    weights: RewardWeights

    @property
    def max_steps_in_episode(self) -> jax.Array:
        """[] int32, an upper bound over the bank; each scenario's own horizon decides."""
        return self.bank.scenarios.horizon.max().astype(jnp.int32)


def empty_scenario(limits: Limits) -> Scenario:
    """A scenario of padding only, as NumPy arrays: the shapes, dtypes and padding of everything compiled or drawn."""
    K, R, M, X = limits.keys, limits.routes, limits.milestones, limits.events
    S, B = limits.success, limits.bounds

    def conditions(count: int) -> Conditions:
        return Conditions(facts=_full((K, count), 0, limits.code_set), bounds=_full((B, count), 0, bool))

    return Scenario(
        num_keys=_full((), 0, np.int8),
        facts=_full(K, ABSENT, np.int8),
        known=_full(K, UNKNOWN, np.int8),
        shown=_full(K, 0, bool),
        num_routes=_full((), 0, np.int8),
        routes=Routes(
            required=_full(R, 0, np.int16),
            preconditions=_full((R, K), 0, limits.code_set),
            order=_full((R, K), 0, np.int8),
            bound_order=_full((R, B), 0, np.int8),
            writes=_full((R, K), UNWRITTEN, np.int8),
            closes=_full((R, R), 0, bool),
            unlocks=_full((R, M), 0, bool),
            reward=_full(R, 0, np.float32),
            time=_full(R, 0, np.int32),
            energy=_full(R, 0, np.int32),
            money=_full(R, 0, np.int32),
            effects=_full((R, NUM_METRICS), 0, np.int32),
        ),
        num_milestones=_full((), 0, np.int8),
        milestones=conditions(M),
        milestone_reward=_full(M, 0, np.float32),
        locked=_full(M, 0, bool),
        events=Events(
            step=_full(X, NEVER, np.int16),
            probability=_full(X, 0, np.float32),
            writes=_full((X, K), UNWRITTEN, np.int8),
            closes=_full((X, R), 0, bool),
            effects=_full((X, NUM_METRICS), 0, np.int32),
            silent=_full(X, 0, bool),
        ),
        num_success=_full((), 0, np.int8),
        success=conditions(S),
        failure=conditions(1),
        num_bounds=_full((), 0, np.int8),
        bounds=Bounds(metric=_full(B, 0, np.int8), low=_full(B, 0, np.int32), high=_full(B, 0, np.int32)),
        metrics=_full(NUM_METRICS, 0, np.int32),
        time=_full((), 0, np.int32),
        money=_full((), 0, np.int32),
        energy=_full((), 0, np.int32),
        horizon=_full((), 0, np.int16),
        deadline=_full((), NEVER, np.int16),
        links=Links(
            gives=_full((R, R), 0, np.uint32),
            breaks=_full((R, R), 0, bool),
            meets_success=_full((S, R), 0, bool),
            meets_milestone=_full((M, R), 0, bool),
            moves=_full((B, R), 0, np.int8),
            inspectable=_full((), 0, np.uint32),
            key_uses=_full((4, K), 0, bool),
            bound_uses=_full((4, B), 0, bool),
        ),
    )


def _full(shape: int | tuple[int, ...], value: int, dtype: Any) -> Any:
    """An array of one number."""
    return np.full(shape, value, dtype)
