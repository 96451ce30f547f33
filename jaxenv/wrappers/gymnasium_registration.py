"""Registers the environments with Gymnasium, so that its programs need only an id."""

import importlib

import gymnasium


def register_gymnasium() -> None:
    """Makes `gymnasium.make` and `gymnasium.make_vec` build every registered environment, as `jaxenv/<id>`.

    The arguments of `Gymnasium` and `GymnasiumVector` follow the id. A later call adds new registrations.
    Importing `jaxenv.gymnasium` calls this, so that one string is enough:

    >>> import gymnasium
    >>> env = gymnasium.make("jaxenv.gymnasium:jaxenv/TeamsClone-Mentions-v0")
    >>> env.unwrapped.jax_env.name, int(env.action_space.n)
    ('TeamsClone-Mentions-v0', 114)
    """
    registry = importlib.import_module("jaxenv.registry")  # by its name, since it stands above the wrappers
    for id in registry.registered():
        if f"jaxenv/{id}" not in gymnasium.registry:
            gymnasium.register(
                f"jaxenv/{id}",
                entry_point="jaxenv.wrappers.gymnasium:Gymnasium",
                vector_entry_point="jaxenv.wrappers.gymnasium_vector:GymnasiumVector",
                kwargs={"env": id},
            )
