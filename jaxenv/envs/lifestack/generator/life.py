"""What a drawn crisis does to a life, what it leaves of time, money and energy, and what happens meanwhile."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import bitsets
from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP
from jaxenv.envs.lifestack.generator.plan import LINKS, NUM_ROUTES, Costs, Plan, dearest
from jaxenv.envs.lifestack.generator.tables import (
    FORK_FACT,
    NO,
    NUM_KEYS,
    SHUT_FACT,
    TURN_FACT,
    WAIT_FACT,
    YES,
    put,
    tenths,
)
from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, index, spread
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_ENERGY, NEVER, UNWRITTEN, Scenario

_FORK_EVENT, TURN_EVENT, SHUT_EVENT, _WAIT_EVENT, BLOW, BAD_LUCK = range(6)
NUM_EVENTS = BAD_LUCK + 1
LAST_WAIT = 3  # step

STRESS = index("mental_wellbeing.stress_level")
DISRUPTED = (
    ("mental_wellbeing.stress_level", 1, 40),
    ("career.workload", 1, 45),
    ("time.free_hours_per_week", -1, 55),
    ("relationships.romantic", -1, 55),
    ("mental_wellbeing.motivation", -1, 55),
    ("finances.liquidity", -1, 55),
)
"""(metric, direction, most points) of a disruption; the first two are of the blows that follow as well."""
MAX_POINTS = np.array([most for _, _, most in DISRUPTED])
SPREAD = np.stack(
    [[spread({path: sign * points}) for points in range(max(MAX_POINTS) + 1)] for path, sign, _ in DISRUPTED]
)  # [6, 56, 23] int32
WORRY, LOAD = 0, 1  # rows of it
REST_RELIEF = -int(EFFECTS[FIRST_UPKEEP][STRESS])
REST_ENERGY, REST_TIME, LOOK_TIME = 15 * CENTS, CENTS, CENTS // 2


class Needs(struct.PyTreeNode):
    """What the way out takes in its dearer variants, as [] int32."""

    steps: jax.Array
    steps_to_shut: jax.Array  # until the link is done that an event will make impossible
    wait_step: jax.Array  # step of the event that is waited for


def set_life(scenario: Scenario, plan: Plan, costs: Costs, u: jax.Array, difficulty: jax.Array) -> tuple:
    """Metrics, blows to them, energy, and a bound on stress as a part of success: (scenario, [] int32 rests needed).

    With all blows and no relief but rest, `rests` hours of rest meet the bound and leave energy for the chain.
    """
    kind = as_integer(u[0], 0, len(DISRUPTED) - 1)
    share = (0.4 + 0.6 * difficulty) * (0.3 + 0.7 * u[1])
    points = jnp.floor(share * jnp.asarray(MAX_POINTS, jnp.float32)[kind]).astype(jnp.int32)
    table = jnp.asarray(SPREAD)
    metrics = jnp.clip(jnp.asarray(FIRST) + table[kind, points], 0, HIGHEST)
    blow, load = table[WORRY, as_integer(u[2], 1, 6)], table[LOAD, as_integer(u[3], 1, 5)]
    effects = scenario.events.effects.at[BLOW].set(blow).at[BAD_LUCK].set(load)

    has_bound = u[4] < 0.1 + 0.25 * difficulty
    for_bound = jnp.where(has_bound, as_integer(u[5], 1, 2), 0)
    highest_stress = metrics[STRESS] + blow[STRESS] + load[STRESS] - for_bound * REST_RELIEF
    has_bounds = bitsets.of_flags(has_bound[None], scenario.success.bounds.dtype)

    energy = MAX_ENERGY - CENTS * as_integer(u[6] * (0.2 + 0.8 * difficulty), 0, 80)
    lacking = jnp.maximum(jnp.sum(dearest(plan, costs.total_energy)) - energy, 0)
    rests = for_bound + -(-lacking // REST_ENERGY)
    scenario = scenario.replace(
        metrics=metrics,
        energy=energy,
        events=scenario.events.replace(effects=effects),
        num_success=jnp.where(has_bound, 2, 1).astype(jnp.int8),
        num_bounds=has_bound.astype(jnp.int8),
        success=scenario.success.replace(bounds=scenario.success.bounds.at[1].set(has_bounds)),
        bounds=scenario.bounds.replace(
            metric=scenario.bounds.metric.at[0].set(jnp.where(has_bound, STRESS, 0).astype(jnp.int8)),
            high=scenario.bounds.high.at[0].set(jnp.where(has_bound, highest_stress, scenario.bounds.high[0])),
        ),
    )
    return scenario, rests


def set_resources(
    scenario: Scenario, plan: Plan, costs: Costs, rests: jax.Array, u: jax.Array, difficulty: jax.Array
) -> tuple[Scenario, Needs]:
    """Steps, time and money: what the chain takes with every look and rest that it may ask for, and some slack."""
    slack = 0.1 + 0.8 * (1.0 - difficulty) + 0.3 * u[0]
    looks = sum((link >= 0).astype(jnp.int32) for link in (plan.fork, plan.turn, plan.wait))
    done = jnp.cumsum(dearest(plan, costs.verbs)) + looks + rests
    wait_step = as_integer(u[1], 1, LAST_WAIT)
    delay = jnp.where(plan.wait >= 0, jnp.maximum(wait_step + 1 - done[plan.wait], 0), 0)
    needs = Needs(
        steps=done[LINKS - 1] + delay,
        steps_to_shut=done[plan.shut] + jnp.where(plan.wait <= plan.shut, delay, 0),
        wait_step=wait_step,
    )
    deadline = needs.steps + 1 + _up(needs.steps.astype(jnp.float32) * slack)
    has_deadline = (u[2] < 0.8 + 0.2 * difficulty) | (plan.length >= 2)  # with more at stake, delay would pay
    time = jnp.sum(dearest(plan, costs.total_time)) + looks * LOOK_TIME + rests * REST_TIME
    money = jnp.sum(dearest(plan, costs.money))
    return scenario.replace(
        time=LOOK_TIME * _up((time.astype(jnp.float32) * (1.0 + slack) + CENTS) / LOOK_TIME),
        money=1000 * _up(money.astype(jnp.float32) * (1.0 + slack * u[3]) / 1000),
        deadline=jnp.where(has_deadline, deadline, NEVER).astype(jnp.int16),
        horizon=(deadline + jnp.where(has_deadline, as_integer(u[4], 1, 5), 0)).astype(jnp.int16),
    ), needs


def set_schedule(scenario: Scenario, plan: Plan, needs: Needs, u: jax.Array, difficulty: jax.Array) -> Scenario:
    """When the events come: hidden facts are drawn at once, and what shuts a link leaves time for it."""
    last = jnp.minimum(scenario.deadline, scenario.horizon).astype(jnp.int32) - 1
    shut_step = jnp.minimum(needs.steps_to_shut + as_integer(u[0], 0, 1) + _up(3 * (1 - difficulty) * u[1]), last)
    exists = jnp.stack([plan.fork >= 0, plan.turn >= 0, plan.shut >= 0, plan.wait >= 0, u[2] < 0.7, u[3] < 0.5])
    step = jnp.stack([0, 0, shut_step, needs.wait_step, jnp.minimum(as_integer(u[4], 1, 8), last), EVERY_STEP])
    probability = jnp.stack([0.5, 0.5, 1.0, 1.0, tenths(u[5], 5, 10), tenths(u[6], 1, 2) / 2])
    by_fact = u[7] < 0.5
    writer = np.array([FORK_FACT, TURN_FACT, SHUT_FACT, WAIT_FACT, -1, -1])
    value = jnp.stack([NO, NO, jnp.where(by_fact, NO, UNWRITTEN), YES, UNWRITTEN, UNWRITTEN])
    writes = jnp.where((writer[:, None] == np.arange(NUM_KEYS)[None]) & exists[:, None], value[:, None], UNWRITTEN)
    shuts = (np.arange(NUM_EVENTS) == SHUT_EVENT)[:, None] & (np.arange(NUM_ROUTES)[None] == plan.shut) & ~by_fact
    events = scenario.events
    return scenario.replace(
        events=events.replace(
            step=put(events.step, jnp.where(exists, step, NEVER)),
            probability=put(events.probability, jnp.where(exists, probability, 0)),
            writes=put(events.writes, writes),
            closes=put(events.closes, bitsets.of_flags(shuts & (plan.shut >= 0))),
            effects=jnp.where(jnp.pad(exists, (0, events.step.size - NUM_EVENTS))[:, None], events.effects, 0),
        ),
        silent=bitsets.of_flags(exists & (np.arange(NUM_EVENTS) <= TURN_EVENT), scenario.silent.dtype),
    )


def _up(x: jax.Array) -> jax.Array:
    """The least whole number that is not below, up to what a float32 sum may be off."""
    return jnp.ceil(x - 1e-4).astype(jnp.int32)
