"""The time, money and energy of a drawn crisis, and the events meanwhile."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.generator import tables
from jaxenv.envs.lifestack.generator.costs import Costs, dearest, of_helps
from jaxenv.envs.lifestack.generator.goals import tenths
from jaxenv.envs.lifestack.generator.life import OF_BLOW, OF_LUCK, OF_SECOND, OF_SHUT, WITH_BLOW, Life
from jaxenv.envs.lifestack.generator.plan import LINKS, NUM_ROUTES, REVISE, SHUT_TOO, UNDO, Plan, gone_before
from jaxenv.envs.lifestack.generator.tables import NO, SHUT_FACT, TURN_FACT, WAIT_FACT, YES, put
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_ENERGY, NEVER, UNWRITTEN, Scenario
from jaxenv.lowering import bitsets

NUM_EVENTS = 8
LAST_WAIT = 3  # step
REST_ENERGY, CARE_TIME, LOOK_TIME = 15 * CENTS, CENTS, CENTS // 2


class Needs(struct.PyTreeNode):
    """The resources for the way out in its dearer variants, as int32."""

    steps: jax.Array  # []
    steps_to: jax.Array  # [5] until each link is done, in the order and the haste that doors require
    wait_step: jax.Array  # [] step of the awaited event
    change_step: jax.Array  # [] step of a change that is better awaited


def set_resources(
    scenario: Scenario, plan: Plan, costs: Costs, life: Life, *, late: jax.Array, u: jax.Array, difficulty: jax.Array
) -> tuple[Scenario, Needs]:
    """Energy, steps, time and money: the needs of the chain with every look, rest and help, and some slack."""
    slack = 0.1 + 0.8 * (1.0 - difficulty) + 0.3 * u[0]
    energy = MAX_ENERGY - CENTS * as_integer(u[5] * (0.2 + 0.8 * difficulty), 0, 80)
    needs, looks, rests = _needs(plan, costs, life, energy, u)
    deadline = needs.steps + 1 + _up(needs.steps.astype(jnp.float32) * slack)
    has_deadline = (u[2] < 0.8 + 0.2 * difficulty) | (plan.length >= 2) | late  # with more at stake, delay would pay
    time = jnp.sum(dearest(plan, costs.total_time)) + of_helps(plan, costs.total_time)
    time += looks * LOOK_TIME + (rests + life.care) * CARE_TIME
    money = jnp.sum(dearest(plan, costs.money)) + of_helps(plan, costs.money)
    return scenario.replace(
        energy=energy,
        time=LOOK_TIME * _up((time.astype(jnp.float32) * (1.0 + slack) + CENTS) / LOOK_TIME),
        money=1000 * _up(money.astype(jnp.float32) * (1.0 + slack * u[3]) / 1000),
        deadline=jnp.where(has_deadline, deadline, NEVER).astype(jnp.int16),
        horizon=(deadline + jnp.where(has_deadline, as_integer(u[4], 1, 5), 0)).astype(jnp.int16),
    ), needs


def _needs(plan: Plan, costs: Costs, life: Life, energy: jax.Array, u: jax.Array) -> tuple[Needs, jax.Array, jax.Array]:
    """Needs of the way out, and [] int32 looks and [] int32 rests among them."""
    doors, link, before = plan.doors, np.arange(LINKS), gone_before(plan.doors)
    revises, undoes = doors.change == REVISE, doors.change == UNDO
    looks = _looks(plan)
    asked = dearest(plan, costs.total_energy)
    of_care = of_helps(plan, costs.total_energy) + life.care_energy
    rests = life.strain + _rests(jnp.sum(asked) + of_care, energy)
    of_late = life.care + of_helps(plan, costs.verbs)  # the most that the last link, and no link before it, may require
    first = jnp.sum(looks) + rests + of_late
    in_haste = _before(before, looks) + life.strain + _rests(_before(before, asked), energy)
    in_haste = jnp.where(doors.is_urgent & (link < plan.length - 1), in_haste, first)

    wait_step, change_step = as_integer(u[1], 1, LAST_WAIT), as_integer(u[6], 1, LAST_WAIT)
    not_before = jnp.maximum(
        jnp.where(link == doors.wait, wait_step + 1, 0),
        jnp.where((link == doors.changed) & (revises | undoes), change_step + 1, 0),
    )
    verbs = dearest(plan, costs.verbs)
    in_order = np.tri(LINKS, dtype=bool)
    return (
        Needs(
            steps=_steps_to(in_order, verbs, first, not_before)[LINKS - 1],
            steps_to=_steps_to(before, verbs, in_haste, not_before),
            wait_step=wait_step,
            change_step=change_step,
        ),
        jnp.sum(looks),
        rests,
    )


def _looks(plan: Plan) -> jax.Array:
    """[5] int32: facts that are looked at, by the first link for which that matters."""
    doors = plan.doors
    at = jnp.stack([plan.fork, plan.turn, doors.wait, plan.turn, doors.shut])
    has = [plan.fork_is_hidden, plan.turn_is_hidden, doors.wait >= 0, doors.change == REVISE, doors.is_hidden]
    return jnp.sum((at[None] == np.arange(LINKS)[:, None]) & jnp.stack(has)[None], 1, dtype=jnp.int32)


def _rests(asked: jax.Array, energy: jax.Array) -> jax.Array:
    """The number of rests that restore the energy required beyond the available energy."""
    return -(-jnp.maximum(asked - energy, 0) // REST_ENERGY)


def _before(before: jax.Array | np.ndarray, amount: jax.Array) -> jax.Array:
    """[5] int32: an amount of each link, summed up to each of them."""
    return jnp.sum(jnp.where(before, amount[None], 0), 1)


def _steps_to(before: jax.Array | np.ndarray, verbs: jax.Array, first: jax.Array, not_before: jax.Array) -> jax.Array:
    """[5] int32: the earliest step at which each link is done, after the links that come first."""
    done = _before(before, verbs) + first
    return done + jnp.max(jnp.where(before, jnp.maximum(not_before - done, 0)[None], 0), 1)


def set_schedule(
    scenario: Scenario, plan: Plan, life: Life, needs: Needs, *, u: jax.Array, difficulty: jax.Array
) -> Scenario:
    """The steps of the events: hidden facts are drawn at once, and an event that shuts a link leaves time for it."""
    last = jnp.minimum(scenario.deadline, scenario.horizon).astype(jnp.int32) - 1
    slack = _up(3 * (1 - difficulty) * u[1]) + as_integer(u[0], 0, 1)
    doors = plan.doors
    shut_step, shut_too_step = needs.steps_to[doors.shut] + slack, needs.steps_to[doors.changed] + slack
    change_step = jnp.where(doors.change == SHUT_TOO, shut_too_step, needs.change_step)
    blow_step = jnp.maximum(life.strain, 1) + as_integer(u[4], 0, 6)
    second_step = blow_step + as_integer(u[8], 0, 5)
    has_strain, is_third = life.strain > 0, plan.is_third & plan.turn_is_hidden
    revises, of_turn = doors.change == REVISE, jnp.where(is_third, tenths(u[10], 3, 4), 0.5)
    of_change = jnp.where(revises, tenths(u[10], 4, 6), tenths(u[10], 5, 10))
    of_shut = jnp.where((u[11] < 0.5) | doors.is_hidden, 1.0, tenths(u[11] * 2 - 1, 6, 9))
    blows, unmoved = life.blows, jnp.zeros(life.blows.shape[-1], jnp.int32)
    # Whether it exists, step, probability, effects, and whether it is silent: what decides the fork and the commitment,
    # the change, the link that is shut, the one that is awaited, two blows, bad luck.
    rows = [
        (plan.fork_is_hidden | is_third, 0, 0.5, unmoved, True),
        (plan.turn_is_hidden, 0, of_turn, unmoved, True),
        (doors.changed >= 0, change_step, of_change, unmoved, revises),
        (doors.shut >= 0, shut_step, of_shut, jnp.where(u[14] < 0.4, blows[OF_SHUT], 0), doors.is_silent),
        (doors.wait >= 0, needs.wait_step, 1.0, unmoved, False),
        ((u[2] < 0.7) | has_strain, blow_step, tenths(u[5], 5, 10), blows[OF_BLOW] + blows[WITH_BLOW], False),
        ((u[9] < 0.35) | has_strain, second_step, tenths(u[12], 5, 10), blows[OF_SECOND], False),
        (u[3] < 0.4, EVERY_STEP, tenths(u[6], 1, 2) / 2, blows[OF_LUCK], False),
    ]
    exists, step, probability, effects, silent = map(jnp.stack, zip(*rows, strict=True))
    by_fact = ((u[7] < 0.5) & (doors.change != SHUT_TOO)) | doors.is_hidden | doors.is_window
    writes, closes = _consequences(scenario, plan, by_fact=by_fact, revised=u[13] < 0.5)
    return scenario.replace(
        events=put(
            scenario.events,
            step=jnp.where(exists, jnp.minimum(step, last), NEVER),
            probability=jnp.where(exists, probability, 0),
            writes=jnp.where(exists[:, None], writes, UNWRITTEN),
            closes=bitsets.of_flags(closes & exists[:, None]),
            effects=jnp.where(exists[:, None], effects, 0),
        ),
        silent=bitsets.of_flags(exists & silent, scenario.silent.dtype),
    )


def _consequences(
    scenario: Scenario, plan: Plan, *, by_fact: jax.Array, revised: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """([8, K] int32 mutations of the events, [8, R] bool routes that they close)."""
    doors, key = plan.doors, np.arange(tables.NUM_KEYS)
    undoes = doors.change == UNDO
    changed_fact = jnp.where(undoes, doors.changed, jnp.where(doors.change == REVISE, TURN_FACT, -1))
    changed_value = jnp.where(undoes, scenario.facts[doors.changed].astype(jnp.int32), jnp.where(revised, NO, YES))
    shut_fact = jnp.where(doors.is_window, WAIT_FACT, SHUT_FACT)
    none = jnp.int32(-1)
    writer = [jnp.where(plan.is_third, TURN_FACT, tables.FORK_FACT), TURN_FACT, changed_fact, shut_fact, WAIT_FACT]
    value = [jnp.where(plan.is_third, tables.OTHER, NO), NO, changed_value, jnp.where(by_fact, NO, UNWRITTEN), YES]
    writer, value = jnp.stack([*writer, none, none, none]), jnp.stack([*value, none, none, none])
    writes = jnp.where(writer[:, None] == key[None], value[:, None], UNWRITTEN)
    closed = jnp.stack([none, none, jnp.where(doors.change == SHUT_TOO, doors.changed, -1)])
    closed = jnp.concatenate([closed, jnp.where(by_fact, -1, doors.shut)[None], jnp.full(NUM_EVENTS - 4, -1)])
    return writes, closed[:, None] == np.arange(NUM_ROUTES)[None]


def _up(x: jax.Array) -> jax.Array:
    """The least whole number that is not below, up to the rounding error of a float32 sum."""
    return jnp.ceil(x - 1e-4).astype(jnp.int32)
