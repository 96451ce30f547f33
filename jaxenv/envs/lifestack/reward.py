"""The reward of one step: named parts, each a weight times what the turn did (docs/rules/lifestack.md, section 5)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, LOOKING, UPKEEP
from jaxenv.envs.lifestack.dynamics import Turn
from jaxenv.envs.lifestack.metrics import HIGHEST, UNIT, better
from jaxenv.envs.lifestack.types import NUM_METRICS, RewardParts, RewardWeights, Scenario, State

WEIGHTS = RewardWeights(
    milestones=1.0,
    routes=1.0,
    success=8.0,
    failure=-8.0,
    wellbeing=4.0,
    collapse=-0.4,
    step_cost=-0.08,
    failed_attempt=-0.2,
    invalid_action=-0.4,
)
COLLAPSED = 20 * UNIT  # a metric below this, turned so that more is better, has collapsed


def reward_parts(weights: RewardWeights, before: State, after: State, turn: Turn, scenario: Scenario) -> RewardParts:
    """The named terms of one step, from the state that it was given to the one that it returns."""
    ends = turn.ends
    failed = ends.condition | ends.deadline | ends.dead_end | ends.burnout
    earned = jnp.sum(jnp.where(turn.reached, scenario.milestone_reward, 0.0))

    def counted(weight: jax.Array | float, amount: jax.Array) -> jax.Array:
        return jnp.asarray(weight, jnp.float32) * amount.astype(jnp.float32)

    return RewardParts(
        milestones=counted(weights.milestones, earned),
        routes=counted(weights.routes, jnp.where(turn.completes, turn.route.reward, 0.0)),
        success=counted(weights.success, ends.success),
        failure=counted(weights.failure, failed & ~ends.success),
        wellbeing=counted(weights.wellbeing, wellbeing_gained(before.metrics, after.metrics)),
        collapse=counted(weights.collapse, collapses(before.metrics, after.metrics)),
        step_cost=counted(weights.step_cost, jnp.int32(1)),
        failed_attempt=counted(weights.failed_attempt, turn.fails),
        invalid_action=counted(weights.invalid_action, ~turn.move.legal),
    )


def wellbeing_gained(before: jax.Array, after: jax.Array) -> jax.Array:
    """[] float32: the difference of W, the mean of the metrics turned so that more is better, in 0..1."""
    gained = jnp.sum(better(after) - better(before), dtype=jnp.int32)
    return gained.astype(jnp.float32) / (NUM_METRICS * HIGHEST)


def upkeep_gains() -> dict[str, float]:
    """By kind of upkeep, the most that it can raise W: its gains at their full size, its losses clipped away."""
    change = better(EFFECTS) - better(np.zeros_like(EFFECTS))
    gains = np.maximum(change, 0).sum(axis=-1) / (NUM_METRICS * HIGHEST)
    return dict(zip(UPKEEP, gains[FIRST_UPKEEP:LOOKING].tolist(), strict=True))


def oddities(weights: RewardWeights) -> tuple[str, ...]:
    """A sentence for each kind of upkeep that pays for its step: it is meant to serve a crisis, not to be farmed."""
    wellbeing, step_cost = float(weights.wellbeing), float(weights.step_cost)
    return tuple(
        f"upkeep {kind!r} pays for itself: it can earn {wellbeing * gain:.4f} of wellbeing (weight {wellbeing:g}) "
        f"and its step costs {-step_cost:g} (step_cost)"
        for kind, gain in upkeep_gains().items()
        if wellbeing * gain + step_cost > 0
    )


def collapses(before: jax.Array, after: jax.Array) -> jax.Array:
    """[] int32: metrics that have fallen from at least 20 to below 20."""
    return jnp.sum((better(before) >= COLLAPSED) & (better(after) < COLLAPSED), dtype=jnp.int32)


def total(parts: RewardParts) -> jax.Array:
    """[] float32: the sum of the parts, in the order of their fields."""
    return functools.reduce(jnp.add, jax.tree.leaves(parts))
