"""The reward of one step, a row per term: its weight and the paid quantity (docs/rules/lifestack.md, section 5)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.printing import Compact
from jaxenv.core.terms import Weight, parts_type, preset, term
from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING, UPKEEP
from jaxenv.envs.lifestack.dynamics import Turn
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, UNIT, better, level, ranked
from jaxenv.envs.lifestack.types import NUM_METRICS, Ends, Scenario

COLLAPSED = 20 * UNIT  # a metric below this has collapsed; higher is better


class Step(NamedTuple):
    """The inputs of the reward terms."""

    turn: Turn
    before: jax.Array  # [23] int32, metrics
    after: jax.Array  # [23] int32, metrics
    scenario: Scenario


class RewardWeights(Compact):
    """The coefficients of the reward, each a [] float32 (or a Python float); zero switches a term off."""

    milestones: Weight = term(
        lambda step: jnp.sum(jnp.where(step.turn.reached, step.scenario.milestone_reward, 0.0)),
        doc="the `reward` of the milestones reached in this step",
        rules=1.0,
    )
    routes: Weight = term(
        lambda step: jnp.where(step.turn.completes, step.turn.route.reward, 0.0),
        doc="the `final_reward` of the route completed in this step",
        rules=1.0,
    )
    success: Weight = term(lambda step: step.turn.ends.success, doc="the episode succeeds", rules=8.0)
    failure: Weight = term(
        lambda step: fails(step.turn.ends),
        doc="once, at every termination but success: condition, deadline, dead end, burnout; not for truncation alone",
        rules=-8.0,
    )
    wellbeing: Weight = term(
        lambda step: wellbeing_gained(step.before, step.after),
        doc="W after − W before the step, events included",
        rules=4.0,
    )
    collapse: Weight = term(
        lambda step: collapses(step.before, step.after),
        doc="each metric whose adjusted value falls from at least 20 to below 20 over the step",
        rules=-0.4,
    )
    step_cost: Weight = term(lambda step: (), doc="every step", rules=-0.08)
    failed_attempt: Weight = term(lambda step: step.turn.fails, doc="an attempt at a route that fails", rules=-0.2)
    invalid_action: Weight = term(lambda step: ~step.turn.move.legal, doc="an action that is not legal", rules=-0.4)


WEIGHTS: RewardWeights = preset(RewardWeights, "rules")
RewardParts = parts_type(RewardWeights)


def fails(ends: Ends) -> jax.Array:
    """[] bool: an end, and not the good one."""
    return (ends.condition | ends.deadline | ends.dead_end | ends.burnout) & ~ends.success


def wellbeing_gained(before: jax.Array, after: jax.Array) -> jax.Array:
    """[] float32: the difference of W, the mean of the metrics, higher is better, in 0..1."""
    change = after - before
    gained = jnp.sum(jnp.where(INVERTED, -change, change), dtype=jnp.int32)
    return gained.astype(jnp.float32) / (NUM_METRICS * HIGHEST)


def upkeep_gains() -> dict[str, float]:
    """By kind of upkeep, the most that it can raise W: its gains at their full size, its losses clipped away."""
    change = better(EFFECTS) - better(np.zeros_like(EFFECTS))
    gains = np.maximum(change, 0).sum(axis=-1) / (NUM_METRICS * HIGHEST)
    return dict(zip(UPKEEP, gains[FIRST_UPKEEP:INSPECTING].tolist(), strict=True))


def warnings(weights: RewardWeights) -> tuple[str, ...]:
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
    return jnp.sum((ranked(before) >= level(COLLAPSED)) & (ranked(after) < level(COLLAPSED)), dtype=jnp.int32)
