"""The turn of LifeStack as pure phases: an activity, the attempt that it may complete, milestones and ends, events.

Every change of metrics is spread ahead of time, so a phase adds a row of a table and clips. Conditions are sets of
codes, so whether they hold is a few bitwise operations on small tables; nothing loops over routes or events.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import actions, types
from jaxenv.envs.lifestack.actions import SPEND, Catalogue, Move
from jaxenv.envs.lifestack.conditions import code_bits, hold, met, within
from jaxenv.envs.lifestack.metrics import HIGHEST, level, ranked
from jaxenv.envs.lifestack.types import EVERY_STEP, NEVER, OUTCOMES, RUNNING, UNWRITTEN, Ends, Routes, Scenario, State
from jaxenv.lowering import bitsets
from jaxenv.lowering.lookup import gathered, masked, read
from jaxenv.lowering.materialize import materialize

NO_FAILURE = 127  # in document order: behind every precondition


class Turn(struct.PyTreeNode):
    """The effects of a step, for the reward."""

    move: Move
    route: Routes  # the row of the move's route
    completes: jax.Array  # [] bool, the move's route
    fails: jax.Array  # [] bool, an attempt of the move's route
    reached: jax.Array  # [M] bool, milestones of this step
    ends: Ends


def transition(
    catalogue: Catalogue, state: State, scenario: Scenario, bank: ScenarioBank, action: jax.Array
) -> tuple[State, Turn]:
    """One turn without the events at its end: the state after it and its effects.

    Args:
        catalogue: the meaning of the indices.
        state: before the step.
        scenario: of the state.
        bank: contains the scenario.
        action: [] int32; an illegal one is a wait.
    """
    entry = actions.find(catalogue, action)
    route = route_at(bank, scenario, state.scenario, entry.route)
    move = actions.decode(entry, state, scenario, route)
    state = apply_activity(state, route, move)
    state, completes, fails = attempt_route(state, scenario, route, move)
    state = state.replace(clock=jnp.minimum(state.clock, NEVER - 1) + 1)  # past the end it may be stepped on
    state, reached, ends = update_milestones(state, scenario)
    return state, Turn(move=move, route=route, completes=completes, fails=fails, reached=reached, ends=ends)


def route_at(bank: ScenarioBank, scenario: Scenario, index: jax.Array, route: jax.Array) -> Routes:
    """The row of a route: of the scenario, which a TPU has read, elsewhere of the bank, of which it reads one row.

    `index` is that of the scenario, `route` that of the route, [] int32 each.
    """
    return jax.lax.platform_dependent(
        tpu=lambda: masked(scenario.routes, route), default=lambda: gathered(bank.scenarios.routes, index, route)
    )


def apply_activity(state: State, route: Routes, move: Move) -> State:
    """The activity: its effects on metrics, time and energy, and the facts it shows; `route` is the move's row."""
    time = read(actions.TIME, move.activity) + jnp.where(move.on_route, route.time, 0)
    energy = read(actions.ENERGY, move.activity) + jnp.where(move.on_route, route.energy, 0)
    inspects = move.activity == actions.INSPECTING
    seen = inspects & (jnp.arange(state.known.shape[0], dtype=jnp.int32) == move.key)
    return state.replace(
        metrics=change_metrics(state.metrics, read(actions.EFFECTS, move.activity)),
        time=state.time - time,
        energy=jnp.clip(state.energy - energy, 0, types.MAX_ENERGY),
        known=jnp.where(seen, state.facts, state.known),
    )


def attempt_route(state: State, scenario: Scenario, route: Routes, move: Move) -> tuple[State, jax.Array, jax.Array]:
    """Marks the verb on its route, whose row is `route`; with the last one it completes, or the attempt fails.

    Returns:
        (state, completes, fails). A failed attempt takes the mark back, costs no money, and makes known the
        preconditions up to the first that fails.
    """
    here = jnp.arange(state.marks.shape[0], dtype=jnp.int32) == move.route
    marks = jnp.sum(jnp.where(here, state.marks, 0), dtype=state.marks.dtype)  # gathered, it would be dearer
    marked = marks | jnp.left_shift(1, move.activity).astype(marks.dtype)
    is_last = move.on_route & (marked == route.required)

    first_failing = first_failing_precondition(state, scenario, route)
    completes = materialize(is_last & (first_failing == NO_FAILURE))
    fails = is_last & ~completes
    seen = is_last & (route.order > 0) & (route.order <= first_failing)
    written = completes & (route.writes != UNWRITTEN)
    spends = (route.required & (1 << SPEND)) != 0
    pays = move.on_route & ~fails & jnp.where(spends, move.activity == SPEND, is_last)

    state = state.replace(
        known=jnp.where(written, route.writes, jnp.where(seen, state.facts, state.known)),
        facts=jnp.where(written, route.writes, state.facts),
        marks=jnp.where(here & move.on_route & ~fails, marked, state.marks),
        completed=state.completed | (here & completes),
        closed=state.closed | (bitsets.flags(route.closes, here.shape[0]) & completes),
        money=state.money - jnp.where(pays, route.money, 0),
        metrics=change_metrics(state.metrics, jnp.where(completes, route.effects, 0)),
    )
    return state, completes, fails


