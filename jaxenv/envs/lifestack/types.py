"""The records of LifeStack.

Axes: K keys (facts), R routes, M milestones, X exogenous events, S members of the success condition, B bounds on
metrics, V verbs, A actions; 23 metrics. Capacities are in `Limits`, everything else is traced. Units: metrics
10⁻⁵, time 10⁻² hours, money and energy 10⁻²; the clock counts steps. A fact is a code, 0 for absent. A set of codes,
keys, routes, milestones, events or bounds is an unsigned integer with bit n for number n, as small as the capacity
allows (`lowering.bitsets`): a step reads a scenario from a random row of a bank, and every byte of it counts.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.contents import Capacities
from jaxenv.core.fields import Sizes, array, last, record
from jaxenv.core.params import BankParams
from jaxenv.core.printing import Compact
from jaxenv.core.types import ActionMask
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS
from jaxenv.lowering import bitsets

NUM_METRICS = len(METRICS)
CENTS = 100  # units of time, money and energy in 1.0
MAX_ENERGY = 100 * CENTS
MAX_AMOUNT = 10_000_000 * CENTS  # of time or money, in units
MAX_REWARD = 100.0  # of a route or a milestone, either sign

ABSENT = 0  # the code of a fact that has no value
UNKNOWN = -1  # in `known`: never looked at
UNWRITTEN = -1  # in tables of consequences and mutations: the key is left as it is
EVERY_STEP = -1  # the step of an event that may fire at any
NEVER = 32767  # the step of an absent event, or a deadline that is not set

RUNNING, SUCCESS, CONDITION, DEADLINE, DEAD_END, BURNOUT = range(6)
OUTCOMES = ("running", "success", "failure condition", "deadline", "dead end", "burnout")

IN_SUCCESS, IN_FAILURE, IN_MILESTONE, IN_PRECONDITION = range(4)
"""Where a key or a bound may matter, the rows of `uses`."""


@dataclasses.dataclass(frozen=True)
class Limits(Capacities):
    """Capacities; `codes` counts the values of a key, absence included."""

    keys: int = 16
    codes: int = 8
    routes: int = 8
    milestones: int = 8
    events: int = 8
    success: int = 4  # members of the success condition
    bounds: int = 4  # bounds on metrics, over all conditions

    axes: ClassVar[str] = "K codes R M X S B"
    # All but members of the success condition are bits of a set; of keys there are two fewer.
    greatest: ClassVar[Mapping[str, int]] = {
        "keys": 30,
        **dict.fromkeys(("codes", "routes", "milestones", "events", "bounds"), bitsets.MAX_SIZE),
    }


def _set(shape: str, axis: str, *, doc: str) -> Any:
    """Declares a field of sets of indices into an axis, or of codes."""
    return array(shape, lambda sizes: bitsets.dtype_of(sizes[axis]), doc=doc)


def _bits(axis: str) -> Callable[[Sizes], int]:
    """The bound of a set of indices into an axis, a bit for each."""
    return lambda sizes: 2 ** sizes[axis] - 1


def _places(sizes: Sizes) -> int:
    """The most preconditions that a route has, on keys and on metrics."""
    return sizes["K"] + sizes["B"]


REWARDS = -MAX_REWARD, MAX_REWARD
AMOUNTS = -MAX_AMOUNT, MAX_AMOUNT  # beyond the metrics: never, or always


class Conditions(struct.PyTreeNode):
    """A table of C conditions; one holds if any of its facts or bounds does, and never where it is absent.

    Conditions lie along the last axis, since reductions over a leading one are several times faster.
    """

    facts: jax.Array = _set("K C", "codes", doc="codes of each key that satisfy it")
    bounds: jax.Array = _set("C", "B", doc="bounds that satisfy it")


class Milestones(struct.PyTreeNode):
    """Checkpoints, each with one condition, on a key or on a metric."""

    key: jax.Array = array("M", np.int8, 0, last("K"), doc="of its condition, 0 where that is on a metric")
    codes: jax.Array = _set("M", "codes", doc="codes of the key that meet it, none where it is on a metric")
    bounds: jax.Array = _set("M", "B", doc="the bound that meets it, none where it is on a key")


class Bounds(struct.PyTreeNode):
    """Closed bounds on metrics; conditions refer to them."""

    metric: jax.Array = array("B", np.int8, 0, NUM_METRICS - 1, doc="index of the metric")
    low: jax.Array = array("B", np.int32, *AMOUNTS, doc="least value that is within")
    high: jax.Array = array("B", np.int32, *AMOUNTS, doc="greatest value that is within")


class Routes(struct.PyTreeNode):
    """Ways out, in document order."""

    required: jax.Array = array("R", np.int16, 0, _bits("V"), doc="bit v for verb v")
    preconditions: jax.Array = _set("R K", "codes", doc="codes that satisfy it, 0 where there is none")
    order: jax.Array = array(
        "R K", np.int8, 0, _places, doc="place of the precondition in the document, from 1; 0 where there is none"
    )
    bound_order: jax.Array = array("R B", np.int8, 0, _places, doc="the same for preconditions on metrics")
    writes: jax.Array = array(
        "R K", np.int8, UNWRITTEN, last("codes"), fill=UNWRITTEN, doc="consequences as codes, UNWRITTEN where none"
    )
    closes: jax.Array = _set("R", "R", doc="routes that completing it closes")
    unlocks: jax.Array = _set("R", "M", doc="milestones that completing it unlocks")
    reward: jax.Array = array("R", np.float32, *REWARDS, doc="`final_reward`")
    time: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="added to each of its verbs")
    energy: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="added to each of its verbs")
    money: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="paid once")
    effects: jax.Array = array(f"R {NUM_METRICS}", np.int32, doc="on the metrics, spread")


class Events(struct.PyTreeNode):
    """What happens from outside, in document order."""

    step: jax.Array = array("X", np.int16, EVERY_STEP, NEVER, fill=NEVER, doc="EVERY_STEP for any, NEVER where absent")
    probability: jax.Array = array("X", np.float32, 0, 1, doc="that it fires")
    writes: jax.Array = array(
        "X K", np.int8, UNWRITTEN, last("codes"), fill=UNWRITTEN, doc="mutations as codes, UNWRITTEN where none"
    )
    closes: jax.Array = _set("X", "R", doc="routes that it closes")
    effects: jax.Array = array(f"X {NUM_METRICS}", np.int32, doc="on the metrics, spread")


class Links(struct.PyTreeNode):
    """Relations between conditions and routes, computed by `links.link` from the rest of a scenario."""

    gives: jax.Array = _set("R R", "K", doc="keys on which the row writes what the column has as a precondition")
    breaks: jax.Array = _set("R", "R", doc="routes of which it violates a precondition on some key that it writes")
    needs: jax.Array = _set("R", "K", doc="keys of its preconditions")
    needs_bounds: jax.Array = _set("R", "B", doc="bounds of its preconditions")
    meet_success: jax.Array = _set("S", "R", doc="routes with a consequence that satisfies the member")
    meet_failure: jax.Array = _set("1", "R", doc="routes with a consequence that is failure")
    meet_milestone: jax.Array = _set("M", "R", doc="routes with a consequence that meets the milestone")
    shift: jax.Array = array("R B", np.int32, *AMOUNTS, doc="what its effects add to the metric of the bound")
    inspectable: jax.Array = _set("", "K", doc="keys that exist and are not always shown")
    written: jax.Array = _set("X", "K", doc="keys that the event writes")
    success_keys: jax.Array = _set("S", "K", doc="keys that the member of the success condition rests on")
    key_uses: jax.Array = _set("4", "K", doc="IN_SUCCESS .. IN_PRECONDITION: keys that such a condition rests on")
    bound_uses: jax.Array = _set("4", "B", doc="the same for bounds")


class Scenario(Compact):
    """One crisis as data."""

    num_keys: jax.Array = array("", np.int8, 0, "K", doc="keys of this crisis")
    facts: jax.Array = array("K", np.int8, 0, last("codes"), doc="first codes, ABSENT where absent")
    known: jax.Array = array(
        "K", np.int8, UNKNOWN, last("codes"), fill=UNKNOWN, doc="the same where known from the start, else UNKNOWN"
    )
    shown: jax.Array = _set("", "K", doc="keys that always show their current value")
    num_routes: jax.Array = array("", np.int8, 0, "R", doc="routes of this crisis")
    routes: Routes = record(Routes)
    num_milestones: jax.Array = array("", np.int8, 0, "M", doc="milestones of this crisis")
    milestones: Milestones = record(Milestones)
    milestone_reward: jax.Array = array("M", np.float32, *REWARDS, doc="paid once, when it is reached")
    locked: jax.Array = _set("", "M", doc="milestones that are closed until a route that unlocks them completes")
    events: Events = record(Events)
    silent: jax.Array = _set("", "X", doc="events that are never shown")
    num_success: jax.Array = array("", np.int8, 0, "S", doc="members of the success condition")
    success: Conditions = record(Conditions, {"C": "S"}, doc="all of which must hold")
    failure: Conditions = record(Conditions, {"C": "1"}, doc="which must not hold")
    num_bounds: jax.Array = array("", np.int8, 0, "B", doc="bounds of this crisis")
    bounds: Bounds = record(Bounds)
    metrics: jax.Array = array(f"{NUM_METRICS}", np.int32, 0, HIGHEST, doc="after the disruption")
    time: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="budget")
    money: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="budget")
    energy: jax.Array = array("", np.int32, 0, MAX_ENERGY, doc="at first")
    horizon: jax.Array = array("", np.int16, 0, NEVER, doc="the time limit in steps")
    deadline: jax.Array = array("", np.int16, 0, NEVER, fill=NEVER, doc="steps, NEVER where there is none")
    links: Links = record(Links)


class State(Compact):
    """What changes during a crisis; the rest is looked up in `params.bank`."""

    scenario: jax.Array = array("", np.int32, 0, doc="index of the bank")
    clock: jax.Array = array("", np.int16, 0, NEVER, doc="steps taken")
    outcome: jax.Array = array("", np.int8, 0, len(OUTCOMES) - 1, doc="RUNNING, or how it ended")
    facts: jax.Array = array("K", np.int8, 0, last("codes"), doc="codes")
    known: jax.Array = array("K", np.int8, UNKNOWN, last("codes"), doc="codes as last inspected, UNKNOWN if never")
    marks: jax.Array = array("R", np.int16, 0, _bits("V"), doc="bit v: verb v has been done")
    completed: jax.Array = array("R", bool, doc="routes that have completed")
    closed: jax.Array = array("R", bool, doc="for good; a completed route may be closed as well")
    reached: jax.Array = array("M", bool, doc="milestones reached")
    fired: jax.Array = array("X", bool, doc="events that have fired")
    metrics: jax.Array = array(f"{NUM_METRICS}", np.int32, 0, HIGHEST, doc="current values")
    time: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="left")
    money: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="left")
    energy: jax.Array = array("", np.int32, 0, MAX_ENERGY, doc="left")


class ObservedKeys(struct.PyTreeNode):
    """What is known of the facts."""

    exists: jax.Array = array("K", bool, doc="the slot holds a key")
    code: jax.Array = array("K", np.int8, UNKNOWN, last("codes"), doc="as last inspected, UNKNOWN if never")
    shown: jax.Array = _set("", "K", doc="keys that always show their current value")
    inspectable: jax.Array = _set("", "K", doc="keys that exist and are not always shown")
    uses: jax.Array = _set("4", "K", doc="IN_SUCCESS .. IN_PRECONDITION: keys that such a condition rests on")
    wanted: jax.Array = _set("", "K", doc="keys on which a route that serves has a precondition")


class ObservedRoutes(struct.PyTreeNode):
    """The routes, and how they stand to facts and to each other."""

    exists: jax.Array = array("R", bool, doc="the slot holds a route")
    open: jax.Array = array("R", bool, doc="neither closed nor completed")
    completed: jax.Array = array("R", bool, doc="routes that have completed")
    outstanding: jax.Array = array("R", np.int16, 0, _bits("V"), doc="bit v: open, and verb v is still to be done")
    reward: jax.Array = array("R", np.float32, *REWARDS, doc="`final_reward`")
    time: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="added to each of its verbs")
    energy: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="added to each of its verbs")
    money: jax.Array = array("R", np.int32, 0, MAX_AMOUNT, doc="paid once")
    holds: jax.Array = _set("R", "K", doc="keys on which it has a precondition that is known to hold")
    fails: jax.Array = _set("R", "K", doc="keys on which it has a precondition that is known to fail")
    unknown: jax.Array = _set("R", "K", doc="keys on which it has a precondition of which nothing is known")
    needs_bounds: jax.Array = _set("R", "B", doc="bounds of its preconditions")
    enables: jax.Array = _set("R R", "K", doc="keys on which the row writes what the column has as a precondition")
    breaks: jax.Array = _set("R", "R", doc="routes of which it violates a precondition on some key that it writes")
    closes: jax.Array = _set("R", "R", doc="routes that completing it closes")
    brings_failure: jax.Array = _set("", "R", doc="routes with a consequence that is failure")
    shift: jax.Array = array("R B", np.int32, *AMOUNTS, doc="what completing it adds to the metric of the bound")
    serves: jax.Array = array("R", bool, doc="open, and leads to an unmet success condition as far as known")


class ObservedMilestones(struct.PyTreeNode):
    """The checkpoints."""

    exists: jax.Array = array("M", bool, doc="the slot holds a milestone")
    open: jax.Array = array("M", bool, doc="not locked (any more)")
    reached: jax.Array = array("M", bool, doc="milestones reached")
    reward: jax.Array = array("M", np.float32, *REWARDS, doc="paid once, when it is reached")
    in_sight: jax.Array = array("M", bool, doc="the consequences of an open route meet it")


class ObservedBounds(struct.PyTreeNode):
    """The bounds on metrics that conditions refer to."""

    exists: jax.Array = array("B", bool, doc="the slot holds a bound")
    metric: jax.Array = array("B", np.int8, 0, NUM_METRICS - 1, doc="index of the metric")
    low: jax.Array = array("B", np.int32, *AMOUNTS, doc="least value that is within")
    high: jax.Array = array("B", np.int32, *AMOUNTS, doc="greatest value that is within")
    holds: jax.Array = array("B", bool, doc="the metric is within now")
    uses: jax.Array = _set("4", "B", doc="IN_SUCCESS .. IN_PRECONDITION: bounds that such a condition rests on")


class Observation(Compact):
    """The crisis as the agent knows it: hidden facts, the schedule of events and their probabilities do not enter."""

    keys: ObservedKeys = record(ObservedKeys)
    routes: ObservedRoutes = record(ObservedRoutes)
    milestones: ObservedMilestones = record(ObservedMilestones)
    bounds: ObservedBounds = record(ObservedBounds)
    fired: jax.Array = array("X", bool, doc="events that have fired and are not silent")
    metrics: jax.Array = array(f"{NUM_METRICS}", np.int32, 0, HIGHEST, doc="current values")
    time: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="left")
    money: jax.Array = array("", np.int32, 0, MAX_AMOUNT, doc="left")
    energy: jax.Array = array("", np.int32, 0, MAX_ENERGY, doc="left")
    clock: jax.Array = array("", np.int16, 0, NEVER, doc="steps taken")
    max_steps: jax.Array = array("", np.int16, 0, NEVER, doc="the time limit in steps")
    deadline: jax.Array = array("", np.int16, 0, NEVER, doc="steps, NEVER where there is none")
    action_mask: ActionMask = array("A", bool, doc="the legal actions")


class Ends(struct.PyTreeNode):
    """Which ends a step came to, each [] bool; success alone, or several of the others at once.

    The fields stand in the order of the codes, from SUCCESS on.
    """

    success: jax.Array
    condition: jax.Array
    deadline: jax.Array
    dead_end: jax.Array
    burnout: jax.Array


class Params(BankParams):
    """The numbers of the environment, all traced."""

    @property
    def max_steps_in_episode(self) -> jax.Array:
        """[] int32, an upper bound over the bank; each scenario's own horizon decides."""
        return self.bank.scenarios.horizon.max().astype(jnp.int32)
