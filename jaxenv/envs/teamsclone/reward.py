"""The reward of one step, a row per term: its weight and the paid quantity (docs/rules/teamsclone.md, section 3)."""

from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core.printing import Compact
from jaxenv.core.terms import Weight, parts_type, preset, term
from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.dynamics import TIMELY


class RewardWeights(Compact):
    """The weight of each term, a [] float32 (or a Python float) each; zero switches a term off.

    A term is paid by an `ActionOutcome`, whose entries are [N] bool, but for the number `steps_left`.
    """

    send: Weight = term(lambda act: (act.move.sends, ~act.is_spam), doc="a message that is no spam", classic=0.1)
    mention_response: Weight = term(
        lambda act: act.answers, doc="the message answers a mention", classic=0.5, mentions=1.0
    )
    switch: Weight = term(
        lambda act: act.enters,
        doc="a switch to a channel of which the last paid entry is at least 20 steps ago; the start channel counts as "
        "paid at step 0, every other one has not been paid",
        classic=0.05,
    )
    react: Weight = term(lambda act: act.move.reacts, doc="a reaction", classic=0.05)
    join_call: Weight = term(lambda act: act.move.joins, doc="a join", classic=0.3)
    empty_message: Weight = term(
        lambda act: act.move.verb == actions.EMPTY_MESSAGE, doc="the empty message", classic=-0.2, mentions=-0.2
    )
    invalid_channel: Weight = term(
        lambda act: act.move.verb == actions.UNKNOWN_CHANNEL,
        doc="the switch to an unknown channel",
        classic=-0.3,
        mentions=-0.3,
    )
    invalid_action: Weight = term(
        lambda act: (~act.move.legal, act.move.verb != actions.EMPTY_MESSAGE, act.move.verb != actions.UNKNOWN_CHANNEL),
        doc="any other entry that is not legal",
        classic=-0.1,
        mentions=-0.1,
    )
    spam: Weight = term(lambda act: act.is_spam, doc="a message that is spam", classic=-0.5, mentions=-0.5)
    timely_response: Weight = term(
        lambda act: (act.answers, act.age <= TIMELY),
        doc="the answered mention is at most 2 steps old",
        classic=0.2,
    )
    channel_engagement: Weight = term(
        lambda act: act.engages,
        doc="a message that is no spam, into a channel in which nobody has posted for at least 10 steps (counted from "
        "step 0 at reset) and a teammate has posted since the agent's own last message there (initial messages count)",
        classic=0.1,
    )
    presence: Weight = term(
        lambda act: act.was_active,
        doc="a step before which the agent made at least two acts within the last 5 steps, whatever it does now",
        classic=0.05,
    )
    quota: Weight = term(
        lambda act: act.steps_left,
        doc="each step that is left of the time limit when the quota ends the episode",
    )


CLASSIC: RewardWeights = preset(RewardWeights, "classic")
MENTIONS: RewardWeights = preset(RewardWeights, "mentions")
QUOTA: RewardWeights = CLASSIC.replace(quota=0.2)
RewardParts = parts_type(RewardWeights)


def multi_task(mentions: float = 1.0, meetings: float = 1.0, exploration: float = 0.5) -> RewardWeights:
    """The weights of the multi-task variant: a weighted sum of three tasks, and the penalties as they are."""
    return MENTIONS.replace(
        mention_response=mentions * CLASSIC.mention_response,
        timely_response=mentions * CLASSIC.timely_response,
        join_call=meetings * CLASSIC.join_call,
        switch=exploration * CLASSIC.switch,
        react=exploration * CLASSIC.react,
        channel_engagement=exploration * CLASSIC.channel_engagement,
    )


def share(parts: Any, shared_reward: jax.Array) -> Any:
    """Each agent's parts ([N]) blended with their mean over agents; `shared_reward` is [] in 0 .. 1."""
    leaves, structure = jax.tree.flatten(parts)
    stacked = jnp.stack(leaves)  # one mean of a table is faster than a dozen means of rows
    means = jnp.mean(stacked, axis=1, keepdims=True)
    return jax.tree.unflatten(structure, list(stacked + shared_reward * (means - stacked)))
