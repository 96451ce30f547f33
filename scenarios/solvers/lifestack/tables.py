"""A scenario in plain integers: sets as bits, facts packed in one number, metrics and their changes by number."""

import functools
from collections.abc import Iterable, Sequence
from operator import add
from typing import NamedTuple

import jax
import numpy as np

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, better
from jaxenv.envs.lifestack.reward import COLLAPSED
from jaxenv.envs.lifestack.types import EVERY_STEP, NEVER, UNWRITTEN, Scenario
from scenarios.lifestack.facts import bits

Change = tuple[int, ...]
"""The additions to each metric; higher is better."""


class Metrics:
    """Values of all 23 metrics, numbered in the order of discovery, and the successors of each."""

    def __init__(self, first: Change, changes: Sequence[Change], bounds: Sequence[tuple[int, int, int]]) -> None:
        self._bounds, self._changes = bounds, changes
        self.values: list[Change] = []  # higher is better
        self.worth: list[int] = []  # the sum
        self.low: list[int] = []  # the set of those that have collapsed
        self.burnt: list[bool] = []  # one is at 0
        self.within: list[int] = []  # the set of bounds that hold
        self.number, self.shift = functools.cache(self._number), functools.cache(self._shift)
        self.first = self.number(first)

    def _shift(self, number: int, change: int) -> int:
        """The metrics after one phase, clipped to 0 and 100."""
        return self.number(clipped(map(add, self.values[number], self._changes[change])))

    def _number(self, values: Change) -> int:
        """The number of these values, which are new."""
        self.values.append(values)
        self.worth.append(sum(values))
        self.low.append(bits(value < COLLAPSED for value in values))
        self.burnt.append(min(values) <= 0)
        self.within.append(bits(low <= values[metric] <= high for metric, low, high in self._bounds))
        return len(self.values) - 1


def clipped(values: Iterable[int]) -> tuple[int, ...]:
    """Metrics clipped to 0 and 100."""
    return tuple([0 if v < 0 else HIGHEST if v > HIGHEST else v for v in values])


FACT_BITS = 5  # of a code
VERB_BITS = actions.NUM_VERBS  # of the marks of a route


class Writes(NamedTuple):
    """Writes to packed facts."""

    mask: int  # the bits that are overwritten, 0 where no key that matters is written
    put: int

    def on(self, facts: int) -> int:
        """The facts afterwards."""
        return facts & ~self.mask | self.put


class Route(NamedTuple):
    """A way out."""

    required: int  # set of verbs
    bounds: int  # set of bounds that it needs
    writes: Writes
    closes: int  # set of routes
    unlocks: int  # set of milestones
    reward: float
    money: int
    time: tuple[int, ...]  # of each of the 12 verbs
    energy: tuple[int, ...]
    change: int  # number of the change

    def pays_with(self, verb: int, outstanding: int) -> bool:
        """Whether this verb would pay the money: it is `spend`, or the last one of a route without it."""
        spends = self.required >> actions.SPEND & 1
        return verb == actions.SPEND if spends else outstanding == 1 << verb


class Event(NamedTuple):
    """Something from outside; the last writer of a key wins, so writes are applied in order."""

    step: int
    probability: float
    writes: Writes
    closes: int
    change: int  # number of the change


class Reading(NamedTuple):
    """Consequences of facts alone."""

    ready: int  # routes of which no precondition on a fact fails
    milestones: int
    members: int  # of the success condition
    failed: bool


