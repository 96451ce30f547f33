"""PPO as one pure function of its state: collect, estimate, learn.

`update` composes: a scan of it is a superstep, `jax.vmap` over its state trains several seeds, over `Hyper` it is a
sweep. It is written for one lane (see `train.lanes`); what lanes share is averaged in `learner.gradient_step` alone.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import struct
from jax import lax

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.environment import select
from jaxenv.core.types import Key
from jaxenv.wrappers import EpisodeStatistics, Vectorize
from train.experience import rollout
from train.experience.bank import first_bank, refresh, with_bank
from train.experience.curriculum import Levels, Played, observed, renewed
from train.lanes import BY_LANE, SHARED, Lanes
from train.networks.memory import Sequences
from train.networks.network import make_network
from train.networks.policy import LearnedPolicy, make_policy
from train.networks.reader import Reader
from train.ppo import learner
from train.ppo.advantage import generalized_advantages, true_next_values
from train.ppo.losses import Batch, Losses
from train.settings.config import Config, Hyper


class LaneState(struct.PyTreeNode):
    """What each lane has of its own."""

    envs: rollout.RolloutState
    bank: ScenarioBank | None  # generated scenarios, played instead of those in the params
    key: Key
    levels: Levels | None = None  # what a curriculum knows of the bank


class TrainState(struct.PyTreeNode):
    """Everything that changes during a run."""

    weights: Any  # of the network, float32
    optimizer: optax.OptState
    lanes: LaneState  # with a leading axis L
    updates: jax.Array  # [] int32, done so far; environment steps are counted on the host, as Python ints


_FIELDS: dict[str, Any] = {"weights": SHARED, "optimizer": SHARED, "lanes": BY_LANE, "updates": SHARED}
SPECS = TrainState(**_FIELDS)  # where each part of it lies


class Metrics(struct.PyTreeNode):
    """Metrics of one update, or of several with a leading axis."""

    totals: rollout.EpisodeTotals
    losses: Losses  # means over the minibatches
    grad_norm: jax.Array  # [] float32, before clipping, mean over the minibatches
    not_finite: dict[str, jax.Array]  # term -> [] bool, NaN or infinite; if any is, the update was not made
    explained_variance: jax.Array  # [] float32, 1 - Var(target - value) / Var(target)
    learning_rate: jax.Array  # [] float32
    entropy_coef: jax.Array  # [] float32

    def means(self) -> dict[str, jax.Array]:
        """Name -> what a run averages over updates."""
        own = ("grad_norm", "explained_variance", "learning_rate", "entropy_coef")
        return {**vars(self.losses), **{name: getattr(self, name) for name in own}}


class LaneKeys(NamedTuple):
    """The keys of a lane's initial state."""

    envs: Key
    bank: Key
    run: Key


Update = Callable[[TrainState, Any, Hyper], tuple[TrainState, Metrics]]


