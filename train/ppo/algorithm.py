"""PPO as one pure function of its state: collect, estimate, learn.

`update` composes: a scan of it is a superstep, `jax.vmap` over its state trains several seeds, over `Hyper` it is a
sweep. It runs one lane on one device. With several lanes, only the gradient and the moments of the advantages would be
averaged over them (`learner.gradient_step`, `losses.normalize`).
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
from train.experience import rollout
from train.experience.bank import first_bank, refresh, with_bank
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.ppo import learner
from train.ppo.advantage import generalized_advantages, true_next_values
from train.ppo.losses import Batch, Losses
from train.settings.config import Config, Hyper


class TrainState(struct.PyTreeNode):
    """Everything that changes during a run."""

    weights: Any  # of the network, float32
    optimizer: optax.OptState
    envs: rollout.RolloutState
    bank: ScenarioBank | None  # generated scenarios, played instead of those in the params
    key: Key
    updates: jax.Array  # [] int32, done so far; environment steps are counted on the host, as Python ints


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


class InitKeys(NamedTuple):
    """The keys of the initial state."""

    network: Key
    envs: Key
    bank: Key
    run: Key


Update = Callable[[TrainState, Any, Hyper], tuple[TrainState, Metrics]]


def init(key: Key, env_params: Any, *, config: Config, env: Environment) -> TrainState:
    """The state before the first update.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> init = functools.partial(train.init, config=train.preset("LifeOps-v0"), env=env)
    >>> state = jax.eval_shape(init, jax.random.key(0), params)  # its shapes: nothing runs
    >>> state.envs.mask.shape  # environments, actions
    (1024, 16)
    """
    keys = _init_keys(key)
    network = make_network(config.network, env.num_actions)
    bank = first_bank(keys.bank, config, env, env_params)
    params = with_bank(env_params, bank)
    envs = rollout.initial_state(keys.envs, params, env=env, network=network, num_envs=config.rollout.num_envs)
    first = jax.tree.map(lambda x: x[:1], envs.observation)
    weights = jax.jit(network.init)(keys.network, first, envs.mask[:1])
    optimizer = learner.make_optimizer(config.hyper.max_grad_norm).init(weights)
    return _strip_weak_types(TrainState(weights, optimizer, envs, bank, keys.run, jnp.int32(0)))


def training_bank(key: Key, env_params: Any, *, config: Config, env: Environment) -> ScenarioBank:
    """The scenarios that training starts with: those of `init` with the same key, without the rest of the state."""
    return with_bank(env_params, first_bank(_init_keys(key).bank, config, env, env_params)).bank


def policy_of(state: TrainState, *, config: Config, env: Environment) -> NetworkPolicy:
    """The policy that has been learned so far."""
    return NetworkPolicy(state.weights, make_network(config.network, env.num_actions), env)


def make_update(config: Config, env: Environment) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): one rollout, and learning from it.

    It reads from `config` only sizes, the length of the schedules, and how scenarios are generated; the
    hyperparameters come as `hyper`. If the loss or its gradient is not finite, the state does not change and the
    metrics say so.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> _, metrics = jax.eval_shape(train.make_update(config, env), state, params, config.hyper)
    >>> sorted(metrics.not_finite)
    ['approx_kl', 'clip_fraction', 'entropy', 'grad_norm', 'policy_loss', 'value_loss']
    """
    network = make_network(config.network, env.num_actions)

    def update(before: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        key, bank_key, rollout_key, shuffle_key = jax.random.split(before.key, 4)
        bank = refresh(
            bank_key, before.bank, env_state=before.envs.state, updates=before.updates, config=config, env=env
        )
        state = before.replace(key=key, bank=bank)
        envs, steps, totals = rollout.collect(
            rollout_key,
            state.weights,
            state.envs,
            with_bank(env_params, state.bank),
            env=env,
            network=network,
            config=config.rollout,
        )
        last_value = network.apply(state.weights, envs.observation, method="value")
        batch = estimate(steps, last_value, hyper, bootstrap_truncated=config.rollout.bootstrap_truncated)
        progress = state.updates / config.num_updates
        learning_rate = linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        entropy_coef = linear(hyper.entropy_coef, hyper.entropy_coef_end, progress)
        step = functools.partial(
            learner.gradient_step, network=network, hyper=hyper, learning_rate=learning_rate, entropy_coef=entropy_coef
        )
        learned, terms = learner.learn(shuffle_key, (state.weights, state.optimizer), batch, step, config.rollout)
        losses, grad_norm = jax.tree.map(jnp.mean, terms)
        metrics = Metrics(
            totals=totals,
            losses=losses,
            grad_norm=grad_norm,
            not_finite=learner.not_finite_terms(*terms),
            explained_variance=learner.explained_variance(batch.value, batch.target),
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
        )
        after = state.replace(weights=learned[0], optimizer=learned[1], envs=envs, updates=state.updates + 1)
        return select(jnp.any(jnp.stack(list(metrics.not_finite.values()))), before, after), metrics

    return update


def make_superstep(config: Config, env: Environment) -> Update:
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
    update = make_update(config, env)

    @functools.partial(jax.jit, donate_argnums=0)
    def superstep(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        length = config.rollout.updates_per_superstep
        return lax.scan(lambda state, _: update(state, env_params, hyper), state, length=length)

    return superstep


def estimate(steps: rollout.Transition, last_value: jax.Array, hyper: Hyper, *, bootstrap_truncated: bool) -> Batch:
    """A batch [T, B]: the steps with their advantages and value targets, in scaled reward."""
    advantages, targets = generalized_advantages(
        rewards=steps.reward * hyper.reward_scale,
        values=steps.value,
        next_values=true_next_values(steps.value, last_value, steps.final_value, steps.truncated),
        terminated=steps.terminated if bootstrap_truncated else steps.terminated | steps.truncated,
        truncated=steps.truncated,
        gamma=hyper.gamma,
        gae_lambda=hyper.gae_lambda,
    )
    return Batch(
        observation=steps.observation,
        mask=steps.mask,
        action=steps.action,
        log_prob=steps.log_prob,
        value=steps.value,
        advantage=advantages,
        target=targets,
    )


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: linear interpolation from `start` at progress 0 to `end` at progress 1; constant within an update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)


def _init_keys(key: Key) -> InitKeys:
    return InitKeys(*jax.random.split(key, len(InitKeys._fields)))


def _strip_weak_types(tree: Any) -> Any:
    """The same arrays without weak types, so that the second call of a compiled function finds the first one's."""

    def strip(x: Any) -> jax.Array:
        is_key = jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
        return x if is_key else lax.convert_element_type(x, x.dtype)

    return jax.tree.map(strip, tree)
