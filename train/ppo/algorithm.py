"""PPO as one pure function of its state: collect, estimate, learn.

`update` composes: a scan of it is a superstep, `jax.vmap` over its state trains several seeds, over `Hyper` it is a
sweep. It is written for one lane (see `train.lanes`); shared state is averaged in `learner.gradient_step` alone.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.experience.lane import LaneState, score_scenarios
from train.experience.rollout import Transition, collect
from train.experience.teacher import make_teacher
from train.lanes import Lanes
from train.learning.algorithm import Metrics
from train.learning.returns import counted, estimated, scaled
from train.learning.state import SPECS, TrainState, begin
from train.learning.updates import Update, compiled, not_finite_terms, over_lanes
from train.networks.layers import Sequences
from train.networks.normalization import with_new_statistics
from train.networks.policy import Reader
from train.ppo.learner import DIRECTION, explained_variance, gradient_step, learn
from train.ppo.losses import Batch
from train.settings.config import Config
from train.settings.groups import Hyper


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> init = functools.partial(train.init, config=train.preset("LifeOps-v0"), env=env)
    >>> state = jax.eval_shape(init, jax.random.key(0), params)  # its shapes: nothing runs
    >>> state.lanes.envs.is_counted.shape  # lanes, environments
    (1, 1024)
    """
    return begin(key, env_params, direction=DIRECTION, config=config, env=env, lanes=lanes)


def make_update(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): one rollout, and learning from it.

    It reads from `config` only sizes, the length of the schedules, how scenarios are generated, and who teaches; the
    hyperparameters come as `hyper`. If the loss or its gradient is not finite, the update is not made: the state stays
    as it was, but for the bank, which is renewed to the same when the update is tried again. The metrics say so.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> _, metrics = jax.eval_shape(train.make_update(config, env), state, params, config.hyper)
    >>> sorted(metrics.not_finite)
    ['approx_kl', 'clip_fraction', 'entropy', 'grad_norm', 'policy_loss', 'value_loss']
    """
    sizes, lanes = config.of_a_lane, lanes or Lanes(config.rollout.num_lanes)

    def learn_lane(keys: list[Key], lane: LaneState, shared: TrainState, reader: Reader, hyper: Hyper) -> Any:
        rollout_key, shuffle_key = keys
        envs, steps, last_value, totals = collect(
            rollout_key,
            shared.weights,
            lane.envs,
            reader,
            sizes.rollout,
            teacher=make_teacher(config, hyper, reader, shared.weights),
            with_scenarios=lane.levels is not None,
        )
        scaled_steps = steps.replace(reward=scaled(steps.reward, shared.returns))
        batch = estimate(scaled_steps, last_value, hyper, lane.envs.carry)
        size = sizes.rollout.samples_at_once
        step = functools.partial(gradient_step, reader=reader, hyper=hyper, microbatch_size=size, lanes=lanes)
        before = shared.weights, shared.optimizer
        (weights, optimizer), terms, means = learn(shuffle_key, before, batch, step, sizes.rollout, hyper.target_kl)

        scored, recorded = score_scenarios(lane, steps, batch.advantage, shared.updates, config=sizes, hyper=hyper)
        so_far, returns = counted(lane.return_so_far, shared.returns, steps, hyper.gamma, lanes)
        weights = with_new_statistics(weights, reader.features, steps.observation, lanes)
        means |= {
            "explained_variance": explained_variance(batch.value, batch.target, lanes),
            "learning_rate": jnp.asarray(hyper.learning_rate),
            "entropy_coef": jnp.asarray(hyper.entropy_coef),
        }
        metrics = Metrics(lanes.sum(totals), means | lanes.mean(recorded), not_finite_terms(terms))
        lane = scored.replace(envs=envs, return_so_far=so_far)
        return lane, shared.replace(weights=weights, optimizer=optimizer, returns=returns), metrics

    return over_lanes(learn_lane, config, env, lanes)


def make_superstep(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> superstep = train.make_superstep(config, env)  # state, metrics = superstep(state, params, config.hyper)
    >>> _, metrics = jax.eval_shape(superstep, state, params, config.hyper)
    >>> metrics.means["entropy"].shape  # updates
    (8,)
    """
    return compiled(make_update(config, env, lanes), SPECS, config, lanes)


def estimate(steps: Transition, last_value: jax.Array, hyper: Hyper, carry: jax.Array | None = None) -> Batch:
    """A batch [T, B]: the steps with their advantages and value targets, see `estimated`.

    Args:
        steps: of the rollout, [T, B].
        last_value: [B] float32, V(observation after the last step).
        hyper: the hyperparameters.
        carry: [B, H] float32, of the network's memory when the rollout began; None without memory.
    """
    sequences = None if carry is None else Sequences.after(carry, steps.ended)
    acted = steps.observation, steps.action, steps.log_prob, steps.value
    return Batch(*acted, *estimated(steps, last_value, hyper), steps.taught, sequences)
