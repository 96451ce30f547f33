"""The parts of an update: passes over samples, steps along their gradient, schedules, the guard against non-finite
values, lanes, and supersteps.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.experience.bank import with_bank
from train.experience.lane import LaneState, renew_scenarios
from train.lanes import SHARED, Lanes
from train.networks.network import make_network
from train.networks.policy import Reader
from train.settings.config import Config
from train.settings.groups import Hyper

Learner = tuple[Any, optax.OptState]
"""Weights, and the state of the optimizer."""

Terms = dict[str, jax.Array]
"""Name -> a number of each gradient step: the terms of its loss, and the norm of its gradient."""

Update = Callable[[Any, Any, Hyper], tuple[Any, Any]]
"""(state, params of the environment, hyperparameters) -> (state, metrics)."""


def passes(
    key: Key, learner: Any, rows: Any, step: Callable[..., Any], *, epochs: int, minibatch_size: int
) -> tuple[Any, Any]:
    """Several epochs over samples, each in a new order: (learner, outputs of the steps [epochs, minibatches]).

    Args:
        key: random key.
        learner: the state that a step changes.
        rows: a tree of samples, each array with a leading axis N.
        step: (learner, minibatch) -> (learner, outputs).
        epochs: passes over the samples.
        minibatch_size: samples of a step, which divide N.
    """
    size = jax.tree.leaves(rows)[0].shape[0]

    def minibatch(learner: Any, indices: jax.Array) -> Any:
        return step(learner, jax.tree.map(lambda x: x[indices], rows))

    def epoch(learner: Any, key: Key) -> Any:
        return lax.scan(minibatch, learner, shuffled(key, size, minibatch_size))

    return lax.scan(epoch, learner, jax.random.split(key, epochs))


def shuffled(key: Key, size: int, minibatch_size: int) -> jax.Array:
    """[M, size / M] int32: the indices 0 .. size - 1 in random order, split into M minibatches."""
    return jax.random.permutation(key, size).reshape(-1, minibatch_size)


def mean_gradient(loss: Callable[..., Any], weights: Any, batch: Any, microbatch_size: int) -> tuple[Any, Any]:
    """The gradient of a loss that is a mean over samples, and its terms, accumulated over parts of a size.

    Args:
        loss: (weights, batch) -> (loss, its terms).
        weights: of the network.
        batch: of samples, with an `action` for each.
        microbatch_size: the samples of a part.
    """
    gradient = jax.grad(loss, has_aux=True)
    parts = batch.action.size // microbatch_size
    if parts == 1:
        return gradient(weights, batch)
    split = jax.tree.map(lambda x: x.reshape(parts, -1, *x.shape[1:]), batch)

    def add(total: Any, part: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, gradient(weights, part)), None

    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(gradient, weights, batch))
    total, _ = lax.scan(add, nothing, split)
    return jax.tree.map(lambda x: x / parts, total)


def descend(
    learner: Learner,
    batch: Any,
    *,
    loss: Callable[..., Any],
    direction: optax.GradientTransformation,
    hyper: Hyper,
    microbatch_size: int,
    lanes: Lanes,
) -> tuple[Learner, Terms]:
    """One step of the optimizer along the gradient of all lanes: (learner, terms of the loss).

    `grad_norm` among the terms is the global norm of the gradient, before anything is clipped.

    Args:
        learner: the weights, and the state of the optimizer.
        batch: of samples, of which each lane has as many.
        loss: see `mean_gradient`.
        direction: of the optimizer, for a gradient whose norm is clipped.
        hyper: that norm, and the learning rate.
        microbatch_size: see `mean_gradient`.
        lanes: over which the gradient is averaged.
    """
    weights, state = learner
    gradients, terms = lanes.mean(mean_gradient(loss, weights, batch, microbatch_size))
    with jax.numpy_dtype_promotion("standard"):  # Optax raises floats to a whole number
        changes, state = clipped(direction, hyper.max_grad_norm).update(gradients, state)
    changes = jax.tree.map(lambda change: -hyper.learning_rate * change, changes)
    return (optax.apply_updates(weights, changes), state), {**terms, "grad_norm": optax.tree.norm(gradients)}


def clipped(direction: optax.GradientTransformation, max_grad_norm: jax.Array | float) -> optax.GradientTransformation:
    """The optimizer's direction for gradients clipped to a global norm; the learning rate is applied outside."""
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), direction)


