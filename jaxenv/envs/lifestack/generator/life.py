"""The effects of a drawn crisis on a life: a disruption, blows, and the effects of its routes on metrics.

A lower bound of each metric is computed for the case that all events have come and every route except the traps has
been gone. It stays above 0, if need be with rest taken in time, so that a careful player never burns out.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import ENERGY, FIRST_UPKEEP
from jaxenv.envs.lifestack.generator import harm
from jaxenv.envs.lifestack.generator.harm import FIRST_WELL, RELIEF, SIDE_HARM, SIGN, STRESS, drawn, weighted
from jaxenv.envs.lifestack.generator.plan import BY_METRIC, NUM_ROUTES, SECOND_TURN, Plan
from jaxenv.envs.lifestack.generator.tables import put
from jaxenv.envs.lifestack.metrics import HIGHEST, UNIT, index, indices
from jaxenv.envs.lifestack.types import Scenario

DISTURBED = weighted(
    harm.EVERY_METRIC
    | {"mental_wellbeing.stress_level": 10, "finances.liquidity": 3, "relationships.romantic": 2}
    | {"career.workload": 2, "time.free_hours_per_week": 2, "time.commute_burden": 2, "time.admin_overhead": 2}
)
"""The metrics that disruptions and blows begin with."""
MOVED = weighted(
    harm.EVERY_METRIC
    | {"finances.liquidity": 4, "finances.debt_pressure": 3, "mental_wellbeing.stress_level": 3}
    | {"relationships.family": 4, "relationships.romantic": 3, "relationships.social": 3}
    | {"career.stability": 3, "physical_health.sleep_quality": 3}
)
"""The metrics that routes improve or harm."""
FEARED = weighted(
    {"finances.liquidity": 4, "finances.debt_pressure": 3, "relationships.family": 1, "career.stability": 1}
)
"""The metrics that must not become too bad."""
HELPED = weighted(
    {"relationships.family": 3, "finances.liquidity": 3, "finances.debt_pressure": 1, "career.stability": 1}
)
"""The metrics that only helping routes can restore."""
KEPT = indices(
    "mental_wellbeing.stress_level",
    "mental_wellbeing.motivation",
    "career.workload",
    "time.free_hours_per_week",
    "relationships.romantic",
)
"""The metrics that each kind of upkeep improves, in the order of `UPKEEP`."""
CARE = np.array([0, 0, 0, 0, 1, 2, 3, 4])  # kinds of upkeep; a repeat is a weight

LEFT_AT_FIRST, LEFT_AT_LAST = 8 * UNIT, 3 * UNIT  # of every metric, after the disruption and at the end
LIQUIDITY, DEBT = index("finances.liquidity"), index("finances.debt_pressure")
MOST_FEARED = 9  # points at most that a feared metric stays above its bound, whatever comes
MOST_STRAIN = 3  # rests without which a crisis may burn one out
OF_BLOW, WITH_BLOW, OF_SECOND, OF_LUCK, OF_SHUT = range(5)  # changes that events bring
NUM_LIFE = 15 + 10 + 6 * NUM_ROUTES  # uniform numbers


class Life(struct.PyTreeNode):
    """The drawn effects, as input of conditions, resources and the schedule."""

    left: jax.Array  # [23] int32, lower bound of each metric at the end, higher is better, without upkeep
    strain: jax.Array  # [] int32, rests that must be taken in time
    has_goal: jax.Array  # [] bool, some condition requires more of a metric than is left
    goal: jax.Array  # [] int32, the metric
    relief: jax.Array  # [] int32, by how much upkeep or helps make it better
    care: jax.Array  # [] int32, how often upkeep must be done for the goal
    care_energy: jax.Array  # [] int32, the energy for that
    has_fear: jax.Array  # [2] bool, traps do harm to a metric that must not become too bad
    fear: jax.Array  # [2] int32, the metrics
    blows: jax.Array  # [5, 23] int32, changes that events bring, OF_BLOW .. OF_SHUT


def set_life(scenario: Scenario, plan: Plan, u: jax.Array, d: jax.Array) -> tuple[Scenario, Life]:
    """Metrics after a disruption of one or two, effects of routes, and a summary for the later stages.

    Args:
        scenario: to be filled.
        plan: its structure.
        u: [NUM_LIFE] in [0, 1).
        d: [] float32, the difficulty.
    """
    u, of_blows, of_routes = jnp.split(u, (15, 25))
    strain = jnp.where(u[0] < 0.1 + 0.2 * d, as_integer(u[1], 1, MOST_STRAIN), 0)
    well = FIRST_WELL - _disruption(u[2:6], strain, d)

    by_help = jnp.any(plan.help) & (u[6] < 0.8)
    kind = jnp.asarray(CARE)[as_integer(u[7], 0, len(CARE) - 1)]
    goal = jnp.where(by_help, drawn(u[7], HELPED), jnp.asarray(KEPT)[kind])
    care = jnp.where(by_help, 0, as_integer(u[8], 1, 2))
    room = well - LEFT_AT_LAST - care * jnp.asarray(SIDE_HARM)[kind]
    has_goal = (by_help | (u[9] < 0.15 + 0.35 * d)) & jnp.all(room > 0)
    care = jnp.where(has_goal, care, 0)
    room = jnp.where(has_goal, room, well - LEFT_AT_LAST)

    by_metric = (plan.turn_by == BY_METRIC) | (plan.fork_by == BY_METRIC)
    ruins = plan.dead & (np.arange(NUM_ROUTES) != SECOND_TURN) & by_metric
    tangled = plan.is_tangled & by_help & has_goal
    fear = jnp.stack([drawn(u[10], FEARED), drawn(u[11], FEARED)])
    fear = fear.at[0].set(jnp.where(tangled & (fear[0] == goal), jnp.where(goal == DEBT, LIQUIDITY, DEBT), fear[0]))
    has_fear = (jnp.any(plan.trap) & (u[12] < 0.5)) | tangled | jnp.any(ruins)
    has_fear &= jnp.stack([True, (u[13] < 0.6) & (fear[0] != fear[1])])
    metric, points, is_good = _of_routes(of_routes.reshape(3, NUM_ROUTES, 2), plan, goal, fear, has_fear, tangled)
    blow, blow_points = _of_events(of_blows.reshape(2, 5), strain, d)

    counts = (plan.exists & ~plan.trap)[:, None] & ~is_good
    at_worst = jnp.sum(jnp.where(counts[..., None], harm.of(metric, points), 0), (0, 1))
    at_worst += jnp.sum(harm.of(blow, blow_points), 0)
    at_rest = strain * np.where(np.arange(len(SIGN)) == STRESS, RELIEF[0], 0)
    share = harm.share_that_fits(at_worst, room + at_rest)
    points = jnp.where(counts, points * share >> 10, points)
    blows, moved = harm.of(blow, blow_points * share >> 10), harm.of(metric, points)
    left = well + at_rest - jnp.sum(jnp.where(counts[..., None], moved, 0), (0, 1)) - jnp.sum(blows, 0)
    of_helps = jnp.sum(jnp.where(plan.help[:, None] & is_good, moved[..., goal], 0))
    gains = jnp.sum(jnp.where(is_good & (metric == fear[0]), points, 0))
    ruin = (well - left)[fear[0]] // UNIT + MOST_FEARED + gains  # is failure at once, or close to it
    ruin = harm.of(fear[0], jnp.clip(ruin, 0, harm.MOST_POINTS))
    effects = jnp.sum(jnp.where(is_good[..., None], -moved, moved), 1) + jnp.where(ruins[:, None], ruin[None], 0)
    scenario = scenario.replace(
        metrics=jnp.where(SIGN > 0, HIGHEST - well, well).astype(jnp.int32),
        routes=put(scenario.routes, effects=jnp.where(plan.exists[:, None], effects * SIGN[None], 0)),
    )
    return scenario, Life(
        left=left,
        strain=strain,
        has_goal=has_goal,
        goal=goal,
        relief=jnp.where(by_help, of_helps, care * jnp.asarray(RELIEF)[kind, goal]),
        care=care,
        care_energy=care * jnp.maximum(jnp.asarray(ENERGY)[FIRST_UPKEEP + kind], 0),
        has_fear=has_fear,
        fear=fear,
        blows=blows * SIGN[None],
    )


def _disruption(u: jax.Array, strain: jax.Array, d: jax.Array) -> jax.Array:
    """[23] int32: harm to one metric, and to a second one in most crises; to stress first where there is strain."""
    metric = jnp.stack([jnp.where(strain > 0, STRESS, drawn(u[0], DISTURBED)), drawn(u[2], DISTURBED)])
    most = (0.4 + 0.6 * d) * jnp.array([45.0, 35.0])
    points = 5 + jnp.floor(most * jnp.stack([u[1], u[3]])).astype(jnp.int32)
    points = points.at[0].set(jnp.where(strain > 0, as_integer(u[1], 28, 45), points[0]))
    points = points.at[1].set(jnp.where((metric[0] == metric[1]) | (u[3] < 0.25), 0, points[1]))
    share = harm.share_that_fits(jnp.sum(harm.of(metric, points), 0), FIRST_WELL - LEFT_AT_FIRST)
    return jnp.sum(harm.of(metric, points * share >> 10), 0)


def _of_routes(
    u: jax.Array, plan: Plan, goal: jax.Array, fear: jax.Array, has_fear: jax.Array, tangled: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """([8, 2] int32 metrics, [8, 2] int32 points, [8, 2] bool is good): two changes at most that a route brings.

    Helps are good for the goal; where there is something to fear, traps bring it about. Tangled, helps bring it nearer,
    and traps are good for the goal.
    """
    of_metric, of_points, of_sign = u
    first = np.array([True, False])[None]
    trap, help, second = plan.trap[:, None], plan.help[:, None], ~first & tangled
    helps, costs = (help & first) | (trap & second), help & second  # the goal, something feared
    fears = trap & has_fear[None] & ~second
    metric = jnp.where(fears, fear[None], jnp.where(helps, goal, jnp.where(costs, fear[0], drawn(of_metric, MOVED))))
    chance = np.array([0.4, 0.15])[None]
    points = jnp.where(of_points < chance, 1 + as_integer(of_points / chance, 0, 11), 0)
    least = jnp.where(fears, 10, jnp.where(helps, 6, 4))
    points = jnp.where(fears | helps | costs, as_integer(of_points, least, jnp.where(fears, 20, least + 8)), points)
    points = jnp.where((metric[:, :1] == metric) & ~first, 0, points)
    return metric, points, ~fears & ~costs & (helps | (of_sign < 0.5))


def _of_events(u: jax.Array, strain: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
    """([5] int32 metrics, [5] int32 points) of harm that events bring; with strain, two hard blows to stress."""
    metric = drawn(u[0], DISTURBED)
    is_hard = (strain > 0) & np.isin(np.arange(5), [OF_BLOW, OF_SECOND])
    metric = jnp.where(is_hard, STRESS, metric.at[OF_SHUT].set(STRESS))
    most = jnp.array([10, 8, 10, 5, 8])
    points = jnp.where(is_hard, as_integer(u[1], 14, 24), 1 + as_integer(u[1], 0, most - 1))
    has = jnp.stack([True, (u[1, WITH_BLOW] < 0.3) & (metric[OF_BLOW] != metric[WITH_BLOW]), True, True, True])
    return metric, jnp.where(has, points, 0)
