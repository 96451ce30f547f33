"""Records in exported programs: `jax.export` writes the types of arguments and results by name."""

from collections.abc import Iterator
from typing import Any

from flax import struct
from jax import export

_registered: set[str] = set()  # names; JAX refuses a second registration


def register_records(package: str) -> None:
    """Registers every record of a package without static fields, under its dotted name, for `jax.export`.

    A program of reset or step can then be written to a file, and read where the package is imported. jaxenv does this
    for its own records; for an environment of yours, call it with `__name__` below its records.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> exported = jax.export.export(jax.jit(env.step))(jax.random.key(1), state, 0, params)
    >>> program = exported.serialize()  # doctest: +SKIP
    >>> observation, *_ = jax.export.deserialize(program).call(jax.random.key(1), state, 0, params)  # doctest: +SKIP

    Args:
        package: its name; records of its modules count.
    """
    for kind in _subclasses(struct.PyTreeNode):
        name = f"{kind.__module__}.{kind.__qualname__}"
        is_inside = f"{kind.__module__}.".startswith(f"{package}.")
        is_static = any(not field.metadata.get("pytree_node", True) for field in kind.__dataclass_fields__.values())
        if is_inside and not is_static and name not in _registered:
            _registered.add(name)
            export.register_pytree_node_serialization(
                kind, serialized_name=name, serialize_auxdata=lambda _: b"", deserialize_auxdata=lambda _: ()
            )


def _subclasses(kind: type) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
