"""Curriculum of scenarios that still teach something: prioritised level replay (PLR, Jiang et al. 2021).

Slots of the rolling bank are the level buffer. A slot has a score once an episode of it has ended; the best are kept,
all others that no episode is playing get new scenarios. Episodes start in a kept slot with the probability
`replay_share`, by the rank of its score and by how long it was not played; otherwise in a new one.
"""

import functools

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.experience.bank import generate_bank
from train.experience.rollout import Transition
from train.settings.config import Config
from train.settings.groups import Curriculum

NEVER_ENDED = float(jnp.finfo(jnp.float32).min)  # the greatest return of a scenario that no episode has ended in


class Levels(struct.PyTreeNode):
    """Scores and history of the S scenarios of a bank."""

    score: jax.Array  # [S] float32, how much is left to learn, of the last update in which an episode of it ended
    is_scored: jax.Array  # [S] bool, an episode of it has ended since it was drawn
    played: jax.Array  # [S] int32, the last update that played it
    best_return: jax.Array  # [S] float32, the greatest scaled return of an episode; NEVER_ENDED if none has ended

    @classmethod
    def unknown(cls, size: int) -> "Levels":
        """Levels without any history."""
        zeros = jnp.zeros(size, jnp.int32)
        return cls(jnp.zeros(size, jnp.float32), zeros > 0, zeros, jnp.full(size, NEVER_ENDED, jnp.float32))


class Unfinished(struct.PyTreeNode):
    """Sums over the unfinished episodes of B rows, since an update is only a part of a long episode."""

    total: jax.Array  # [B] float32, of max(A, 0) or of V(s), by the score
    steps: jax.Array  # [B] float32

    @classmethod
    def none(cls, rows: int) -> "Unfinished":
        """Nothing has been played."""
        return cls(jnp.zeros(rows, jnp.float32), jnp.zeros(rows, jnp.float32))


def scored(
    levels: Levels,
    unfinished: Unfinished,
    steps: Transition,
    advantage: jax.Array,
    updates: jax.Array,
    *,
    settings: Curriculum,
    reward_scale: jax.Array | float,
) -> tuple[Levels, Unfinished]:
    """The levels with the scores of the episodes that an update ended, and the sums of unfinished episodes.

    positive value loss: mean over all steps of these episodes of max(A, 0)
    MaxMC:               mean over all their steps of R_max - V(s), where R_max is the greatest return so far

    Args:
        levels: as they were.
        unfinished: the sums of these episodes before the update.
        steps: of the update, [T, B], with their scenarios and returns.
        advantage: [T, B] float32, in scaled reward.
        updates: [] int32, the number of this update.
        settings: which score.
        reward_scale: of the returns.
    """
    is_max_mc = settings.level_score == "max_mc"
    told = steps.value if is_max_mc else jnp.maximum(advantage, 0.0)
    unfinished, (totals, lengths) = _of_episodes(unfinished, told, steps.ended)

    size, index = levels.score.shape[0], steps.scenario.ravel()
    returns = jnp.where(steps.ended, steps.episode_return * reward_scale, NEVER_ENDED).ravel()
    best = jnp.maximum(levels.best_return, jax.ops.segment_max(returns, index, size))
    count = jax.ops.segment_sum(lengths.ravel(), index, size)
    mean = jax.ops.segment_sum(totals.ravel(), index, size) / jnp.maximum(count, 1.0)
    has_ended = count > 0
    is_played = jax.ops.segment_sum(jnp.ones_like(index), index, size) > 0
    levels = Levels(
        score=jnp.where(has_ended, best - mean if is_max_mc else mean, levels.score),
        is_scored=levels.is_scored | has_ended,
        played=jnp.where(is_played, updates, levels.played),
        best_return=best,
    )
    return levels, unfinished


