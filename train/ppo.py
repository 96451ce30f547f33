"""PPO as one pure function of its state: collect, estimate, learn.

`update` composes: a scan of it is a superstep, `jax.vmap` over its state is several seeds, over `Hyper` a sweep. It is
one lane on one device; where there are more, the gradient and the moments of the advantages are averaged over them
(`gradient_step`, `losses.normalise`) and all else stays as it is.
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
from jaxenv.wrappers import EpisodeStatistics
from train import advantage, rollout
from train.bank import first_bank, renewed
from train.config import Config, Hyper
from train.losses import Samples, ppo_loss
from train.metrics import Losses, Metrics
from train.networks import PureNetwork, make_network


class TrainState(struct.PyTreeNode):
    """Everything that changes during a run."""

    weights: Any  # of the network, float32
    optimizer: optax.OptState
    envs: rollout.Envs
    bank: ScenarioBank | None  # generated scenarios, played in the place of those of the params
    key: Key
    updates: jax.Array  # [] int32, done so far; environment steps are counted outside, as Python ints


class InitKeys(NamedTuple):
    """What a run begins with, each with a key of its own."""

    network: Key
    envs: Key
    bank: Key
    run: Key


Update = Callable[[TrainState, Any, Hyper], tuple[TrainState, Metrics]]


def init(key: Key, env_params: Any, *, config: Config, env: Environment) -> TrainState:
    """The state before the first update."""
    keys = init_keys(key)
    network = make_network(config.network, env.num_actions)
    bank = first_bank(keys.bank, config, env, env_params)
    params = playing(env_params, bank)
    envs = rollout.begin(keys.envs, params, env=env, network=network, num_envs=config.rollout.num_envs)
    first = jax.tree.map(lambda x: x[:1], envs.observation)
    weights = jax.jit(network.init)(keys.network, first, envs.mask[:1])
    optimizer = make_optimizer(config.hyper.max_grad_norm).init(weights)
    return strip_weak_types(TrainState(weights, optimizer, envs, bank, keys.run, jnp.int32(0)))


def init_keys(key: Key) -> InitKeys:
    """The keys of a run's beginning."""
    return InitKeys(*jax.random.split(key, len(InitKeys._fields)))


def playing(env_params: Any, bank: ScenarioBank | None) -> Any:
    """The params with the generated scenarios of a run, where it has any."""
    return env_params if bank is None else env_params.replace(bank=bank)


