"""PPO as one pure function of its state: collect, estimate, learn.

`update` composes: a scan of it is a superstep, `jax.vmap` over its state trains several seeds, over `Hyper` it is a
sweep. It is written for one lane (see `train.lanes`); what lanes share is averaged in `learner.gradient_step` alone.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics
from train.experience import rollout
from train.experience.bank import refresh, with_bank
from train.experience.curriculum import Levels, Played, Unfinished, observed, renewed, summary
from train.lanes import Lanes
from train.learning.gradients import not_finite_terms
from train.learning.returns import generalized_advantages, true_next_values
from train.learning.state import SPECS, LaneState, TrainState, begin, on_one_device
from train.learning.updates import Update, compiled, linear
from train.networks.memory import Sequences
from train.networks.network import make_network
from train.networks.normalized import with_new_statistics
from train.networks.reader import Reader
from train.ppo import early_stop, learner, reward_scale
from train.ppo.losses import Batch, Losses
from train.settings.config import Config
from train.settings.groups import Curriculum, Hyper


class Metrics(struct.PyTreeNode):
    """Metrics of one update, or of several with a leading axis."""

    totals: rollout.EpisodeTotals
    losses: Losses  # means over the minibatches
    grad_norm: jax.Array  # [] float32, before clipping, mean over the minibatches
    not_finite: dict[str, jax.Array]  # term -> [] bool, NaN or infinite; if any is, the update was not made
    explained_variance: jax.Array  # [] float32, 1 - Var(target - value) / Var(target)
    learning_rate: jax.Array  # [] float32
    entropy_coef: jax.Array  # [] float32
    steps_made: jax.Array | None = None  # [] float32, share of the gradient steps; None without a target KL divergence
    curriculum: dict[str, jax.Array] | None = None  # name -> [] float32, see `summary`; None if starts are uniform

    def means(self) -> dict[str, jax.Array]:
        """Name -> what a run averages over updates."""
        own = ("grad_norm", "explained_variance", "learning_rate", "entropy_coef", "steps_made")
        values = {**vars(self.losses), **{name: getattr(self, name) for name in own}, **(self.curriculum or {})}
        return {name: value for name, value in values.items() if value is not None}


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> init = functools.partial(train.init, config=train.preset("LifeOps-v0"), env=env)
    >>> state = jax.eval_shape(init, jax.random.key(0), params)  # its shapes: nothing runs
    >>> state.lanes.envs.is_counted.shape  # lanes, environments
    (1, 1024)
    """
    optimizer = learner.make_optimizer(config.hyper.max_grad_norm)
    return begin(key, env_params, optimizer=optimizer, config=config, env=env, lanes=lanes)


