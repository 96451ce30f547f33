"""PQN (Gallici et al. 2024, "Simplifying Deep Temporal Difference Learning", arXiv 2407.04811): Q(lambda) on rollouts.

An update collects epsilon-greedily, computes Q(lambda) returns from the values at that time, and regresses on them in
several epochs of minibatches. There is no replay buffer and no target network: layer normalization keeps it stable,
which is a setting of the network. It is written for one lane, see `train.lanes`.
"""

import functools
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.experience import rollout
from train.experience.bank import refresh, with_bank
from train.lanes import Lanes
from train.learning.gradients import passes
from train.learning.q_learning import Metrics, epsilon_of, exploring, network_of
from train.learning.returns import lambda_returns, true_next_values
from train.learning.state import SPECS, LaneState, TrainState, begin, on_one_device
from train.learning.updates import Update, compiled, linear
from train.networks.reader import Reader
from train.pqn import learner
from train.pqn.learner import Batch
from train.settings.config import Config
from train.settings.groups import Hyper


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update.

    Raises:
        ValueError: for a network with a recurrent core.
    """
    network_of(config, env.num_actions)
    optimizer = learner.make_optimizer(config.hyper.max_grad_norm)
    return begin(key, env_params, optimizer=optimizer, config=config, env=env, lanes=lanes)


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
    >>> sorted(metrics.means())
    ['epsilon', 'grad_norm', 'learning_rate', 'q_value', 'td_loss']
    """
    network, sizes = network_of(config, env.num_actions), config.of_a_lane
    lanes = lanes or on_one_device(config)

    def update_lane(lane: LaneState, learned: Any, updates: jax.Array, env_params: Any, hyper: Hyper) -> Any:
        key, bank_key, rollout_key, shuffle_key = jax.random.split(lane.key, 4)
        bank = refresh(bank_key, lane.bank, env_state=lane.envs.state, updates=updates, config=sizes, env=env)
        reader = Reader(network, env, with_bank(env_params, bank))
        progress = updates / config.num_updates
        epsilon = epsilon_of(config.q, progress)
        learning_rate = linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        envs, steps, last_value, totals = rollout.collect(
            rollout_key, learned[0], lane.envs, reader, sizes.rollout, explore=exploring(epsilon)
        )
        step = functools.partial(
            learner.gradient_step,
            reader=reader,
            hyper=hyper,
            learning_rate=learning_rate,
            microbatch_size=sizes.rollout.samples_at_once,
            lanes=lanes,
        )
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), estimate(steps, last_value, hyper))
        like = {"epochs": sizes.rollout.epochs, "minibatch_size": sizes.rollout.minibatch_size}
        following, terms = passes(shuffle_key, learned, rows, step, **like)
        metrics = Metrics.of(terms, totals, lanes, learning_rate=learning_rate, epsilon=epsilon)
        before, after = (lane.envs, lane.key, learned, updates), (envs, key, following, updates + 1)
        envs, key, learned, updates = select(metrics.failed, before, after)
        return LaneState(envs, bank, key), (learned, updates, metrics)

    def update(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        learned = (state.weights, state.optimizer)
        of_lanes, (learned, updates, metrics) = lanes.map(update_lane)(
            state.lanes, learned, state.updates, env_params, hyper
        )
        weights, optimizer = learned
        return TrainState(weights, optimizer, of_lanes, updates), metrics

    return update


def make_superstep(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state."""
    return compiled(make_update(config, env, lanes), SPECS, config, lanes)


def estimate(steps: rollout.Transition, last_value: jax.Array, hyper: Hyper) -> Batch:
    """A batch [T, B]: the steps with their Q(lambda) returns, in scaled reward.

    Where truncated episodes were not valued, the time limit counts as termination.
    """
    bootstraps = steps.final_value is not None
    targets = lambda_returns(
        rewards=steps.reward * hyper.reward_scale,
        next_values=true_next_values(steps.value, last_value, steps.final_value, steps.truncated),
        terminated=steps.terminated if bootstraps else steps.terminated | steps.truncated,
        truncated=steps.truncated,
        gamma=hyper.gamma,
        weight=hyper.gae_lambda,
    )
    return Batch(observation=steps.observation, action=steps.action, target=targets)
