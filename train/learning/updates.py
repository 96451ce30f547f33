"""Updates in a row: as one compiled superstep, with schedules over the run."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from train.lanes import SHARED, Lanes
from train.learning.state import on_one_device
from train.settings.config import Config
from train.settings.groups import Hyper

Update = Callable[[Any, Any, Hyper], tuple[Any, Any]]
"""(state, params of the environment, hyperparameters) -> (state, metrics)."""


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


def linear(start: jax.Array | float, end: jax.Array | float, progress: jax.Array | float) -> jax.Array:
    """[] float32: linear interpolation from `start` at progress 0 to `end` at progress 1; constant within an update."""
    return jnp.asarray(start + (end - start) * progress, jnp.float32)
