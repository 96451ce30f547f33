"""The records of the planner: reward weights, states, entries and outcomes."""

from typing import NamedTuple

from jaxenv.envs.lifestack import reward


class Weights(NamedTuple):
    """The coefficients of the reward."""

    milestones: float
    routes: float
    success: float
    failure: float
    wellbeing: float
    collapse: float
    step_cost: float
    failed_attempt: float

    @property
    def earns_by_success_alone(self) -> bool:
        """Whether nothing else can earn something: the rest are costs."""
        costs = (self.failure, self.collapse, self.step_cost, self.failed_attempt)
        return not (self.milestones or self.routes or self.wellbeing) and max(costs) <= 0


REWARD = Weights(*(float(getattr(reward.WEIGHTS, name)) for name in Weights._fields))
"""The weights of the environment."""

WIN_ONLY = Weights(0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""With these weights the return is the probability of success."""
WIN_SOON = WIN_ONLY._replace(step_cost=-0.001)
"""Success, the sooner the better."""


class State(NamedTuple):
    """A state of the game; sets are bit sets."""

    clock: int
    facts: int
    marks: int  # VERB_BITS bits a route, of routes that can be worked
    completed: int
    closed: int  # of routes that are not completed
    reached: int  # milestones
    fired: int  # of events without a step
    metrics: int  # number in `Metrics`
    time: int
    money: int
    energy: int


class Entry(NamedTuple):
    """A legal action in a state."""

    index: int  # in the catalogue of the environment
    kind: int  # a verb, an upkeep or waiting: row of the tables of `actions`
    route: int  # -1 without one
    completes: bool
    fails: bool


class Outcome(NamedTuple):
    """The possible outcomes of an entry."""

    probability: float
    reward: float
    state: State | None  # None where the episode is over
    success: bool


class RemainingCost(NamedTuple):
    """The most that the remaining routes can use up."""

    marks: int  # of these routes alone
    money: int
    energy: int
    extra_time: int  # beyond the time of as many steps of upkeep
    extra_energy: int