def moments(x: jax.Array, lanes: Lanes) -> tuple[jax.Array, jax.Array]:
    """Mean and variance over all samples of all lanes, both []."""
    mean = lanes.mean(x.mean())
    return mean, lanes.mean(jnp.square(x - mean).mean())


def not_finite_terms(terms: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
    """Term -> [] bool: whether it is NaN or infinite in the first gradient step in which any term is.

    Args:
        terms: name -> its values in all gradient steps, arrays of one shape.
    """
    is_bad = {name: ~jnp.isfinite(term.ravel()) for name, term in terms.items()}
    first = jnp.argmax(jnp.any(jnp.stack(list(is_bad.values())), axis=0))
    return {name: bad[first] for name, bad in is_bad.items()}


def compiled(update: Update, specs: Any, config: Config, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state.

    Args:
        update: one update.
        specs: where each part of the state lies, `lanes.BY_LANE` or `lanes.SHARED`: the upper part of its tree.
        config: of which K is read.
        lanes: of the run; by default all on one device.
    """
    lanes = lanes or Lanes(config.rollout.num_lanes)

    def superstep(state: Any, env_params: Any, hyper: Hyper) -> tuple[Any, Any]:
        length = config.rollout.updates_per_superstep
        return lax.scan(lambda state, _: update(state, env_params, hyper), state, length=length)

    on_devices = lanes.on_devices(superstep, (specs, SHARED, SHARED), (specs, SHARED))
    return jax.jit(on_devices, donate_argnums=0)


def over_lanes(learn: Callable[..., Any], config: Config, env: Environment, lanes: Lanes) -> Update:
    """The update of all lanes: each renews its scenarios, then learns.

    If a term of the loss or its gradient is not finite, the state stays as it was, but for the scenarios and a replay
    buffer, which decides for itself: a choice between two buffers would copy both.

    Args:
        learn: (two keys, own state of a lane, the rest of the state, reader, hyper) -> (its own, the rest, metrics); of
            the state's fields `lanes` holds the first, with a leading axis L.
        config: of the run.
        env: the environment.
        lanes: of the run.
    """
    network, sizes = make_network(config.network, env.num_actions), config.of_a_lane

    def update_lane(lane: LaneState, shared: Any, env_params: Any, hyper: Hyper) -> Any:
        key, scenarios_key, *keys = jax.random.split(lane.key, 4)
        lane = renew_scenarios(scenarios_key, lane, shared.updates, config=sizes, env=env)
        reader = Reader(network, env, with_bank(env_params, lane.bank))
        hyper = scheduled(hyper, shared.updates / config.num_updates)
        own, rest, metrics = learn(keys, lane, shared, reader, hyper)
        failed, before = has_failed(metrics), (lane, shared)
        after = own.replace(key=key, buffer=lane.buffer), rest.replace(updates=shared.updates + 1)
        # Parts that the update left unchanged are not copied.
        lane, shared = jax.tree.map(lambda old, new: new if old is new else jnp.where(failed, old, new), before, after)
        return lane.replace(buffer=own.buffer), (shared, metrics)

    def update(state: Any, env_params: Any, hyper: Hyper) -> tuple[Any, Any]:
        own, (shared, metrics) = lanes.map(update_lane)(state.lanes, state.replace(lanes=None), env_params, hyper)
        return shared.replace(lanes=own), metrics

    return update


def has_failed(metrics: Any) -> jax.Array:
    """[] bool: whether any term of an update was not finite."""
    return jnp.any(jnp.stack(list(metrics.not_finite.values())))


def scheduled(hyper: Hyper, progress: jax.Array | float) -> Any:
    """The hyperparameters of one update, a `Hyper` of arrays, when this share of the run (0 to 1) is done."""
    clip = hyper.clip if hyper.clip_end is None else linear(hyper.clip, hyper.clip_end, progress)
    return hyper.replace(
        learning_rate=linear(hyper.learning_rate, hyper.learning_rate_end, progress),
        entropy_coef=linear(hyper.entropy_coef, hyper.entropy_coef_end, progress),
        teacher_coef=linear(hyper.teacher_coef, hyper.teacher_coef_end, progress),
        clip=clip,
    )


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: linear interpolation from `start` at progress 0 to `end` at progress 1; constant within an update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)
