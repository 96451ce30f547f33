"""What the actions of a state are worth to a player who sees everything but the draws of events, by exact search."""

from typing import Any

import jax
import numpy as np

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECTING, WAITING
from jaxenv.envs.lifestack.metrics import better
from jaxenv.envs.lifestack.types import EVERY_STEP, NEVER
from scenarios.lifestack.facts import bits
from scenarios.solvers.lifestack.bounds import Bound
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.game import TIME, Entry, Model, State
from scenarios.solvers.lifestack.search import Search
from scenarios.solvers.lifestack.tables import FACT_BITS, VERB_BITS, Tables

SECONDS = 10.0


class Worth:
    """The search of one crisis, whose results are kept for its later states.

    Args:
        crisis: the arrays of the task, on the host.
        weights: of the reward.
    """

    def __init__(self, crisis: Any, weights: Any) -> None:
        self.model = Model(Tables(crisis), jax.tree.map(float, weights))
        self._bound = Bound(self.model, Budget(SECONDS))
        self._search = Search(self.model, self._bound, Budget(SECONDS))

    def of_actions(self, state: Any, legal: np.ndarray, seconds: float = SECONDS) -> np.ndarray | None:
        """The expected return after each action and the best play from there on.

        Args:
            state: in which the crisis has not ended, on the host.
            legal: [L] indices of its legal actions.
            seconds: of this thread.

        Returns:
            [L] float64, or None where the seconds ran out.
        """
        self._search.budget, self._bound.relaxed.budget = Budget(seconds), Budget(seconds)
        now = state_of(self.model, state)
        entries = [entry_of(self.model, now, int(index)) for index in legal]
        try:
            return np.array([self._search.expectation(self.model.outcomes(*entry)) for entry in entries])
        except Exhausted:
            return None


def state_of(model: Model, state: Any) -> State:
    """A state of the environment as one of the game."""
    tables, step = model.tables, model.tables.scenario.events.step
    fired = np.asarray(state.fired) & (step == EVERY_STEP)
    return model.reduced(
        State(
            facts=sum(int(state.facts[key]) << FACT_BITS * place for place, key in enumerate(tables.keys)),
            metrics=model.metrics.number(tuple(int(value) for value in better(np.asarray(state.metrics)))),
            time=int(state.time),
            money=int(state.money),
            energy=int(state.energy),
            clock=int(state.clock),
            marks=sum(int(marks) << VERB_BITS * n for n, marks in enumerate(state.marks)),
            completed=bits(state.completed),
            closed=bits(state.closed),
            reached=bits(state.reached),
            fired=bits(fired[step != NEVER]),
        )
    )


def entry_of(model: Model, state: State, index: int) -> tuple[State, Entry]:
    """The entry of an index of the catalogue; an inspection is a wait that takes time."""
    kind, route, _ = model.tables.catalogue.table[index].tolist()
    if kind == INSPECTING:
        spent = state._replace(time=state.time - TIME[INSPECTING])
        return spent, Entry(WAITING)
    if kind >= actions.NUM_VERBS:
        return state, Entry(kind)
    return state, model.route_entry(state, route, kind)
