"""The reward of one step: named parts, each a weight times what the step did (docs/rules/teamsclone.md, section 3)."""

import functools

import jax
import jax.numpy as jnp

from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.dynamics import TIMELY, Deed
from jaxenv.envs.teamsclone.types import RewardParts, RewardWeights

CLASSIC = RewardWeights(
    send=0.1,
    mention_response=0.5,
    switch=0.05,
    react=0.05,
    join_call=0.3,
    empty_message=-0.2,
    invalid_channel=-0.3,
    invalid_action=-0.1,
    spam=-0.5,
    timely_response=0.2,
    channel_engagement=0.1,
    presence=0.05,
)
_PENALTIES = {"empty_message": -0.2, "invalid_channel": -0.3, "invalid_action": -0.1, "spam": -0.5}
_NOTHING = RewardWeights(**dict.fromkeys(RewardWeights.__dataclass_fields__, 0.0))
MENTIONS: RewardWeights = _NOTHING.replace(**_PENALTIES, mention_response=1.0)
TASK_WEIGHTS = (1.0, 1.0, 0.5)  # of mentions, meetings and exploration


def multi_task(mentions: float, meetings: float, exploration: float) -> RewardWeights:
    """The weights of the multi-task variant: a weighted sum of three tasks, and the penalties as they are."""
    return _NOTHING.replace(
        **_PENALTIES,
        mention_response=mentions * CLASSIC.mention_response,
        timely_response=mentions * CLASSIC.timely_response,
        join_call=meetings * CLASSIC.join_call,
        switch=exploration * CLASSIC.switch,
        react=exploration * CLASSIC.react,
        channel_engagement=exploration * CLASSIC.channel_engagement,
    )


def reward_parts(weights: RewardWeights, deeds: Deed) -> RewardParts:
    """The named terms of one step, [N] float32 each."""
    move = deeds.move
    refused = ~move.legal
    is_empty, is_unknown = move.verb == actions.EMPTY_MESSAGE, move.verb == actions.UNKNOWN_CHANNEL
    done = RewardParts(
        send=move.sends & ~deeds.is_spam,
        mention_response=deeds.answers,
        switch=deeds.enters,
        react=move.reacts,
        join_call=move.joins,
        empty_message=is_empty,
        invalid_channel=is_unknown,
        invalid_action=refused & ~is_empty & ~is_unknown,
        spam=deeds.is_spam,
        timely_response=deeds.answers & (deeds.age <= TIMELY),
        channel_engagement=deeds.engages,
        presence=deeds.is_present,
    )
    amounts = RewardParts(**{name: getattr(weights, name) for name in RewardParts.__dataclass_fields__})
    return jax.tree.map(lambda is_done, amount: jnp.where(is_done, jnp.float32(amount), 0.0), done, amounts)


def share(parts: RewardParts, shared_reward: jax.Array) -> RewardParts:
    """Each agent's parts ([N]) blended with their mean over agents; `shared_reward` is [] in 0 .. 1."""
    return jax.tree.map(lambda part: part + shared_reward * (jnp.mean(part) - part), parts)


def total(parts: RewardParts) -> jax.Array:
    """[N] float32: the sum of the parts, in the order of their fields."""
    return functools.reduce(jnp.add, jax.tree.leaves(parts))