def init(key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> TrainState:
    """The state before the first update.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> init = functools.partial(train.init, config=train.preset("LifeOps-v0"), env=env)
    >>> state = jax.eval_shape(init, jax.random.key(0), params)  # its shapes: nothing runs
    >>> state.lanes.envs.is_counted.shape  # lanes, environments
    (1, 1024)
    """
    sizes, lanes = config.of_a_lane, lanes or on_one_device(config)

    def start(keys: LaneKeys, env_params: Any) -> tuple[LaneState, None]:
        bank = first_bank(keys.bank, sizes, env, env_params)
        params = with_bank(env_params, bank)
        network = make_network(config.network, env.num_actions)
        like = {"num_envs": sizes.rollout.num_envs, "memory": network.memory}
        envs = rollout.initial_state(keys.envs, params, env=env, **like)
        levels = None if config.curriculum.is_uniform else Levels.unknown(sizes.num_scenarios)
        return LaneState(envs, bank, keys.run, levels), None

    def start_all(keys: LaneKeys, env_params: Any) -> LaneState:
        return lanes.map(start)(keys, env_params)[0]

    network_key, keys = _init_keys(key, config)
    started = lanes.on_devices(start_all, (BY_LANE, SHARED), BY_LANE)
    weights = initial_weights(network_key, env_params, config, env)
    optimizer = learner.make_optimizer(config.hyper.max_grad_norm).init(weights)
    shared = lanes.put((weights, optimizer, jnp.int32(0)), SHARED)
    state = TrainState(*shared[:2], started(lanes.put(keys, BY_LANE), lanes.put(env_params, SHARED)), shared[2])
    return _strip_weak_types(state)


def training_bank(key: Key, env_params: Any, *, config: Config, env: Environment) -> ScenarioBank | None:
    """The scenarios that training starts with: those of `init` with the same key, without the rest of the state.

    None if the scenarios are not generated and the params have no bank.
    """
    if not config.is_generated:
        return getattr(env_params, "bank", None)
    _, keys = _init_keys(key, config)
    sizes, banks = config.of_a_lane, []
    for lane in keys.bank:
        banks.append(with_bank(env_params, first_bank(lane, sizes, env, env_params)).bank)
    return banks[0].concatenate(*banks[1:]) if len(banks) > 1 else banks[0]


def policy_of(state: TrainState, *, config: Config, env: Environment) -> LearnedPolicy:
    """The policy that has been learned so far."""
    return make_policy(state.weights, make_network(config.network, env.num_actions), env)


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

    def update_lane(lane: LaneState, learned: Any, updates: jax.Array, env_params: Any, hyper: Hyper) -> Any:
        key, bank_key, rollout_key, shuffle_key = jax.random.split(lane.key, 4)
        bank, levels = next_bank(bank_key, lane, updates, config=sizes, env=env)
        reader = Reader(network, env, with_bank(env_params, bank))
        envs, steps, last_value, totals = rollout.collect(
            rollout_key, learned[0], lane.envs, reader, sizes.rollout, with_scenarios=levels is not None
        )
        batch = estimate(steps, last_value, hyper).replace(memory=memory_of(lane.envs, steps))
        progress = updates / config.num_updates
        learning_rate = linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        entropy_coef = linear(hyper.entropy_coef, hyper.entropy_coef_end, progress)
        step = functools.partial(
            learner.gradient_step,
            reader=reader,
            hyper=hyper,
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
            microbatch_size=sizes.rollout.samples_at_once,
            lanes=lanes,
        )
        following, terms = learner.learn(shuffle_key, learned, batch, step, sizes.rollout)
        losses, grad_norm = jax.tree.map(jnp.mean, terms)
        metrics = Metrics(
            totals=lanes.sum(totals),
            losses=losses,
            grad_norm=grad_norm,
            not_finite=learner.not_finite_terms(*terms),
            explained_variance=learner.explained_variance(batch.value, batch.target, lanes),
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
        )
        failed = jnp.any(jnp.stack(list(metrics.not_finite.values())))
        scored = None if levels is None else observed(levels, played(steps, batch, hyper), updates, sizes.curriculum)
        before = lane.envs, lane.key, levels, learned, updates
        envs, key, levels, learned, updates = select(failed, before, (envs, key, scored, following, updates + 1))
        return LaneState(envs, bank, key, levels), (learned, updates, metrics)

    def update(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        learned = (state.weights, state.optimizer)
        of_lanes, (learned, updates, metrics) = lanes.map(update_lane)(
            state.lanes, learned, state.updates, env_params, hyper
        )
        weights, optimizer = learned
        return TrainState(weights, optimizer, of_lanes, updates), metrics

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
    lanes = lanes or on_one_device(config)
    update = make_update(config, env, lanes)

    def superstep(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        length = config.rollout.updates_per_superstep
        return lax.scan(lambda state, _: update(state, env_params, hyper), state, length=length)

    on_devices = lanes.on_devices(superstep, (SPECS, SHARED, SHARED), (SPECS, SHARED))
    return jax.jit(on_devices, donate_argnums=0)


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


def played(steps: rollout.Transition, batch: Batch, hyper: Hyper) -> Played:
    """What a curriculum is told of an update."""
    ended, returns = steps.terminated | steps.truncated, steps.episode_return * hyper.reward_scale
    return Played(steps.scenario, batch.advantage, batch.value, returns, ended)


def memory_of(envs: rollout.RolloutState, steps: rollout.Transition) -> Sequences | None:
    """What the sequences that began in `envs` need to be replayed; None without memory."""
    if envs.carry is None:
        return None
    ended = (steps.terminated | steps.truncated).T
    return Sequences(envs.carry, jnp.pad(ended[:, :-1], ((0, 0), (1, 0))))  # a carry is reset where it is stored


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: linear interpolation from `start` at progress 0 to `end` at progress 1; constant within an update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)


def on_one_device(config: Config) -> Lanes:
    """All lanes of a run on one device."""
    return Lanes(config.rollout.num_lanes)


def _init_keys(key: Key, config: Config) -> tuple[Key, LaneKeys]:
    """The key of the weights, and those of the lanes with a leading axis L; a single lane has the keys of the run."""
    network, *of_run = jax.random.split(key, 1 + len(LaneKeys._fields))
    number = config.rollout.num_lanes
    return network, LaneKeys(*(jnp.expand_dims(k, 0) if number == 1 else jax.random.split(k, number) for k in of_run))


def initial_weights(key: Key, env_params: Any, config: Config, env: Environment) -> Any:
    """The weights of the network, for which only the shapes of an observation count."""
    reader = Reader(make_network(config.network, env.num_actions), env, env_params)
    observation, _ = jax.eval_shape(Vectorize(env, 1).reset, jax.random.key(0), env_params)
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), observation)
    return jax.jit(reader.init)(key, rollout.by_agent(nothing, env.num_agents))


def _strip_weak_types(tree: Any) -> Any:
    """The same arrays without weak types, so that the second call of a compiled function finds the first one's."""

    def strip(x: Any) -> jax.Array:
        is_key = jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
        return x if is_key else lax.convert_element_type(x, x.dtype)

    return jax.tree.map(strip, tree)
