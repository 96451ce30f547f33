"""Damaged policy files: each is refused in a sentence, or holds the very weights that were saved."""

import functools
import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import serialization

import jaxenv
from lab.fuzz import edits
from lab.fuzz.judging import Fault, answered, check_sentence
from train.networks.network import make_network
from train.networks.policy import LearnedPolicy, make_policy
from train.save.arrays import digest
from train.save.policy_file import PolicyError, initial_shapes, load_policy, read_header, save_policy
from train.settings import task
from train.settings.config import Config
from train.settings.groups import Network

SECONDS = 2.0  # of computing, for one mutant
ENVIRONMENT = "TeamsClone-v0"


class Mutant(NamedTuple):
    """The bytes of a file."""

    content: bytes
    is_sealed: bool = False  # its checksum was made anew, or taken away: then its own numbers are the right ones

    def write(self, folder: Path) -> Path:
        """Writes the file."""
        path = folder / "policy.msgpack"
        path.write_bytes(self.content)
        return path


@functools.cache
def original() -> tuple[LearnedPolicy, Any, bytes]:
    """A policy of random weights, the params that it acts under, and its file."""
    env, params = jaxenv.make(ENVIRONMENT)
    network = Network(hidden=(4,), normalize_observations=True)
    config = task.complete(Config(env=env.name, network=network), env, params)
    network = make_network(config.network, env.num_actions)
    dice = np.random.default_rng(0)
    shapes = initial_shapes(network, env, params)
    policy = make_policy(jax.tree.map(lambda x: dice.random(x.shape).astype(x.dtype), shapes), network, env)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.msgpack"
        save_policy(path, policy, config, scenarios="0" * 16, algorithm="ppo", validation_return=1.5)
        load_policy(path, env, params)  # compiles for the first call
        return policy, params, path.read_bytes()


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded as it should be.

    Raises:
        Fault: for whatever else comes of it.
    """
    policy, params, _ = original()
    path = mutant.write(folder)
    with answered(SECONDS):
        try:
            found, header = load_policy(path, policy.env, params), read_header(path)
        except PolicyError as error:
            check_sentence(str(error), str(path))
            return str(error)
    right = policy.weights
    if mutant.is_sealed:
        stored: Any = serialization.msgpack_restore(mutant.content)
        right = serialization.from_state_dict(right, stored["weights"])
    elif found.network != policy.network:
        raise Fault("another network")
    _check_equal(found.weights, right)
    if not isinstance(header.get("algorithm", ""), str) or not math.isfinite(header.get("validation_return", 0.0)):
        raise Fault("a header that cannot be used")
    return ""


def _check_equal(found: Any, right: Any) -> None:
    """The same arrays, of the kinds that a network has."""
    shapes = jax.tree.map(lambda x: (x.shape, x.dtype), original()[0].weights)
    if jax.tree.map(lambda x: (np.shape(x), getattr(x, "dtype", None)), found) != shapes:
        raise Fault("weights of other shapes or dtypes")
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(right), strict=True):
        if one.tobytes() != other.tobytes() or not np.isfinite(one).all():
            raise Fault("other weights than those that were saved")


def _record() -> dict[str, Any]:
    """The original as nested mappings."""
    record: Any = serialization.msgpack_restore(original()[2])
    return record


def _packed(record: Any, *, is_sealed: bool) -> Mutant:
    """A record as a file, with its checksum made anew or as it was."""
    if is_sealed and isinstance(record, dict):
        rest = {name: value for name, value in record.items() if name != "digest"}
        try:
            record = {**rest, "digest": digest(rest, empty="version" in rest)}
        except (TypeError, ValueError):
            record = rest
    elif isinstance(record, dict) and "digest" not in record:
        is_sealed = True  # as an older one
    return Mutant(serialization.msgpack_serialize(record, in_place=True), is_sealed)


def _header(dice: random.Random, is_sealed: bool) -> Mutant:
    """Settings and names that are left out, renamed, wrapped, exchanged or of other types and sizes."""
    record = edits.changed(dice, _record(), edits.rearranged, edits.replaced)
    return _packed(record, is_sealed=is_sealed)


def _weights(dice: random.Random, is_sealed: bool) -> Mutant:
    """Arrays of other names, dtypes, shapes and numbers, and values that are not arrays."""
    record = _record()
    weights = edits.changed(dice, record["weights"], *[edits.array] * 3, edits.rearranged)
    return _packed({**record, "weights": weights}, is_sealed=is_sealed)


def _declared(dice: random.Random) -> Mutant:
    """Lengths and sizes that the bytes do not have: of texts, lists, mappings and arrays."""
    content = original()[2]
    sign = dice.choice((b"\xc6", b"\xc9", b"\xdb", b"\xdd", b"\xdf")) + dice.choice((b"\x7f", b"\xff", b"\0")) * 4
    place = dice.choice((0, 1, dice.randrange(len(content))))
    return Mutant(dice.choice((content[:place] + sign + content[place + 5 :], content[:place] + sign, sign * 1000)))


DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "flipped": lambda dice: Mutant(edits.flipped(dice, original()[2])),
    "cut": lambda dice: Mutant(edits.cut(dice, original()[2])),
    "declared sizes": _declared,
    "header": functools.partial(_header, is_sealed=False),
    "header, sealed": functools.partial(_header, is_sealed=True),
    "weights": functools.partial(_weights, is_sealed=False),
    "weights, sealed": functools.partial(_weights, is_sealed=True),
}
