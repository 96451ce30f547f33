"""Policies of the planner, and their expected returns."""

from collections.abc import Callable
from typing import Protocol

from scenarios.solvers.lifestack.budget import Budget
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.records import Entry, Outcome, State
from scenarios.solvers.lifestack.recursion import Call, result_of


class Policy(Protocol):
    """The entry to play in a state, with a number as memory."""

    first_memory: int

    def entry(self, state: State, memory: int) -> tuple[Entry, int]:
        """The entry, and the memory afterwards."""
        ...


def expected(model: Model, policy: Policy, earned: Callable[[Outcome], float], budget: Budget) -> float:
    """The expected sum of the earnings of outcomes in an episode, such as their rewards.

    Raises:
        Exhausted: if the budget is spent before all outcomes are counted.
    """
    memo: dict[tuple[State, int], float] = {}

    def value(state: State, memory: int) -> Call[float]:
        if (state, memory) not in memo:
            budget.spend()
            entry, after = policy.entry(state, memory)
            parts = []
            for o in model.outcomes(state, entry):
                parts.append(o.probability * (earned(o) + ((yield value(o.state, after)) if o.state else 0.0)))
            memo[state, memory] = sum(parts)
        return memo[state, memory]

    return sum(chance * result_of(value(state, policy.first_memory)) for chance, state in model.first_states())


def expected_return(model: Model, policy: Policy, budget: Budget) -> float:
    """The expected return of an episode; raises as `expected`."""
    return expected(model, policy, lambda outcome: outcome.reward, budget)
