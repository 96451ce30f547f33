"""The best return without seeing hidden facts, where it is enough to inspect them before anything else."""

from jaxenv.envs.lifestack.actions import INSPECTING, WAITING
from jaxenv.envs.lifestack.types import Scenario
from lab.solvers.lifestack.plans import plan_of
from scenarios.solvers.lifestack.game import REWARD, TIME, Entry, Model, State, Weights
from scenarios.solvers.lifestack.tables import Tables


class InspectFirst(Model):
    """The game after every hidden fact that is drawn at reset has been inspected, a step each.

    Attributes:
        inspections: how many facts that are.
        earned: the expected return until then.
    """

    def __init__(self, tables: Tables, weights: Weights = REWARD) -> None:
        super().__init__(tables, weights)
        starts = super().first_states()
        drawn = 0
        for _, state in starts:
            drawn |= state.facts ^ starts[0][1].facts
        self.drawn, self.earned = drawn, 0.0
        self.inspections = sum(1 for place in range(len(tables.keys)) if drawn & tables.mask(place))
        for _ in range(self.inspections):
            starts = [after for chance, state in starts for after in self._inspected(chance, state)]
        self._starts = starts

    def first_states(self) -> list[tuple[float, State]]:
        """The states after the inspections, with their probabilities."""
        return self._starts

    def _inspected(self, chance: float, state: State) -> list[tuple[float, State]]:
        """A step that inspects has the effects of waiting, and takes time."""
        state = state._replace(time=state.time - TIME[INSPECTING])
        outcomes = self.outcomes(state, Entry(self.catalogue.wait, WAITING, -1, False, False))
        self.earned += chance * sum(outcome.probability * outcome.reward for outcome in outcomes)
        return [(chance * o.probability, o.state) for o in outcomes if o.state is not None]


def best_inspecting_first(scenario: Scenario, seconds: float = 60.0) -> float | None:
    """The best expected return of a player who inspects first and then sees everything.

    Returns:
        None if nothing is drawn at reset, or if that may change later, so that inspecting once is not enough.
    """
    model = InspectFirst(Tables(scenario))
    later = [event for event in model.tables.events if event.step != 0 and event.writes.mask & model.drawn]
    if not model.inspections or later:
        return None
    return model.earned + plan_of(model, seconds).best
