"""Prioritised level replay (Jiang et al. 2021): scenarios that still teach something are kept and played again.

Slots of the rolling bank are the level buffer. A slot that has been played has a score; the best are kept, all others
that no episode is playing get new scenarios. Episodes start in a kept slot with the probability `replay_share`, by the
rank of its score and by how long it was not played; otherwise in a new one.
"""

import functools

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.experience.bank import generate_bank
from train.settings.config import Config
from train.settings.groups import Curriculum

NEVER_ENDED = float(jnp.finfo(jnp.float32).min)  # the greatest return of a scenario that no episode has ended in


class Levels(struct.PyTreeNode):
    """What is known of the S scenarios of a bank."""

    score: jax.Array  # [S] float32, how much is left to learn, of the last update that played it
    is_scored: jax.Array  # [S] bool, it has been played since it was drawn
    played: jax.Array  # [S] int32, the last update that played it
    best_return: jax.Array  # [S] float32, the greatest scaled return of an episode; NEVER_ENDED if none has ended

    @classmethod
    def unknown(cls, size: int) -> "Levels":
        """Nothing is known of any."""
        zeros = jnp.zeros(size, jnp.int32)
        return cls(jnp.zeros(size, jnp.float32), zeros > 0, zeros, jnp.full(size, NEVER_ENDED, jnp.float32))


class Played(struct.PyTreeNode):
    """What one update played, each [T, B]."""

    scenario: jax.Array  # int32, index of the bank
    advantage: jax.Array  # float32, in scaled reward
    value: jax.Array  # float32, V(observation)
    episode_return: jax.Array  # float32, scaled return of the episode up to this step
    ended: jax.Array  # bool, with this step


def observed(levels: Levels, played: Played, updates: jax.Array, settings: Curriculum) -> Levels:
    """The levels with the scores of what an update played.

    positive value loss: mean over its steps of max(A, 0)
    MaxMC:               mean over its steps of R_max - V(s), where R_max is its greatest return so far

    Args:
        levels: as they were.
        played: the steps of the update.
        updates: [] int32, the number of this update.
        settings: which score.
    """
    size, index = levels.score.shape[0], played.scenario.ravel()
    returns = jnp.where(played.ended, played.episode_return, NEVER_ENDED).ravel()
    best = jnp.maximum(levels.best_return, jax.ops.segment_max(returns, index, size))
    regret = jnp.maximum(played.advantage, 0.0)
    if settings.level_score == "max_mc":
        known = best[played.scenario]
        regret = jnp.where(known > NEVER_ENDED, known - played.value, regret)  # until an episode has ended
    count = jax.ops.segment_sum(jnp.ones(index.shape, jnp.float32), index, size)
    mean = jax.ops.segment_sum(regret.ravel(), index, size) / jnp.maximum(count, 1.0)
    is_played = count > 0
    return Levels(
        score=jnp.where(is_played, mean, levels.score),
        is_scored=levels.is_scored | is_played,
        played=jnp.where(is_played, updates, levels.played),
        best_return=best,
    )


def renewed(
    key: Key,
    bank: ScenarioBank,
    levels: Levels,
    *,
    live: jax.Array,
    updates: jax.Array,
    config: Config,
    env: Environment,
) -> tuple[ScenarioBank, Levels]:
    """The bank for the next update: the best slots kept, the others new, with the probabilities of starts.

    Args:
        key: random key.
        bank: S scenarios.
        levels: what is known of them.
        live: [...] int32, the scenarios in play; they are kept.
        updates: [] int32, updates done so far.
        config: how scenarios are generated, and how many are kept.
        env: the environment.
    """
    settings, size = config.curriculum, bank.size
    is_live = jnp.zeros(size, bool).at[live.ravel()].set(True)
    is_best = levels.is_scored & (ranks(levels) <= int(settings.replay_share * size))
    drawn = generate_bank(env, key, count=size, difficulty=config.training.difficulty)
    choose = functools.partial(jax.vmap(select), is_live | is_best)
    scenarios = choose(bank.scenarios, drawn.scenarios)
    levels = choose(levels, Levels.unknown(size))
    weights = start_weights(levels, ~(is_live | is_best), updates, settings)
    return bank.replace(scenarios=scenarios).with_start_weights(weights), levels


def ranks(levels: Levels) -> jax.Array:
    """[S] int32: 1 for the greatest score among those that are scored, the others after them."""
    order = jnp.argsort(jnp.where(levels.is_scored, -levels.score, jnp.inf))
    return jnp.zeros_like(order).at[order].set(jnp.arange(1, order.shape[0] + 1))


def start_weights(levels: Levels, is_new: jax.Array, updates: jax.Array, settings: Curriculum) -> jax.Array:
    """[S] float32, the probabilities of starts: eq. 1 to 3 of Jiang et al. 2021, and uniform over new scenarios.

    P_replay = (1 - staleness) P_score + staleness P_stale, where P_score is proportional to
    (1 / rank)^(1 / temperature), and P_stale to the updates since a scenario was played.
    """
    rank = ranks(levels).astype(jnp.float32)
    by_score = jnp.where(levels.is_scored, jnp.exp(-jnp.log(rank) / settings.rank_temperature), 0.0)
    since = jnp.where(levels.is_scored, (updates - levels.played).astype(jnp.float32), 0.0)
    by_score, by_age = _normalized(by_score), _normalized(since)
    replay = jnp.where(jnp.sum(since) > 0, (1 - settings.staleness) * by_score + settings.staleness * by_age, by_score)
    new = _normalized(is_new.astype(jnp.float32))
    share = jnp.where(jnp.any(is_new), jnp.where(jnp.any(levels.is_scored), settings.replay_share, 0.0), 1.0)
    weights = share * replay + (1.0 - share) * new
    return jnp.where(jnp.sum(weights) > 0, weights, 1.0)  # all are in play for the first time


def _normalized(weights: jax.Array) -> jax.Array:
    return weights / jnp.maximum(jnp.sum(weights), jnp.finfo(jnp.float32).tiny)
