"""DQN (Mnih et al. 2015), by default double (van Hasselt et al. 2016), for many environments at once.

An update collects T steps of E environments epsilon-greedily into the replay buffer of each lane. For each of them
`epochs` samples are drawn from the buffer, and a gradient step is made on each minibatch of samples. It is written for
one lane, see `train.lanes`.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.dqn import learner, replay
from train.experience.lane import LaneState
from train.experience.rollout import Transition, collect, observation_shapes
from train.lanes import BY_LANE, Lanes
from train.learning.q_learning import epsilon_of, exploring, metrics_of
from train.learning.state import SPECS, TrainState, begin
from train.learning.updates import Update, compiled, has_failed, over_lanes
from train.networks.policy import Reader
from train.settings.config import Config
from train.settings.groups import Hyper


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update; the network is one without memory.

    Raises:
        ValueError: for a buffer that cannot hold the steps of an update.
    """
    size, needed = config.q.buffer_size, config.rollout.batch_size * env.num_agents
    if size < needed:
        raise ValueError(f"buffer_size must be at least the {needed} steps that an update collects, got {size}")
    lanes = lanes or Lanes(config.rollout.num_lanes)
    state = begin(key, env_params, direction=learner.DIRECTION, config=config, env=env, lanes=lanes)
    record = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), observation_shapes(env, env_params))
    buffer = replay.empty(record, size // config.rollout.num_lanes)
    buffers = jax.tree.map(lambda x: jnp.repeat(x[None], config.rollout.num_lanes, axis=0), buffer)
    of_lanes = state.lanes.replace(buffer=lanes.put(buffers, BY_LANE))
    return state.replace(target=jax.tree.map(jnp.copy, state.weights), lanes=of_lanes)


def with_weights(state: TrainState, weights: Any) -> TrainState:
    """The state of a new run whose learning and target network start from other weights."""
    return state.replace(weights=weights, target=jax.tree.map(jnp.copy, weights))


def make_update(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): collecting, and learning from the buffer.

    If the loss or its gradient is not finite, the update is not made: the state stays as it was, but for the bank. The
    metrics say so. Until `learning_starts` steps are collected nothing is learned; metrics are those of a trial step.

    >>> import functools, jax, jaxenv, train
    >>> from train import dqn
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(dqn.init, config=config, env=env), jax.random.key(0), params)
    >>> state.lanes.buffer.steps.action.shape  # lanes, steps
    (1, 65536)
    >>> _, metrics = jax.eval_shape(dqn.make_update(config, env), state, params, config.hyper)
    >>> sorted(metrics.means)
    ['epsilon', 'grad_norm', 'learning_rate', 'q_value', 'td_loss']
    """
    sizes, lanes = config.of_a_lane, lanes or Lanes(config.rollout.num_lanes)
    rollout_size = sizes.rollout.batch_size * env.num_agents
    minibatches = sizes.rollout.epochs * rollout_size // sizes.rollout.minibatch_size
    first_to_learn = math.ceil(config.q.learning_starts / config.rollout.batch_size)

    def learn_lane(keys: list[Key], lane: LaneState, shared: TrainState, reader: Reader, hyper: Hyper) -> Any:
        (rollout_key, sample_key), updates = keys, shared.updates
        epsilon = epsilon_of(config.q, updates / config.num_updates)
        like = {"explore": exploring(epsilon), "keeps_following": True}
        envs, steps, _, totals = collect(rollout_key, shared.weights, lane.envs, reader, sizes.rollout, **like)
        added, overwritten = remembered(steps, config), replay.due(lane.buffer, rollout_size)
        filled = replay.add(lane.buffer, added)
        batches = replay.sample(sample_key, filled, (minibatches, sizes.rollout.minibatch_size))
        step = functools.partial(learner.gradient_step, reader=reader, hyper=hyper, sizes=sizes, lanes=lanes)
        numbers = updates * minibatches + jnp.arange(minibatches, dtype=jnp.int32)
        learned, terms = lax.scan(step, shared, (numbers, batches))
        learned = select(updates + 1 >= first_to_learn, learned, shared)

        metrics = metrics_of(terms, lanes.sum(totals), hyper, epsilon)
        buffer = replay.add_unless(has_failed(metrics), filled, lane.buffer, added, overwritten)
        return lane.replace(envs=envs, buffer=buffer), learned, metrics

    return over_lanes(learn_lane, config, env, lanes)


def make_superstep(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state."""
    return compiled(make_update(config, env, lanes), SPECS, config, lanes)


def remembered(steps: Transition, config: Config) -> replay.Step:
    """The steps of a rollout ([T, B]) as the buffer keeps them, [T * B].

    Unless truncated episodes are bootstrapped, the time limit counts as termination.
    """
    ends = steps.terminated if config.rollout.bootstrap_truncated else steps.ended
    kept = replay.Step(steps.observation, steps.action, steps.reward, steps.following, ends)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), kept)
