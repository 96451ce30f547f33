"""Lanes: the equal parts of a run, side by side on one device or spread over several.

Each lane has its own environments, scenarios, keys and shuffles; weights and optimizer are shared. The results of
learning (gradients, moments of the advantages, metrics) are averaged over them. So a run of L lanes computes the same
on every number of devices that divides L, up to the order of sums, and the samples of a lane never leave its device.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

LANE, DEVICE = "lane", "device"
BY_LANE = P(DEVICE)  # arrays with a leading axis L
SHARED = P()  # arrays without: the same on every device
T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Lanes:
    """How the lanes of a run are placed: all on one device, or along the devices of a mesh.

    A function of one lane is written with `mean` and `sum`, and run for all of them by `map`.

    >>> import jax.numpy as jnp
    >>> lanes = Lanes(2)
    >>> def center(share, shift):
    ...     return share - lanes.mean(share) + shift, lanes.sum(share)
    >>> lanes.map(center)(jnp.array([1.0, 3.0]), 10.0)
    (Array([ 9., 11.], dtype=float32), Array(4., dtype=float32))
    """

    per_device: int = 1
    mesh: Mesh | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """The named axes that the lanes lie along; none for a single lane."""
        return (DEVICE,) * (self.mesh is not None) + (LANE,) * (self.per_device > 1)

    def mean(self, tree: T) -> T:
        """The mean over all lanes, the same in each."""
        return lax.pmean(tree, self.axes) if self.axes else tree

    def sum(self, tree: T) -> T:
        """The sum over all lanes, the same in each."""
        return lax.psum(tree, self.axes) if self.axes else tree

    def map(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of one lane for all lanes of a device.

        Args:
            function: (lane's values, shared values, ...) -> (new lane's values, new shared values).
        """

        def of_one(lane: Any, *shared: Any) -> Any:
            own, common = function(jax.tree.map(lambda x: jnp.squeeze(x, 0), lane), *shared)
            return _as_lane(own), common

        def of_several(lanes: Any, *shared: Any) -> Any:
            in_axes = (0, *(None for _ in shared))
            return jax.vmap(function, in_axes=in_axes, out_axes=(0, None), axis_name=LANE)(lanes, *shared)

        return of_one if self.per_device == 1 else of_several

    def on_devices(self, function: Callable[..., T], in_specs: Any, out_specs: Any) -> Callable[..., T]:
        """A function of the lanes of one device, with the specs of its arguments and results, for all devices."""
        if self.mesh is None:
            return function
        specs = {"in_specs": in_specs, "out_specs": out_specs}
        return jax.shard_map(function, mesh=self.mesh, check_vma=False, **specs)

    def placed(self, tree: Any, specs: Any) -> Any:
        """Shapes and dtypes of arrays, with the places where they lie.

        Args:
            tree: of arrays, or of their shapes and dtypes.
            specs: the same tree, or only its upper part.
        """
        mesh = self.mesh
        if mesh is None:
            return tree

        def place(spec: P, part: Any) -> Any:
            sharding = NamedSharding(mesh, spec)
            return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), part)

        return jax.tree.map(place, specs, tree)

    def put(self, tree: T, spec: P) -> T:
        """The arrays, which all processes have alike, where a function on the devices expects them."""
        if self.mesh is None:
            return tree
        return jax.tree.map(functools.partial(_put, NamedSharding(self.mesh, spec)), tree)

    def local(self, tree: T) -> T:
        """Shared arrays as arrays of one device of this process."""
        return tree if self.mesh is None else jax.tree.map(lambda x: x.addressable_data(0), tree)


@functools.partial(jax.jit, inline=True)
def _as_lane(tree: T) -> T:
    """With a leading axis of 1: one program, where nothing is compiled around it."""
    return jax.tree.map(lambda x: jnp.expand_dims(x, 0), tree)


def _put(sharding: NamedSharding, x: jax.Array | float) -> jax.Array:
    """An array on devices that may belong to several processes, each of which has all of it."""
    x = jnp.asarray(x)
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_put(sharding, jax.random.key_data(x)), impl=jax.random.key_impl(x))
    host = np.asarray(x)
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])
