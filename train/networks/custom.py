"""Custom networks: any Flax module that maps features to logits and a value."""

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Key
from jaxenv.host.named import import_function, made
from jaxenv.host.names import short
from train.networks.layers import Carry, Sequences
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.groups import Network

_MODULES: dict[str, type[nn.Module]] = {}  # by name; those that a run was given, wherever they are defined

OTHERWISE = "the network has a {}, which acts otherwise in training than in play: leave it out"


class UnknownNetwork(ValueError):
    """A file names a module that is not imported; its code is the user's to bring."""


@dataclasses.dataclass(frozen=True)
class CustomNetwork:
    """A module `features -> (logits [..., A], value [...])` as a network.

    Features have any leading axes [...]. They are the flat vector of an observation, [..., F] float32, or the result of
    the module's method `read(env, observation, params)` for one observation. Masks are applied here.
    """

    module: nn.Module
    carry_size = 0

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation."""
        reads = getattr(self.module, "read", None)
        return env.flatten(observation, params) if reads is None else reads(env, observation, params)

    def init(self, key: Key, features: Any, mask: ActionMask, sequences: Sequences | None = None) -> Any:
        """The initial weights."""
        return self.module.init(key, features)

    def apply(
        self, weights: Any, features: Any, mask: ActionMask, sequences: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic, Carry]:
        """(distribution over A, critic, no carry): it has no memory."""
        outputs: Any = self.module.apply(weights, features)
        logits, value = outputs
        return MaskedCategorical.of(logits, mask), Critic(value.astype(jnp.float32)), None


def settings_of(module: nn.Module) -> Network:
    """The settings that name a module and its arguments, from which `custom_network` makes an equal one."""
    name = f"{type(module).__module__}:{type(module).__qualname__}"
    fields = [field for field in dataclasses.fields(module) if field.init and field.name not in ("parent", "name")]
    arguments = {field.name: getattr(module, field.name) for field in fields}
    _MODULES[name] = type(module)
    return Network(module=name, arguments=arguments)


def custom_network(settings: Network) -> CustomNetwork:
    """The network whose module the settings name.

    Raises:
        UnknownNetwork: if its module is not imported yet. A file does not decide which code runs: nothing is imported.
        ValueError: if it is something else; nothing is called but a class of Flax modules.
    """
    name = settings.module or ""
    place, _, path = name.partition(":")
    kind: Any = _MODULES.get(name)
    if kind is None:
        kind = sys.modules.get(place)
        for part in path.split("."):
            kind = getattr(kind, "__dict__", {}).get(part)  # only names that exist already: no module is loaded for it
    if kind is None:
        raise UnknownNetwork(
            f"the network {short(name)} is not known here: import it first; on a command line add --network "
            f"{short(name.replace('__main__', 'MODULE', 1))}"
        )
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise ValueError(f"{name} is not a class of Flax modules")
    return CustomNetwork(kind(**{name: _as_tuples(value) for name, value in settings.arguments.items()}))


def check_outputs(settings: Network, env: Environment, env_params: Any) -> None:
    """Checks the outputs of the user's module for a batch and for one observation against the environment, uncompiled.

    Raises:
        ValueError: if it is not the logits of the environment's actions and a value, or if the module has layers that
            behave otherwise while they learn, or variables that no gradient changes.
    """
    if settings.module is None:
        return
    network = custom_network(settings)

    def outputs() -> None:
        observation, _ = env.reset_env(jax.random.key(0), env_params)
        rows = observation if env.num_agents > 1 else jax.tree.map(lambda x: jnp.stack([x, x]), observation)
        features = jax.vmap(lambda one: network.read(env, one, env_params))(rows)
        try:
            with nn.intercept_methods(_without_modes):
                weights = network.module.init(jax.random.key(0), features)
        except KeyError as error:
            if "RngStream named 'dropout'" not in str(error):  # as flax.nnx misses it
                raise
            raise ValueError(OTHERWISE.format("Dropout")) from error
        if other := sorted(weights.keys() - {"params"}):
            raise ValueError(f"{settings.module} has variables {', '.join(other)}, and training learns params alone")
        _check_shapes(network.module.apply(weights, features), rows.action_mask.shape, settings, env)
        one, mask = jax.tree.map(lambda x: x[0], (features, rows.action_mask))
        _check_shapes(network.module.apply(weights, one), mask.shape, settings, env)

    jax.eval_shape(outputs)


def _without_modes(call: Callable[..., Any], args: Any, kwargs: Any, context: nn.module.InterceptorContext) -> Any:
    """Calls a method of a module, unless it acts otherwise in training than in play."""
    if isinstance(context.module, nn.Dropout | nn.BatchNorm):
        raise ValueError(OTHERWISE.format(type(context.module).__name__))
    return call(*args, **kwargs)


def _check_shapes(found: Any, expected: tuple[int, ...], settings: Network, env: Environment) -> None:
    """A ValueError if this is not (logits of the expected shape [..., A], value [...])."""
    parts = list(found) if isinstance(found, tuple | list) else found
    shapes, wanted = jax.tree.map(lambda x: list(jnp.shape(x)), parts), [list(expected), list(expected[:-1])]
    if shapes != wanted:
        raise ValueError(
            f"{settings.module} gives arrays of shape {shapes}, expected (logits, value) of {wanted}: "
            f"{env.name} has {expected[-1]} actions"
        )


def import_again(name: str, saved: Network) -> Network:
    """The settings of the module that the command line names, `MODULE:FACTORY`, beside those that are saved.

    Where these name its class, they stay, since the class alone is named without its arguments. A class of the program
    that trained, `__main__:Mine`, is the one of that name in any module.

    Raises:
        ValueError: if there is no such factory.
    """
    place, _, path = (saved.module or "").partition(":")
    if name == saved.module or (place == "__main__" and path == name.partition(":")[2]):
        _MODULES[f"{place}:{path}"] = import_function(name, "--network")
        return saved
    module = made(import_function(name, "--network"), name, "--network")
    if not isinstance(module, nn.Module):
        raise ValueError(f"--network {name}: expected a Flax module, got {module!r}")
    return dataclasses.replace(settings_of(module), normalize_observations=saved.normalize_observations)


def _as_tuples(value: Any) -> Any:
    """A value as it was before it was saved: a file holds tuples as lists."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