def make_update(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): one rollout, and learning from it.

    It reads from `config` only sizes, the length of the schedules, and how scenarios are generated; the
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
    network, sizes = make_network(config.network, env.num_actions), config.of_a_lane
    lanes = lanes or on_one_device(config)

    def update_lane(lane: LaneState, learned: Any, shared: Any, env_params: Any, hyper: Hyper) -> Any:
        updates, returns = shared[0], reward_scale.Returns(lane.return_so_far, shared[1])
        key, bank_key, rollout_key, shuffle_key = jax.random.split(lane.key, 4)
        bank, levels = next_bank(bank_key, lane, updates, config=sizes, env=env)
        reader = Reader(network, env, with_bank(env_params, bank))
        envs, steps, last_value, totals = rollout.collect(
            rollout_key, learned[0], lane.envs, reader, sizes.rollout, with_scenarios=levels is not None
        )
        scaled = steps.replace(reward=reward_scale.scale(steps.reward, returns))
        batch = estimate(scaled, last_value, hyper).replace(memory=memory_of(lane.envs, steps))
        progress = updates / config.num_updates
        learning_rate = linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        entropy_coef = linear(hyper.entropy_coef, hyper.entropy_coef_end, progress)
        hyper = hyper.replace(clip=clip_at(hyper, progress))
        step = functools.partial(
            learner.gradient_step,
            reader=reader,
            hyper=hyper,
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
            microbatch_size=sizes.rollout.samples_at_once,
            lanes=lanes,
        )
        following, terms, (losses, grad_norm), steps_made = early_stop.learn(
            shuffle_key, learned, batch, step, sizes.rollout, hyper.target_kl
        )
        known = levels, lane.unfinished
        scored, told = after_play(bank, *known, played(steps, batch, hyper), updates, sizes.curriculum)
        metrics = Metrics(
            totals=lanes.sum(totals),
            losses=losses,
            grad_norm=grad_norm,
            not_finite=not_finite_terms({**vars(terms[0]), "grad_norm": terms[1]}),
            explained_variance=learner.explained_variance(batch.value, batch.target, lanes),
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
            steps_made=steps_made,
            curriculum=None if told is None else lanes.mean(told),
        )
        weights = with_new_statistics(following[0], reader.features, steps.observation, lanes)
        ended = steps.terminated | steps.truncated
        counted = reward_scale.after(returns, steps.reward, ended, hyper.gamma, lanes)
        failed = jnp.any(jnp.stack(list(metrics.not_finite.values())))
        before = lane.envs, lane.key, known, learned, updates, returns
        after = envs, key, scored, (weights, following[1]), updates + 1, counted
        envs, key, known, learned, updates, returns = select(failed, before, after)
        return LaneState(envs, bank, key, *known, returns.so_far), (learned, (updates, returns.moments), metrics)

    def update(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        learned = (state.weights, state.optimizer)
        shared = (state.updates, state.returns)
        of_lanes, (learned, shared, metrics) = lanes.map(update_lane)(state.lanes, learned, shared, env_params, hyper)
        (weights, optimizer), (updates, returns) = learned, shared
        return TrainState(weights, optimizer, of_lanes, updates, returns), metrics

    return update


def make_superstep(config: Config, env: Environment, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> superstep = train.make_superstep(config, env)  # state, metrics = superstep(state, params, config.hyper)
    >>> _, metrics = jax.eval_shape(superstep, state, params, config.hyper)
    >>> metrics.losses.entropy.shape  # updates
    (8,)
    """
    return compiled(make_update(config, env, lanes), SPECS, config, lanes)


def estimate(steps: rollout.Transition, last_value: jax.Array, hyper: Hyper) -> Batch:
    """A batch [T, B]: the steps with their advantages and value targets, in scaled reward.

    Where truncated episodes were not valued, the time limit counts as termination.
    """
    bootstraps = steps.final_value is not None
    advantages, targets = generalized_advantages(
        rewards=steps.reward * hyper.reward_scale,
        values=steps.value,
        next_values=true_next_values(steps.value, last_value, steps.final_value, steps.truncated),
        terminated=steps.terminated if bootstraps else steps.terminated | steps.truncated,
        truncated=steps.truncated,
        gamma=hyper.gamma,
        gae_lambda=hyper.gae_lambda,
    )
    return Batch(
        observation=steps.observation,
        action=steps.action,
        log_prob=steps.log_prob,
        value=steps.value,
        advantage=advantages,
        target=targets,
    )


def next_bank(
    key: Key, lane: LaneState, updates: jax.Array, *, config: Config, env: Environment
) -> tuple[ScenarioBank | None, Levels | None]:
    """The scenarios of the next update, and what a curriculum knows of them."""
    if lane.bank is None or lane.levels is None:
        return refresh(key, lane.bank, env_state=lane.envs.state, updates=updates, config=config, env=env), None
    live = jax.vmap(EpisodeStatistics(env).scenario_index)(lane.envs.state)
    return renewed(key, lane.bank, lane.levels, live=live, updates=updates, config=config, env=env)


def played(steps: rollout.Transition, batch: Batch, hyper: Hyper) -> Played | None:
    """What a curriculum is told of an update; None where there is no curriculum."""
    if steps.scenario is None:
        return None
    ended, returns = steps.terminated | steps.truncated, steps.episode_return * hyper.reward_scale
    return Played(steps.scenario, batch.advantage, batch.value, returns, ended)


def after_play(
    bank: ScenarioBank | None,
    levels: Levels | None,
    unfinished: Unfinished | None,
    played: Played | None,
    updates: jax.Array,
    settings: Curriculum,
) -> tuple[tuple[Levels | None, Unfinished | None], dict[str, jax.Array] | None]:
    """What a curriculum knows after an update, and what is recorded of it."""
    if bank is None or levels is None or unfinished is None or played is None:
        return (None, None), None
    after, unfinished = observed(levels, unfinished, played, updates, settings)
    return (after, unfinished), summary(bank, levels, after)


def memory_of(envs: rollout.RolloutState, steps: rollout.Transition) -> Sequences | None:
    """What the sequences that began in `envs` need to be replayed; None without memory."""
    if envs.carry is None:
        return None
    ended = (steps.terminated | steps.truncated).T
    return Sequences(envs.carry, jnp.pad(ended[:, :-1], ((0, 0), (1, 0))))  # a carry is reset where it is stored


def clip_at(hyper: Hyper, progress: jax.Array | float) -> jax.Array | float:
    """The clipping range of an update; without a final value it stays as it is."""
    return hyper.clip if hyper.clip_end is None else linear(hyper.clip, hyper.clip_end, progress)
