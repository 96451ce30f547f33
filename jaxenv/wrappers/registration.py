"""Adds the environments to the registries of gymnax and JaxMARL, so that their programs need only an id."""

import functools
from collections.abc import Callable
from typing import Any

from jaxenv.host.companions import optional
from jaxenv.wrappers.adapters import registry
from jaxenv.wrappers.gymnax import Gymnax, check_steps
from jaxenv.wrappers.jaxmarl import JaxMARL

_STEPS: dict[str, int] = {}  # by id, as the last call of `register_gymnax` says


def register_gymnax(steps: int = 6) -> None:
    """Makes `gymnax.make` build every registered environment of one agent, under `Gymnax`: (environment, params).

    Its other arguments are those of `jaxenv.make`. A later call adds new registrations, and its `steps` count
    for every environment made from then on. An id that gymnax has already stays gymnax's. In a gymnax before 1.0,
    which has no `register`, `gymnax.make` is replaced by a function that knows both: import it after this call.
    evosax, which makes a shape of the time limit, has to be given its `episode_length`.

    A learner without mask support can have an environment that needs no mask, under a separate id:

    >>> import gymnax, jaxenv
    >>> def without_masks():
    ...     env, _ = jaxenv.make("TeamsClone-v0")
    ...     return jaxenv.wrappers.LegalActions(env)
    >>> jaxenv.register("TeamsClone-WithoutMasks-v0", without_masks)
    >>> jaxenv.wrappers.register_gymnax(steps=5)
    >>> env, params = gymnax.make("TeamsClone-WithoutMasks-v0")
    >>> env.name, env.steps
    ('TeamsClone-v0', 5)

    Args:
        steps: the values of a step: 6, as the programs of gymnax 1.x expect (its `LogWrapper`), or 5, as PureJaxRL and
            others from before.

    Raises:
        ImportError: if gymnax is not installed.
        ValueError: for other `steps`.
    """
    check_steps(steps)
    registration = optional("gymnax.registration", "register_gymnax")
    ids = [id for id in registry().registered() if registry().build(id).num_agents == 1]
    _STEPS.update(dict.fromkeys(ids, steps))
    if not hasattr(registration, "register"):
        _extend_make("gymnax", {id: functools.partial(_gymnax_with_params, id) for id in ids})
        return
    for id in ids:
        if id not in registration.registered_envs:
            registration.register(id, functools.partial(_gymnax, id))


def register_jaxmarl() -> None:
    """Makes `jaxmarl.make` build every registered environment, under `JaxMARL` with its default params.

    Its other arguments are those of `jaxenv.make`. JaxMARL has nowhere to register, so `jaxmarl.make` is replaced by a
    function that knows both: call this before a program says `from jaxmarl import make`. A later call adds new
    registrations.

    >>> import jaxmarl, jaxenv
    >>> jaxenv.wrappers.register_jaxmarl()
    >>> jaxmarl.make("TeamsClone-MultiAgent-v0", num_agents=2).agents
    ['agent_0', 'agent_1']

    Raises:
        ImportError: if JaxMARL is not installed.
    """
    _extend_make("jaxmarl", {id: functools.partial(_jaxmarl, id) for id in registry().registered()})


def _gymnax(id: str, **static: Any) -> Gymnax:
    """The result of `gymnax.make`."""
    return Gymnax(registry().build(id, **static), steps=_STEPS[id])


def _gymnax_with_params(id: str, **static: Any) -> tuple[Gymnax, Any]:
    """The result of `gymnax.make` before 1.0."""
    env = _gymnax(id, **static)
    return env, env.default_params


def _jaxmarl(id: str, **static: Any) -> JaxMARL:
    """The result of `jaxmarl.make`."""
    return JaxMARL(registry().build(id, **static))


def _extend_make(suite: str, makers: dict[str, Callable[..., Any]]) -> None:
    """Replaces a suite's `make` by one that also builds the ids of `makers` that the suite does not have."""
    package, registration = (optional(name, f"register_{suite}") for name in (suite, f"{suite}.registration"))
    added = {id: maker for id, maker in makers.items() if id not in registration.registered_envs}
    if not added:
        return
    theirs = registration.make

    @functools.wraps(theirs)
    def make(env_id: str, **env_kwargs: Any) -> Any:
        return (added[env_id] if env_id in added else functools.partial(theirs, env_id))(**env_kwargs)

    package.make = registration.make = make
    registration.registered_envs.extend(added)