def first_failing_precondition(state: State, scenario: Scenario, route: Routes) -> jax.Array:
    """[] int8: the place in the document of a route's first precondition that does not hold now, or NO_FAILURE.

    `route` is one row of the table.
    """
    allowed = route.preconditions
    fact_fails = (route.order > 0) & ((allowed & code_bits(state.facts, allowed)) == 0)
    bound_fails = (route.bound_order > 0) & ~within(scenario.bounds, state.metrics)
    first_fact = jnp.min(jnp.where(fact_fails, route.order.astype(jnp.int32), NO_FAILURE))
    first_bound = jnp.min(jnp.where(bound_fails, route.bound_order.astype(jnp.int32), NO_FAILURE))
    return jnp.minimum(first_fact, first_bound).astype(jnp.int8)


def update_milestones(state: State, scenario: Scenario) -> tuple[State, jax.Array, Ends]:
    """Milestones, then the ends: (state, [M] bool milestones reached now, ends); the facts of either become known.

    A milestone is reached that is open, was not reached before, and is met by a key or by one of the bounds that hold.
    """
    bits = materialize(code_bits(state.facts, scenario.success.facts))
    in_bounds = materialize(bitsets.of_flags(within(scenario.bounds, state.metrics)))
    milestones = scenario.milestones
    by_key = materialize(met(milestones, bits))
    is_met = by_key | ((milestones.bounds & in_bounds) != 0)
    reached = open_milestones(state.completed, scenario) & ~state.reached & is_met
    ends = check_termination(state, scenario, bits, in_bounds)

    key = np.arange(state.facts.shape[0], dtype=np.int8)[:, None]
    by_milestones = jnp.any((key == milestones.key[None]) & (reached & by_key)[None], axis=-1)
    by_success = ends.success & bitsets.flags(scenario.links.key_uses[types.IN_SUCCESS], state.facts.shape[0])
    state = state.replace(
        reached=state.reached | reached,
        known=jnp.where(by_milestones | by_success, state.facts, state.known),
        outcome=outcome(ends),
    )
    return state, reached, ends


def open_milestones(completed: jax.Array, scenario: Scenario) -> jax.Array:
    """[M] bool: not locked, or unlocked by a completed route; `completed` is [R] bool."""
    unlocked = bitsets.union(scenario.routes.unlocks, where=completed)
    return bitsets.flags(~scenario.locked | unlocked, scenario.milestone_reward.shape[0])


def check_termination(state: State, scenario: Scenario, bits: jax.Array, in_bounds: jax.Array) -> Ends:
    """Which ends the state, its clock already moved, has come to; `bits` and `in_bounds` as in `conditions.hold`."""
    members = jnp.arange(scenario.success.facts.shape[-1], dtype=jnp.int8) < scenario.num_success
    unmet = members & ~hold(scenario.success, bits, in_bounds)
    success = ~jnp.any(unmet) & (scenario.num_success > 0)
    no_route = ~jnp.any(actions.open_routes(state, scenario))
    return Ends(
        success=success,
        condition=~success & hold(scenario.failure, bits, in_bounds)[0],
        deadline=~success & (state.clock >= scenario.deadline),
        dead_end=no_route & jnp.any(unmet & ~may_still_hold(state, scenario)),
        burnout=~success & jnp.any(ranked(state.metrics) <= level(0)),
    )


def may_still_hold(state: State, scenario: Scenario) -> jax.Array:
    """[S] bool: a metric, or an event still to come, may satisfy the member of the success condition without a route.

    Events of the current clock are still to come; their writes and probabilities are ignored.
    """
    step, links = scenario.events.step, scenario.links
    to_come = ~state.fired & ((step >= state.clock) | (step == EVERY_STEP)) & (step != NEVER)
    written = bitsets.union(links.written, where=to_come)
    return ((links.success_keys & written) != 0) | (scenario.success.bounds != 0)


def outcome(ends: Ends) -> jax.Array:
    """[] int8: of the ends, the one with the least code; a single reduction, for the reason given in `materialize`."""
    code = np.arange(len(OUTCOMES), dtype=np.int32)
    each = ((code == end) & holds for end, holds in enumerate(vars(ends).values(), types.SUCCESS))
    least = jnp.min(jnp.where(functools.reduce(jnp.logical_or, each), code, len(OUTCOMES)))
    return jnp.where(least == len(OUTCOMES), RUNNING, least).astype(jnp.int8)


def is_over(state: State, scenario: Scenario) -> jax.Array:
    """[] bool: the crisis has ended or run out of time."""
    return materialize((state.outcome != RUNNING) | (state.clock >= scenario.horizon))


def apply_events(state: State, events: types.Events, draws: jax.Array) -> State:
    """The events of the current clock: those due, not fired before, and drawn.

    They write in document order, so the last writer of a key wins: the greatest of (event, code) packed in one number.
    """
    clock = state.clock
    due = (events.step == clock) | ((events.step == EVERY_STEP) & (clock >= 1))
    fires = materialize(due & ~state.fired & (draws < events.probability))
    rank = jnp.arange(1, events.step.shape[0] + 1, dtype=jnp.int16)[:, None] << 6
    writes = events.writes
    packed = jnp.where(fires[:, None] & (writes != UNWRITTEN), rank | writes.astype(jnp.int16), 0)
    last = jnp.max(packed, axis=0)
    return state.replace(
        facts=jnp.where(last > 0, (last & 63).astype(jnp.int8), state.facts),
        closed=state.closed | bitsets.flags(bitsets.union(events.closes, where=fires), state.closed.shape[0]),
        fired=state.fired | fires,
        metrics=change_metrics(
            state.metrics, jnp.sum(jnp.where(fires[:, None], events.effects, 0), axis=0, dtype=jnp.int32)
        ),
    )


def change_metrics(metrics: jax.Array, change: jax.Array) -> jax.Array:
    """[23] int32: the metrics after one phase, within 0 and 100."""
    return jnp.clip(metrics + change, 0, HIGHEST)