def make_update(config: Config, env: Environment) -> Update:
    """The function (state, env_params, hyper) -> (state, metrics): one rollout and all that is learned from it.

    Of `config` what sets a shape is read, the lengths of the schedules, and how and when scenarios are generated; the
    numbers of learning come with `hyper`. Where the loss or its gradient is not finite, the state stays as it was and
    the metrics say so.
    """
    network = make_network(config.network, env.num_actions)

    def update(before: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        key, bank_key, rollout_key, shuffle_key = jax.random.split(before.key, 4)
        state = before.replace(key=key, bank=refreshed(bank_key, before, config, env))
        envs, steps, ended = rollout.collect(
            rollout_key,
            state.weights,
            state.envs,
            playing(env_params, state.bank),
            env=env,
            network=network,
            config=config.rollout,
        )
        last_value = network.apply(state.weights, envs.observation, method="value")
        samples = estimate(steps, last_value, hyper, bootstrap_truncated=config.rollout.bootstrap_truncated)
        progress = state.updates / config.num_updates
        learning_rate = linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        entropy_coef = linear(hyper.entropy_coef, hyper.entropy_coef_end, progress)
        step = functools.partial(
            gradient_step, network=network, hyper=hyper, learning_rate=learning_rate, entropy_coef=entropy_coef
        )
        (weights, optimizer), terms = learn(shuffle_key, (state.weights, state.optimizer), samples, step, config)
        losses, grad_norm = jax.tree.map(jnp.mean, terms)
        not_finite = first_not_finite(*terms)
        metrics = Metrics(
            ended=ended,
            losses=losses,
            grad_norm=grad_norm,
            not_finite=not_finite,
            explained_variance=explained_variance(samples.value, samples.target),
            learning_rate=learning_rate,
            entropy_coef=entropy_coef,
        )
        after = state.replace(weights=weights, optimizer=optimizer, envs=envs, updates=state.updates + 1)
        return select(jnp.any(jnp.stack(list(not_finite.values()))), before, after), metrics

    return update


def make_superstep(config: Config, env: Environment) -> Update:
    """K updates as one compiled function with metrics of each ([K]); the state given to it is consumed (donated)."""
    update = make_update(config, env)

    @functools.partial(jax.jit, donate_argnums=0)
    def superstep(state: TrainState, env_params: Any, hyper: Hyper) -> tuple[TrainState, Metrics]:
        length = config.rollout.updates_per_superstep
        return lax.scan(lambda state, _: update(state, env_params, hyper), state, length=length)

    return superstep


def refreshed(key: Key, state: TrainState, config: Config, env: Environment) -> ScenarioBank | None:
    """The bank of an update: renewed where that is due, wherever no episode plays.

    Under `jax.vmap` over seeds it is generated in every update, due or not; with `refresh` 1 it is due in all of them.
    """
    bank, refresh = state.bank, config.training.refresh
    if bank is None or refresh == 0:
        return bank
    live = jax.vmap(EpisodeStatistics(env).scenario_index)(state.envs.state)
    renew = functools.partial(renewed, key, live=live, config=config, env=env)
    is_due = (state.updates > 0) & (state.updates % refresh == 0)
    return lax.cond(is_due, renew, lambda bank: bank, bank)


def estimate(steps: rollout.Transition, last_value: jax.Array, hyper: Hyper, *, bootstrap_truncated: bool) -> Samples:
    """[T, B] samples: the steps with their advantages and value targets, of scaled rewards."""
    terminated = steps.terminated if bootstrap_truncated else steps.terminated | steps.truncated
    advantages, targets = advantage.generalised_advantages(
        rewards=steps.reward * hyper.reward_scale,
        values=steps.value,
        next_values=advantage.true_next_values(steps.value, last_value, steps.final_value, steps.truncated),
        terminated=terminated,
        truncated=steps.truncated,
        gamma=hyper.gamma,
        gae_lambda=hyper.gae_lambda,
    )
    return Samples(
        observation=steps.observation,
        mask=steps.mask,
        action=steps.action,
        log_prob=steps.log_prob,
        value=steps.value,
        advantage=advantages,
        target=targets,
    )


def learn(
    key: Key, learner: tuple[Any, optax.OptState], samples: Samples, step: Callable[..., Any], config: Config
) -> tuple[tuple[Any, optax.OptState], tuple[Losses, jax.Array]]:
    """Several passes over the samples ([T, B]), each in a new order: (learner, terms [epochs, minibatches])."""
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
    size = jax.tree.leaves(flat)[0].shape[0]

    def minibatch(learner: Any, indices: jax.Array) -> Any:
        return step(learner, jax.tree.map(lambda x: x[indices], flat))

    def epoch(learner: Any, key: Key) -> Any:
        return lax.scan(minibatch, learner, shuffled(key, size, config.rollout.minibatches))

    return lax.scan(epoch, learner, jax.random.split(key, config.rollout.epochs))


def shuffled(key: Key, size: int, minibatches: int) -> jax.Array:
    """[M, size / M] int32: the indices 0 .. size - 1 in a random order, dealt to M minibatches."""
    return jax.random.permutation(key, size).reshape(minibatches, -1)


def gradient_step(
    learner: tuple[Any, optax.OptState],
    samples: Samples,
    *,
    network: PureNetwork,
    hyper: Hyper,
    learning_rate: jax.Array | float,
    entropy_coef: jax.Array | float,
) -> tuple[tuple[Any, optax.OptState], tuple[Losses, jax.Array]]:
    """One step of the optimiser on a minibatch ([N]): (learner, (terms of the loss, norm of the gradient))."""
    weights, optimizer = learner
    loss = functools.partial(ppo_loss, network=network, hyper=hyper, entropy_coef=entropy_coef)
    gradients, losses = jax.grad(loss, has_aux=True)(weights, samples)
    directions, optimizer = make_optimizer(hyper.max_grad_norm).update(gradients, optimizer)
    changes = jax.tree.map(lambda direction: -learning_rate * direction, directions)
    return (optax.apply_updates(weights, changes), optimizer), (losses, optax.tree.norm(gradients))


def first_not_finite(losses: Losses, grad_norm: jax.Array) -> dict[str, jax.Array]:
    """Term -> [] bool, whether it is NaN or infinite in the first gradient step in which any is; all False if none is.

    Args:
        losses: of all gradient steps, [epochs, minibatches] each.
        grad_norm: likewise.
    """
    is_bad = {name: ~jnp.isfinite(term.ravel()) for name, term in {**vars(losses), "grad_norm": grad_norm}.items()}
    first = jnp.argmax(jnp.any(jnp.stack(list(is_bad.values())), axis=0))
    return {name: bad[first] for name, bad in is_bad.items()}


def make_optimizer(max_grad_norm: jax.Array | float) -> optax.GradientTransformation:
    """Adam's direction for gradients of at most this global norm; the learning rate comes after it."""
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_adam(eps=1e-5))


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: `start` at progress 0, `end` at 1, a straight line between; the same within one update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)


def explained_variance(value: jax.Array, target: jax.Array) -> jax.Array:
    """[]: 1 - Var(target - value) / Var(target); 1 is a perfect critic, 0 one that knows only the mean."""
    return 1.0 - jnp.var(target - value) / jnp.maximum(jnp.var(target), 1e-8)


def strip_weak_types(tree: Any) -> Any:
    """The same arrays with their dtypes as promises, so that a second call finds what the first one compiled."""

    def strip(x: Any) -> jax.Array:
        is_key = jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
        return x if is_key else lax.convert_element_type(x, x.dtype)

    return jax.tree.map(strip, tree)
