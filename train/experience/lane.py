"""The state of a lane, one share of the environments, and the scenarios that its episodes start in.

PPO, PQN and DQN alike renew these scenarios before they collect an update: from the generator, or by a curriculum.
"""

import functools
from typing import Any

import jax
from flax import struct
from jax import lax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics
from train.experience import curriculum, rollout
from train.experience.bank import renew
from train.settings.config import Config
from train.settings.groups import Hyper


class LaneState(struct.PyTreeNode):
    """The separate state of each lane."""

    envs: rollout.RolloutState
    bank: ScenarioBank | None  # generated scenarios, played instead of those in the params
    key: Key
    levels: curriculum.Levels | None = None  # the scores of the bank's scenarios; None without a curriculum
    unfinished: curriculum.Unfinished | None = None  # sums over each row's episode, for these scores
    return_so_far: jax.Array | None = None  # [B] float32, discounted, of each row's episode; None if not needed
    buffer: Any = None  # of replay, such as `train.dqn.replay.Buffer`; None without one


def renew_scenarios(key: Key, lane: LaneState, updates: jax.Array, *, config: Config, env: Environment) -> LaneState:
    """The lane with the scenarios that the next update starts episodes in: by the curriculum, or new ones if it is due.

    Under `jax.vmap` over seeds a new bank is generated in every update, due or not; with `refresh` 1 it always is due.

    Args:
        key: random key.
        lane: after the update before.
        updates: [] int32, updates done so far.
        config: of the lane: how often and how scenarios are generated, and by which curriculum they are replayed.
        env: the environment.
    """
    interval = config.training.refresh
    if lane.bank is None or interval == 0:
        return lane
    live = jax.vmap(EpisodeStatistics(env).scenario_index)(lane.envs.state)
    like = {"live": live, "config": config, "env": env}
    if lane.levels is not None:
        bank, levels = curriculum.renewed(key, lane.bank, lane.levels, updates=updates, **like)
        return lane.replace(bank=bank, levels=levels)
    is_due = (updates > 0) & (updates % interval == 0)
    return lane.replace(bank=lax.cond(is_due, functools.partial(renew, key, **like), lambda bank: bank, lane.bank))


def score_scenarios(
    lane: LaneState,
    steps: rollout.Transition,
    advantage: jax.Array,
    updates: jax.Array,
    *,
    config: Config,
    hyper: Hyper,
) -> tuple[LaneState, dict[str, jax.Array]]:
    """(the lane with the scores of the scenarios that an update played, the metrics of the curriculum: name -> []).

    Args:
        lane: before the update; without a curriculum it stays unchanged, and there are no metrics.
        steps: of the update, [T, B].
        advantage: [T, B] float32, in scaled reward.
        updates: [] int32, updates done so far.
        config: which score the curriculum uses.
        hyper: how rewards are scaled.
    """
    if lane.bank is None or lane.levels is None or lane.unfinished is None:
        return lane, {}
    settings = {"settings": config.curriculum, "reward_scale": hyper.reward_scale}
    levels, unfinished = curriculum.scored(lane.levels, lane.unfinished, steps, advantage, updates, **settings)
    return lane.replace(levels=levels, unfinished=unfinished), curriculum.summary(lane.bank, lane.levels, levels)
