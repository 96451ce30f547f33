"""Tasks to arrays: LifeStack documents as `jaxenv` scenarios."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import jax
import numpy as np

from jaxenv.core.fields import padding
from jaxenv.envs.lifestack import links, types
from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.lifestack.metrics import METRICS, spread
from jaxenv.envs.lifestack.types import CENTS, NEVER, UNKNOWN, UNWRITTEN, Limits, Scenario
from scenarios.document_format import columns, put, refuse
from scenarios.lifestack import checks
from scenarios.lifestack.document import Condition, Route, Task
from scenarios.lifestack.facts import Facts, bits, bound, bounds, hidden_keys, hundredths, metrics_at_reset, resources


def compile(task: Task, limits: Limits = Limits()) -> Scenario:
    """The arrays of a task, as NumPy arrays.

    Raises:
        ScenarioError: where the task does not fit into the limits, or where `checks.problems` finds something else.
    """
    refuse(checks.problems(task, limits))
    empty, facts, table = padding(Scenario, limits.sizes), Facts.of(task), _Conditions(task)
    success = [member.alternatives for member in task.success_conditions]
    failure = [condition for member in task.failure_conditions for condition in member.alternatives]
    unlocked = {name for route in task.viable_routes for name in route.milestones_unlocked}
    scenario = put(
        empty,
        num_keys=len(facts.keys),
        facts=list(facts.first.values()),
        known=_known(task, facts),
        shown=bits(key in task.visible_world for key in facts.keys),
        num_routes=len(task.viable_routes),
        routes=_routes(empty.routes, task, table),
        num_milestones=len(task.milestones),
        milestones=_milestones(empty.milestones, task, table),
        milestone_reward=[milestone.reward for milestone in task.milestones],
        locked=bits(milestone.id in unlocked for milestone in task.milestones),
        events=_events(empty.events, task, facts),
        silent=bits(event.silent for event in task.event_schedule),
        num_success=len(success),
        success=table.fill(empty.success, success),
        failure=table.fill(empty.failure, [failure]),
        num_bounds=len(table.bounds),
        bounds=put(empty.bounds, **columns([bound._asdict() for bound in table.bounds])),
        metrics=metrics_at_reset(task),
        horizon=task.horizon,
        deadline=task.constraints.deadline_step or NEVER,
        **resources(task),
    )
    return jax.tree.map(np.asarray, _link(scenario))


_link = jax.jit(links.link)


class _Conditions:
    """Turns conditions into columns of the tables of facts and bounds."""

    def __init__(self, task: Task) -> None:
        self.facts, self.bounds = Facts.of(task), bounds(task)

    def fill(self, padding: types.Conditions, several: Iterable[Iterable[Condition]]) -> types.Conditions:
        """A table with a column for each group of alternative conditions."""
        facts, in_bounds = np.array(padding.facts), np.array(padding.bounds)
        for column, alternatives in enumerate(several):
            for condition in alternatives:
                if condition.key in METRICS:
                    in_bounds[column] |= in_bounds.dtype.type(1 << self.place(condition))
                else:
                    slot, codes = self.facts.slot(condition.key), self.facts.codes(condition)
                    facts[slot, column] |= facts.dtype.type(codes)
        return padding.replace(facts=facts, bounds=in_bounds)

    def place(self, condition: Condition) -> int:
        """The row of a condition on a metric in the table of bounds."""
        return self.bounds.index(bound(condition))


def _known(task: Task, facts: Facts) -> list[int]:
    """The first codes, UNKNOWN for facts that are not known from the start."""
    written = {key for _, key, _ in task.mutations()}
    unknown = (hidden_keys(task) | written) - set(task.visible_world)
    return [UNKNOWN if key in unknown else code for key, code in facts.first.items()]


def _milestones(padding: types.Milestones, task: Task, table: _Conditions) -> types.Milestones:
    """The table of milestones."""
    key, codes, in_bounds = (np.array(column) for column in (padding.key, padding.codes, padding.bounds))
    for row, milestone in enumerate(task.milestones):
        condition = milestone.condition
        if condition.key in METRICS:
            in_bounds[row] = 1 << table.place(condition)
        else:
            key[row], codes[row] = table.facts.slot(condition.key), table.facts.codes(condition)
    return padding.replace(key=key, codes=codes, bounds=in_bounds)


def _routes(padding: types.Routes, task: Task, table: _Conditions) -> types.Routes:
    """The table of routes."""
    routes, facts = task.viable_routes, table.facts
    preconditions, order, bound_order = map(np.array, (padding.preconditions, padding.order, padding.bound_order))
    for row, route in enumerate(routes):
        for place, condition in enumerate(route.conditions, 1):
            if condition.key in METRICS:
                bound_order[row, table.place(condition)] = place
            else:
                order[row, facts.slot(condition.key)] = place
                preconditions[row, facts.slot(condition.key)] = facts.codes(condition)
    names, milestones = [route.id for route in routes], [milestone.id for milestone in task.milestones]
    return put(
        padding,
        required=[bits(verb in route.verbs for verb in VERBS) for route in routes],
        preconditions=preconditions,
        order=order,
        bound_order=bound_order,
        writes=[_written(route.consequences, facts) for route in routes],
        closes=[_named(route.closes_routes, names) for route in routes],
        unlocks=[_named(route.milestones_unlocked, milestones) for route in routes],
        reward=[route.final_reward for route in routes],
        time=[_share(route, route.cost.time) for route in routes],
        energy=[_share(route, route.cost.energy) for route in routes],
        money=[hundredths(route.cost.money) for route in routes],
        effects=[spread(route.effects) for route in routes],
    )


def _share(route: Route, amount: float) -> int:
    """The part of an amount that each verb of a route costs, in hundredths, rounded up."""
    return math.ceil(Fraction(str(amount)) * CENTS / len(route.verbs))


def _events(padding: types.Events, task: Task, facts: Facts) -> types.Events:
    """The table of events."""
    events, routes = task.event_schedule, [route.id for route in task.viable_routes]
    return put(
        padding,
        step=[event.step for event in events],
        probability=[event.probability for event in events],
        writes=[_written({**event.world_mutation, **event.hidden_state_mutation}, facts) for event in events],
        closes=[_named(event.closes_routes, routes) for event in events],
        effects=[spread(event.effects) for event in events],
    )


def _written(values: Mapping[str, Any], facts: Facts) -> list[int]:
    """The code that each key gets, by slot."""
    return [facts.code(key, values[key]) if key in values else UNWRITTEN for key in facts.keys]


def _named(listed: Sequence[str], names: Sequence[str]) -> int:
    """The set of the names that are listed."""
    return bits(name in listed for name in names)