def _of_episodes(
    unfinished: Unfinished, told: jax.Array, ended: jax.Array
) -> tuple[Unfinished, tuple[jax.Array, jax.Array]]:
    """Unfinished sums, and ([T, B] sum, [T, B] number) of all steps of episodes that end with a step, 0 elsewhere."""

    def step(so_far: Unfinished, step: tuple[jax.Array, jax.Array]) -> tuple[Unfinished, tuple[jax.Array, jax.Array]]:
        told, ended = step
        total, steps = so_far.total + told, so_far.steps + 1
        of_ended = jnp.where(ended, total, 0.0), jnp.where(ended, steps, 0.0)
        return Unfinished(total - of_ended[0], steps - of_ended[1]), of_ended

    return lax.scan(step, unfinished, (told, ended))


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
        levels: their scores and history.
        live: [...] int32, the scenarios in play; they are kept.
        updates: [] int32, updates done so far.
        config: how scenarios are generated, and how many are kept.
        env: the environment.
    """
    settings, size = config.curriculum, bank.size
    is_live = jnp.zeros(size, bool).at[live.ravel()].set(True)
    is_best = levels.is_scored & (ranks(levels) <= int(settings.replay_share * size))
    choose = functools.partial(jax.vmap(select), is_live | is_best)
    levels = choose(levels, Levels.unknown(size))
    new = generate_bank(env, key, count=size, difficulty=config.training.difficulty)
    scenarios = choose(bank.scenarios, new.scenarios)
    weights = start_weights(levels, ~(is_live | is_best), updates, settings)
    return bank.replace(scenarios=scenarios).with_start_weights(weights), levels


def summary(bank: ScenarioBank, before: Levels, after: Levels) -> dict[str, jax.Array]:
    """Name -> [] float32: the recorded metrics of a curriculum.

    replay_share: probability that a start replays a scenario which has a score
    replay_score: mean score of replayed scenarios, by their probabilities; 0 while there are none
    level_score:  mean of all scores, those of this update among them

    Args:
        bank: S scenarios, with the probabilities of the starts of an update.
        before: the levels before the update.
        after: the levels after it.
    """
    replayed = jnp.where(before.is_scored, bank.start_probabilities, 0.0)
    scored = _normalized(after.is_scored.astype(jnp.float32))
    return {
        "replay_share": jnp.sum(replayed),
        "replay_score": jnp.sum(_normalized(replayed) * before.score),
        "level_score": jnp.sum(scored * after.score),
    }


def ranks(levels: Levels) -> jax.Array:
    """[S] int32: 1 for the greatest score among those that are scored, the others after them."""
    order = jnp.argsort(jnp.where(levels.is_scored, -levels.score, jnp.inf))
    return jnp.zeros_like(order).at[order].set(jnp.arange(1, order.shape[0] + 1))


def start_weights(levels: Levels, is_new: jax.Array, updates: jax.Array, settings: Curriculum) -> jax.Array:
    """[S] float32, the probabilities of starts: by replay over scored scenarios, and uniform over new ones."""
    replay, new = replay_weights(levels, updates, settings), _normalized(is_new.astype(jnp.float32))
    share = jnp.where(jnp.any(is_new), jnp.where(jnp.any(levels.is_scored), settings.replay_share, 0.0), 1.0)
    weights = share * replay + (1.0 - share) * new
    return jnp.where(jnp.sum(weights) > 0, weights, 1.0)  # all are in play for the first time


def replay_weights(levels: Levels, updates: jax.Array, settings: Curriculum) -> jax.Array:
    """[S] float32, the probabilities of replay, 0 where nothing is scored: eq. 1 to 3 of Jiang et al. 2021.

    P_replay = (1 - staleness) P_score + staleness P_stale, where P_score is proportional to
    (1 / rank)^(1 / temperature), and P_stale to the updates since a scenario was played.
    """
    rank = ranks(levels).astype(jnp.float32)
    by_score = jnp.where(levels.is_scored, jnp.exp(-jnp.log(rank) / settings.rank_temperature), 0.0)
    since = jnp.where(levels.is_scored, (updates - levels.played).astype(jnp.float32), 0.0)
    by_score, by_age = _normalized(by_score), _normalized(since)
    return jnp.where(jnp.sum(since) > 0, (1 - settings.staleness) * by_score + settings.staleness * by_age, by_score)


def _normalized(weights: jax.Array) -> jax.Array:
    return weights / jnp.maximum(jnp.sum(weights), jnp.finfo(jnp.float32).tiny)
