"""Policies of the planner, and what one earns in expectation."""

from collections.abc import Callable
from typing import Protocol

from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.records import Entry, Outcome, State


class Policy(Protocol):
    """What to do in a state, with a number for a memory."""

    first_memory: int

    def entry(self, state: State, memory: int) -> tuple[Entry, int]:
        """The entry, and the memory afterwards."""
        ...


def expected(model: Model, policy: Policy, earned: Callable[[Outcome], float]) -> float:
    """The expected sum of what outcomes earn in an episode, such as their rewards."""
    memo: dict[tuple[State, int], float] = {}

    def value(state: State, memory: int) -> float:
        if (state, memory) not in memo:
            entry, after = policy.entry(state, memory)
            memo[state, memory] = sum(
                o.probability * (earned(o) + (value(o.state, after) if o.state else 0.0))
                for o in model.outcomes(state, entry)
            )
        return memo[state, memory]

    return sum(chance * value(state, policy.first_memory) for chance, state in model.first_states())


def expected_return(model: Model, policy: Policy) -> float:
    """The expected return of an episode."""
    return expected(model, policy, lambda outcome: outcome.reward)


def chance_of_success(model: Model, policy: Policy) -> float:
    """How likely a policy succeeds."""
    return expected(model, policy, lambda outcome: float(outcome.success))
