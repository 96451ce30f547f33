"""A gradient step of DQN: values of actions move towards one-step targets, and the target network follows."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax

from train.dqn.replay import Step
from train.lanes import Lanes
from train.learning.q_learning import value_of
from train.learning.state import TrainState
from train.learning.updates import Terms, descend
from train.networks.policy import Reader
from train.settings.config import Config
from train.settings.groups import Hyper, QLearning

DIRECTION = optax.scale_by_adam()


def targets(weights: Any, target: Any, batch: Step, *, reader: Reader, hyper: Hyper, settings: QLearning) -> jax.Array:
    """[N] float32: r + gamma max_a Q_target(s', a) over the legal actions, or r where nothing follows.

    With `double_q` it is Q_target(s', argmax_a Q(s', a)) (van Hasselt et al. 2016). Rewards are scaled.
    """
    policy, critic = reader(target, batch.following)
    value = critic.value
    if settings.double_q:
        chosen, _ = reader(weights, batch.following)
        value = value_of(policy, critic, chosen.mode())
    return batch.reward * hyper.reward_scale + hyper.gamma * jnp.where(batch.is_last, 0.0, value)


def huber(
    weights: Any, batch: Step, *, target: Any, reader: Reader, hyper: Hyper, settings: QLearning
) -> tuple[jax.Array, Terms]:
    """(mean Huber loss, its terms), each [] float32: errors beyond 1 are clipped, as in Mnih et al. 2015."""
    wanted = jax.lax.stop_gradient(targets(weights, target, batch, reader=reader, hyper=hyper, settings=settings))
    found = value_of(*reader(weights, batch.observation), batch.action)
    loss = jnp.mean(optax.huber_loss(found, wanted))
    return loss, {"td_loss": loss, "q_value": jnp.mean(found)}


def gradient_step(
    state: TrainState, step: tuple[jax.Array, Step], *, reader: Reader, hyper: Hyper, sizes: Config, lanes: Lanes
) -> tuple[TrainState, Terms]:
    """One optimizer step: (the state with other weights, those of the target network too; terms of the loss).

    Args:
        state: shared by all lanes.
        step: the number of this step ([] int32, from 0), and its samples, of which each lane has [N].
        reader: the network, and the environment that it acts in.
        hyper: the hyperparameters.
        sizes: of a lane: the samples at once, how targets are computed, and when the target network follows.
        lanes: over which gradients are averaged.
    """
    (number, batch), size = step, sizes.rollout.samples_at_once
    loss = functools.partial(huber, target=state.target, reader=reader, hyper=hyper, settings=sizes.q)
    before = state.weights, state.optimizer
    (weights, optimizer), terms = descend(
        before, batch, loss=loss, direction=DIRECTION, hyper=hyper, microbatch_size=size, lanes=lanes
    )
    target = follow(state.target, weights, number, sizes.q)
    return state.replace(weights=weights, optimizer=optimizer, target=target), terms


def follow(target: Any, weights: Any, number: jax.Array, settings: QLearning) -> Any:
    """The target network after gradient step `number` ([] int32, from 0): nearer to the weights if that is due."""
    nearer = optax.incremental_update(weights, target, settings.target_rate)
    is_due = (number + 1) % settings.target_period == 0
    return jax.tree.map(lambda new, old: jnp.where(is_due, new, old), nearer, target)