class Tables:
    """One scenario, without the keys that no condition uses."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = crisis = jax.tree.map(np.asarray, scenario)
        self.keys = _asked_keys(crisis)
        self.first_facts = sum(int(crisis.facts[key]) << FACT_BITS * place for place, key in enumerate(self.keys))
        self.catalogue = actions.Catalogue(len(crisis.routes.required), len(crisis.facts))
        self.num_members = int(crisis.num_success)
        self.members = (1 << self.num_members) - 1
        self.num_milestones = int(crisis.num_milestones)
        self.rewards = [float(reward) for reward in crisis.milestone_reward[: self.num_milestones]]
        self.locked = int(crisis.locked)
        self.changes: list[Change] = []
        self.change = functools.cache(self._change)
        self.kind_changes = [self.change(oriented(effects)) for effects in actions.EFFECTS]
        self.routes = [self._route(n) for n in range(int(crisis.num_routes))]
        self.events = [self._event(int(n)) for n in np.flatnonzero(crisis.events.step != NEVER)]
        self.milestone_bounds = crisis.milestones.bounds[: self.num_milestones].tolist()
        self.member_bounds = crisis.success.bounds[: self.num_members].tolist()
        self.failure_bounds = int(crisis.failure.bounds[0])
        self.bounds = _bounds(crisis)
        self.horizon, self.deadline = int(crisis.horizon), int(crisis.deadline)
        self.last = min(self.horizon, self.deadline)
        """No episode is longer."""
        self.first_metrics: Change = tuple(int(value) for value in better(crisis.metrics))
        self.metrics = Metrics(self.first_metrics, self.changes, self.bounds)
        self.metrics_matter = bool(self.bounds) or self._may_collapse()
        self.read, self.sum_of = functools.cache(self._read), functools.cache(self._sum_of)
        self.may_still_hold = functools.cache(self._may_still_hold)

    def _may_collapse(self) -> bool:
        """Whether routes and events together could bring a metric below 20."""
        changes = [self.changes[row.change] for row in (*self.routes, *self.events)]
        losses = (sum(min(0, change[metric]) for change in changes) for metric in range(len(INVERTED)))
        return any(value + loss < COLLAPSED for value, loss in zip(self.first_metrics, losses, strict=True))

    @staticmethod
    def mask(place: int) -> int:
        """The bits of one fact."""
        return 31 << FACT_BITS * place

    def _may_still_hold(self, clock: int, fired: int) -> int:
        """The members of success that a metric, or an event still to come, may satisfy without a route."""
        written = 0
        for n, event in enumerate(self.events):
            if event.step >= clock or (event.step == EVERY_STEP and not fired >> n & 1):
                written |= event.writes.mask
        asked = (self.scenario.success.facts[self.keys, : self.num_members] != 0).T
        masks = [sum(self.mask(int(place)) for place in np.flatnonzero(row)) for row in asked]
        return bits(bounds or mask & written for bounds, mask in zip(self.member_bounds, masks, strict=True))

    def _change(self, change: Change) -> int:
        """The number of a change, which is new."""
        self.changes.append(change)
        return len(self.changes) - 1

    def _sum_of(self, events: tuple[int, ...]) -> int:
        """The number of the change that several events make together."""
        parts = [self.changes[self.events[n].change] for n in events]
        return self.change(tuple(map(sum, zip(*parts, strict=True))))

    def _read(self, facts: int) -> Reading:
        """The consequences of these facts."""
        crisis = self.scenario
        codes = np.array([facts >> FACT_BITS * place & 31 for place in range(len(self.keys))], np.uint32)

        def met(sets: np.ndarray) -> np.ndarray:
            return (sets[:, self.keys].astype(np.uint32) >> codes & 1) != 0

        asked = crisis.routes.order[:, self.keys] > 0
        ready = (met(crisis.routes.preconditions) | ~asked).all(axis=1)
        return Reading(
            ready=bits(ready),
            milestones=bits(np.any(met(on_milestones(crisis)), axis=1)),
            members=bits(np.any(met(crisis.success.facts.T), axis=1)),
            failed=bool(met(crisis.failure.facts.T).any()),
        )

    def _route(self, n: int) -> Route:
        routes = self.scenario.routes
        time, energy = int(routes.time[n]), int(routes.energy[n])
        return Route(
            required=int(routes.required[n]),
            bounds=bits(routes.bound_order[n] > 0),
            writes=self._writes(routes.writes[n]),
            closes=int(routes.closes[n]),
            unlocks=int(routes.unlocks[n]),
            reward=float(routes.reward[n]),
            money=int(routes.money[n]),
            time=tuple(int(own) + time for own in actions.TIME[: actions.NUM_VERBS]),
            energy=tuple(int(own) + energy for own in actions.ENERGY[: actions.NUM_VERBS]),
            change=self.change(oriented(routes.effects[n])),
        )

    def _event(self, n: int) -> Event:
        events = self.scenario.events
        return Event(
            step=int(events.step[n]),
            probability=float(events.probability[n]),
            writes=self._writes(events.writes[n]),
            closes=int(events.closes[n]),
            change=self.change(oriented(events.effects[n])),
        )

    def _writes(self, codes: np.ndarray) -> Writes:
        written = [place for place, key in enumerate(self.keys) if codes[key] != UNWRITTEN]
        mask = sum(self.mask(place) for place in written)
        put = sum(int(codes[self.keys[place]]) << FACT_BITS * place for place in written)
        return Writes(mask, put)


def oriented(effects: np.ndarray) -> Change:
    """A change of metrics; higher is better."""
    return tuple(int(v) for v in np.where(INVERTED, -effects, effects))


def _bounds(scenario: Scenario) -> list[tuple[int, int, int]]:
    """(metric, low, high) of each bound; higher is better."""
    columns = (scenario.bounds.metric, scenario.bounds.low, scenario.bounds.high)
    rows = zip(*(column[: int(scenario.num_bounds)].tolist() for column in columns), strict=True)
    return [(m, HIGHEST - high, HIGHEST - low) if INVERTED[m] else (m, low, high) for m, low, high in rows]


def on_milestones(scenario: Scenario) -> np.ndarray:
    """[M, K]: the codes of each key that meet a milestone, as sets."""
    milestones, keys = scenario.milestones, np.arange(len(scenario.facts))
    return np.where(milestones.key[:, None] == keys, milestones.codes[:, None], 0)


def _asked_keys(scenario: Scenario) -> list[int]:
    """The keys that some condition uses."""
    tables = (scenario.routes.order.T, on_milestones(scenario).T, scenario.success.facts, scenario.failure.facts)
    asked = np.any([(table != 0).any(axis=1) for table in tables], axis=0)
    return [int(key) for key in np.flatnonzero(asked)]
