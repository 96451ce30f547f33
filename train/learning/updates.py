"""Parts that all updates share: schedules over the run, the guard against non-finite values, lanes, and supersteps."""

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from train.lanes import SHARED, Lanes
from train.learning.state import on_one_device
from train.settings.config import Config
from train.settings.groups import Hyper

Update = Callable[[Any, Any, Hyper], tuple[Any, Any]]
"""(state, params of the environment, hyperparameters) -> (state, metrics)."""

T = TypeVar("T")


def compiled(update: Update, specs: Any, config: Config, lanes: Lanes | None = None) -> Update:
    """K updates as one compiled function, whose metrics have a leading axis [K]; it consumes (donates) its state.

    Args:
        update: one update.
        specs: where each part of the state lies, `lanes.BY_LANE` or `lanes.SHARED`: the upper part of its tree.
        config: of which K is read.
        lanes: of the run; by default all on one device.
    """
    lanes = lanes or on_one_device(config)

    def superstep(state: Any, env_params: Any, hyper: Hyper) -> tuple[Any, Any]:
        length = config.rollout.updates_per_superstep
        return lax.scan(lambda state, _: update(state, env_params, hyper), state, length=length)

    on_devices = lanes.on_devices(superstep, (specs, SHARED, SHARED), (specs, SHARED))
    return jax.jit(on_devices, donate_argnums=0)


def over_lanes(update_lane: Callable[..., Any], lanes: Lanes) -> Update:
    """The update of all lanes.

    Args:
        update_lane: (own state of a lane, the rest of the state, params, hyper) -> (its own, (the rest, metrics)); of
            the state's fields `lanes` holds the first, with a leading axis L.
        lanes: of the run.
    """

    def update(state: Any, env_params: Any, hyper: Hyper) -> tuple[Any, Any]:
        own, (shared, metrics) = lanes.map(update_lane)(state.lanes, state.replace(lanes=None), env_params, hyper)
        return shared.replace(lanes=own), metrics

    return update


def keep_if_finite(metrics: Any, before: T, after: T) -> T:
    """The state after an update, or the one before it if a term of the loss or its gradient is not finite.

    Parts that the update left unchanged are not copied.
    """
    failed = has_failed(metrics)
    return jax.tree.map(lambda old, new: new if old is new else jnp.where(failed, old, new), before, after)


def has_failed(metrics: Any) -> jax.Array:
    """[] bool: whether any term of an update was not finite."""
    return jnp.any(jnp.stack(list(metrics.not_finite.values())))


def scheduled(hyper: Hyper, progress: jax.Array | float) -> Any:
    """The hyperparameters of one update, a `Hyper` of arrays, when this share of the run (0 to 1) is done."""
    clip = hyper.clip if hyper.clip_end is None else linear(hyper.clip, hyper.clip_end, progress)
    return hyper.replace(
        learning_rate=linear(hyper.learning_rate, hyper.learning_rate_end, progress),
        entropy_coef=linear(hyper.entropy_coef, hyper.entropy_coef_end, progress),
        clip=clip,
    )


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: linear interpolation from `start` at progress 0 to `end` at progress 1; constant within an update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)
