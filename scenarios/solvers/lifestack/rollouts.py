"""Simple policies, evaluated over every draw: one of them wins most winnable tasks, in milliseconds.

Such a policy plays the best entry of the game without metrics (`relaxed`), but first tends to a metric that is below a
threshold, or that is the only thing that success or a route still requires.
"""

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, WAITING
from jaxenv.envs.lifestack.metrics import UNIT
from scenarios.solvers.lifestack.bounds import Bound
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.records import Entry, Outcome, State

THRESHOLDS = (0, 8, 15, 20, 30)  # of the lowest metric
REST = FIRST_UPKEEP
DIGITS = 9  # behind which bounds are equal


class Rollout:
    """One of these policies, on one model.

    Args:
        model: the game; its weights decide what counts.
        bound: finds the best entries without metrics.
        threshold: a metric below it is improved first.
        guide: chooses among entries that the bound holds for equal; none by default.
    """

    first_memory = 0

    def __init__(self, model: Model, bound: Bound, threshold: int, guide: Bound | None = None) -> None:
        self.model, self.threshold = model, threshold * UNIT
        self.bound, self.guide = bound, guide
        self._entries: dict[State, Entry] = {}

    def entry(self, state: State, memory: int = 0) -> tuple[Entry, int]:
        """The policy's choice; it has no memory, and passes it on unchanged."""
        if state not in self._entries:
            self._entries[state] = self._choice(state)
        return self._entries[state], memory

    def _choice(self, state: State) -> Entry:
        entries = [entry for entry in self.model.entries(state) if not entry.fails]
        wanted = self._wanted(state)
        if wanted is not None:
            metric, sign = wanted
            upkeep = [entry for entry in entries if entry.route < 0 and entry.kind != WAITING]
            best = max(upkeep, key=lambda entry: sign * self._move(entry, metric), default=None)
            if best is not None and sign * self._move(best, metric) > 0:
                return best
        tired = state.energy < self.bound.energy_left(state)
        entries = [
            entry for entry in entries if entry.route >= 0 or entry.kind == WAITING or (tired and entry.kind == REST)
        ]
        return max(entries, key=lambda entry: self._promise(self.model.outcomes(state, entry)))

    def _wanted(self, state: State) -> tuple[int, int] | None:
        """The metric to improve now, and in which direction."""
        values = self.model.metrics.values[state.metrics]
        lowest = min(range(len(values)), key=values.__getitem__)
        if values[lowest] < self.threshold:
            return lowest, 1
        for missing in (self._missing_for_success(state), self._missing_for_a_route(state)):
            if missing:
                metric, low, _ = self.model.tables.bounds[missing.bit_length() - 1]
                return metric, 1 if values[metric] < low else -1
        return None

    def _missing_for_success(self, state: State) -> int:
        """The bounds of the one member of success that does not hold yet, if it has bounds; a set."""
        tables, within = self.model.tables, self.model.metrics.within[state.metrics]
        members = tables.read(state.facts).members
        alternatives = (
            bounds for n, bounds in enumerate(tables.member_bounds) if members | 1 << n == tables.members and bounds
        )
        return next((bounds for bounds in alternatives if not bounds & within), 0)

    def _missing_for_a_route(self, state: State) -> int:
        """The bounds that an open route still requires, if it requires nothing else; a set."""
        tables, within = self.model.tables, self.model.metrics.within[state.metrics]
        ready = tables.read(state.facts).ready & self.model.workable(state)
        missing = (route.bounds & ~within for n, route in enumerate(tables.routes) if ready >> n & 1)
        return next(filter(None, missing), 0)

    def _move(self, entry: Entry, metric: int) -> int:
        return self.model.tables.changes[self.model.tables.kind_changes[entry.kind]][metric]

    def _promise(self, outcomes: list[Outcome]) -> tuple[float, float]:
        """The value of outcomes according to the bound, without its rounding, then to the guide."""
        guessed = _value(outcomes, self.guide) if self.guide else 0.0
        return round(_value(outcomes, self.bound), DIGITS), guessed


def _value(outcomes: list[Outcome], bound: Bound) -> float:
    return sum(o.probability * (o.reward + (bound(o.state) if o.state else 0.0)) for o in outcomes)
