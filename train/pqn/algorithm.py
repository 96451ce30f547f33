"""PQN (Gallici et al. 2024, "Simplifying Deep Temporal Difference Learning", arXiv 2407.04811): Q(lambda) on rollouts.

An update collects epsilon-greedily, computes Q(lambda) returns from the values at that time, and regresses on them in
several epochs of minibatches. There is no replay buffer and no target network: layer normalization keeps it stable,
which is a setting of the network. It is written for one lane, see `train.lanes`.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.experience.lane import LaneState
from train.experience.rollout import Transition, collect
from train.lanes import Lanes
from train.learning.q_learning import epsilon_of, exploring, metrics_of, value_of
from train.learning.returns import estimated
from train.learning.state import SPECS, TrainState, begin
from train.learning.updates import Terms, Update, compiled, descend, over_lanes, passes
from train.networks.policy import Reader
from train.settings.config import Config
from train.settings.groups import Hyper

DIRECTION = optax.scale_by_radam()  # rectified Adam (Liu et al. 2020)


class Batch(struct.PyTreeNode):
    """Training samples, with leading axes [T, B] as collected, and as shuffled [N]."""

    observation: Any  # the record in which the action was taken, its mask included
    action: jax.Array  # [...] int32
    target: jax.Array  # [...] float32, the return that Q(observation, action) is to be


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update; the network is one without memory."""
    return begin(key, env_params, direction=DIRECTION, config=config, env=env, lanes=lanes)


def make_update(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): one rollout, and learning from it.

    If the loss or its gradient is not finite, the update is not made: the state stays as it was, but for the bank. The
    metrics say so.

    >>> import functools, jax, jaxenv, train
    >>> from train import pqn
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(pqn.init, config=config, env=env), jax.random.key(0), params)
    >>> _, metrics = jax.eval_shape(pqn.make_update(config, env), state, params, config.hyper)
    >>> sorted(metrics.means)
    ['epsilon', 'grad_norm', 'learning_rate', 'q_value', 'td_loss']
    """
    sizes, lanes = config.of_a_lane, lanes or Lanes(config.rollout.num_lanes)

    def learn_lane(keys: list[Key], lane: LaneState, shared: TrainState, reader: Reader, hyper: Hyper) -> Any:
        rollout_key, shuffle_key = keys
        epsilon = epsilon_of(config.q, shared.updates / config.num_updates)
        envs, steps, last_value, totals = collect(
            rollout_key, shared.weights, lane.envs, reader, sizes.rollout, explore=exploring(epsilon)
        )
        batch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), estimate(steps, last_value, hyper))
        loss, size = functools.partial(squared_error, reader=reader), sizes.rollout.samples_at_once
        step = functools.partial(
            descend, loss=loss, direction=DIRECTION, hyper=hyper, microbatch_size=size, lanes=lanes
        )
        like = {"epochs": sizes.rollout.epochs, "minibatch_size": sizes.rollout.minibatch_size}
        (weights, optimizer), terms = passes(shuffle_key, (shared.weights, shared.optimizer), batch, step, **like)

        metrics = metrics_of(terms, lanes.sum(totals), hyper, epsilon)
        return lane.replace(envs=envs), shared.replace(weights=weights, optimizer=optimizer), metrics

    return over_lanes(learn_lane, config, env, lanes)


def make_superstep(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state."""
    return compiled(make_update(config, env, lanes), SPECS, config, lanes)


def estimate(steps: Transition, last_value: jax.Array, hyper: Hyper) -> Batch:
    """A batch [T, B]: the steps with their Q(lambda) returns, see `estimated`."""
    _, target = estimated(steps, last_value, hyper)
    return Batch(observation=steps.observation, action=steps.action, target=target)


def squared_error(weights: Any, batch: Batch, *, reader: Reader) -> tuple[jax.Array, Terms]:
    """(0.5 mean (Q(s, a) - G)^2, its terms), each [] float32."""
    found = value_of(*reader(weights, batch.observation), batch.action)
    loss = 0.5 * jnp.mean(jnp.square(found - batch.target))
    return loss, {"td_loss": loss, "q_value": jnp.mean(found)}
