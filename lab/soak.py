"""Random legal play by the hundred million steps, whose laws are checked within the program; a line of JSON a piece.

python -m lab soak --steps 1e9 --out soak.jsonl       # a soak that was killed goes on from its last line
"""

import argparse
import dataclasses
import functools
import json
import pathlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import jaxenv
from jaxenv.core import Environment, masking
from jaxenv.host.names import did_you_mean_one_of
from jaxenv.lowering import draws
from train.cli import numbers
from train.experience.bank import generate_bank

COUNTERS = {
    "lifeops": ("clock", "handled"),
    "lifestack": ("clock", "completed", "closed", "reached", "fired", "marks"),
    "teamsclone": (
        *("clock", "by_teammates", "messages.count", "visited", "counts.waited"),
        *(
            f"counts.{name}"
            for name in ("sent", "switched", "joined", "reacted", "valid", "received", "answered", "missed")
        ),
    ),
    "week": ("clock", "posted", "read", "handled", "attended", "progress", "stage", "promised", "known"),
}
"""Family -> fields of the state that never become less within an episode."""
ONE_END = ("lifeops",)
"""The families of which a step is never both terminated and truncated."""
LAWS = (
    *("observation in its space", "state in its space", "a legal action", "a legal action is taken", "a finite reward"),
    *("reward parts sum up", "counters never go back", "the clock counts steps", "an end by the time limit", "one end"),
)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much a piece plays."""

    num_envs: int = 8192
    num_steps: int = 256  # of each environment
    num_scenarios: int = 1024  # generated ones; 0: those of the library

    @property
    def steps(self) -> int:
        """Environment steps of a piece."""
        return self.num_envs * self.num_steps


@functools.lru_cache(maxsize=16)
def player(id: str, sizes: Sizes) -> Callable[[Any, int], dict[str, Any]]:
    """(seed, number of the piece) -> `episodes`, `reward` and `broken` (law -> steps), all numbers of Python.

    Every piece starts with its own keys and scenarios, so any of them can be replayed alone.
    """
    env, params = jaxenv.make(id)
    play = jax.jit(functools.partial(_play, env, sizes))

    def piece(seed: int, number: int) -> dict[str, Any]:
        key = jax.random.fold_in(jax.random.key(seed), number)
        episodes, reward, broken = jax.device_get(play(key, params))
        return {
            "episodes": int(episodes),
            "reward": float(reward) / sizes.steps,
            "broken": {law: int(count) for law, count in zip(LAWS, broken, strict=True) if count},
        }

    return piece


def _play(env: Environment, sizes: Sizes, key: Any, params: Any) -> tuple[Any, Any, Any]:
    """(episodes, sum of rewards, [laws] int32: steps that break each) of a piece."""
    bank_key, reset_key, key = jax.random.split(key, 3)
    if sizes.num_scenarios:
        count, shared = sizes.num_scenarios, params.bank.shared
        bank = generate_bank(env, bank_key, count=count, difficulty=(0.0, 1.0), shared=shared)
        params = params.replace(bank=bank)
    keys = jax.random.split(reset_key, sizes.num_envs)
    observation, state = jax.vmap(lambda key: env.reset_env(key, params))(keys)

    def step(carry: Any, key: Any) -> tuple[Any, None]:
        observation, state, totals = carry
        one = functools.partial(_step, env, params)
        observation, state, seen = jax.vmap(one)(jax.random.split(key, sizes.num_envs), observation, state)
        totals = jax.tree.map(lambda total, new: total + new.sum(axis=0, dtype=total.dtype), totals, seen)
        return (observation, state, totals), None

    nothing = jnp.int32(0), jnp.float32(0), jnp.zeros(len(LAWS), jnp.int32)
    carry, _ = jax.lax.scan(step, (observation, state, nothing), jax.random.split(key, sizes.num_steps))
    return carry[2]


def _step(env: Environment, params: Any, key: Any, observation: Any, state: Any) -> tuple[Any, Any, Any]:
    """One step of one environment: (observation, state, (it ended, reward, [laws] bool: broken))."""
    action_key, key = draws.split(key)
    action = masking.sample_uniform(action_key, observation.action_mask)
    outcome = env.step(key, state, action, params)
    after, next_state, reward, terminated, truncated, _ = outcome
    return (
        after,
        next_state,
        (terminated | truncated, jnp.sum(reward), broken_laws(env, params, (observation, state), outcome)),
    )


def broken_laws(env: Environment, params: Any, before: tuple[Any, Any], outcome: tuple[Any, ...]) -> jax.Array:
    """[laws] bool: which are broken by a legal step.

    Args:
        env: the environment.
        params: its params.
        before: observation and state before the step.
        outcome: the results of `env.step`.
    """
    observation, state = before
    _, next_state, reward, terminated, truncated, info = outcome
    is_over = terminated | truncated
    clock, next_clock = (each.clock.astype(jnp.int32) for each in (state, next_state))
    parts = sum(vars(info["reward_parts"]).values())
    is_sum = jnp.abs(parts - reward) <= 1e-4 * (1 + jnp.abs(reward))
    limit = jnp.asarray(params.max_steps_in_episode, jnp.int32)
    pairs = [(_field(state, name), _field(next_state, name)) for name in COUNTERS[env.family]]
    goes_back = [jnp.any(new.astype(jnp.int32) < old.astype(jnp.int32)) for old, new in pairs]
    broken = {
        "observation in its space": ~env.observation_space(params).contains(observation),
        "state in its space": ~env.state_space(params).contains(state),
        "a legal action": ~observation.action_mask.any(axis=-1).all(),
        "a legal action is taken": jnp.any(info["invalid_action"]),
        "a finite reward": ~jnp.isfinite(reward).all(),
        "reward parts sum up": ~is_sum.all() & (env.num_agents == 1),  # of several, rewards may be shared
        "counters never go back": ~is_over & jnp.stack(goes_back).any(),
        "the clock counts steps": next_clock != jnp.where(is_over, 0, clock + 1),
        "an end by the time limit": ~is_over & (clock + 1 >= limit),
        "one end": terminated & truncated & (env.family in ONE_END),
    }
    return jnp.stack([broken[law] for law in LAWS])


def _field(state: Any, name: str) -> Any:
    """A field by its dotted name."""
    return functools.reduce(getattr, name.split("."), state)


def soak(ids: Sequence[str], steps: int, out: pathlib.Path, seed: int, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Plays the ids in turns until each has taken so many steps: a record of each piece, written to a file.

    Raises:
        ValueError: where the file holds another soak.
    """
    about = {"seed": seed, **dataclasses.asdict(sizes)}
    done = _begun(out, list(ids), about)
    with out.open("a", encoding="utf-8") as file:
        for number in range(done, len(ids) * -(-steps // sizes.steps)):
            start = time.monotonic()
            found = player(ids[number % len(ids)], sizes)(seed, number)
            seconds = round(time.monotonic() - start, 3)
            record = {"piece": number, "env": ids[number % len(ids)], "steps": sizes.steps, "seconds": seconds, **found}
            file.write(json.dumps({**record, **about}, allow_nan=False) + "\n")
            file.flush()
            yield record


def _begun(out: pathlib.Path, ids: list[str], about: dict[str, Any]) -> int:
    """How many pieces a file holds; the end of a line that was cut off is removed."""
    if not out.exists():
        return 0
    content = out.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines()):
        record = json.loads(line)
        known = {name: record.get(name) for name in about}
        if known != about or record["piece"] != number or record["env"] != ids[number % len(ids)]:
            raise ValueError(f"{out} holds another soak in line {number + 1}: choose another --out")
    if whole != content:
        out.write_bytes(whole)
    return whole.count(b"\n")


def main(argv: Sequence[str]) -> int:
    """Prints the broken laws; the exit status is 1 if there are any, 2 for an impossible soak."""
    parser = argparse.ArgumentParser("python -m lab soak", description=__doc__)
    parser.add_argument("--steps", type=numbers.whole_number, default=10**7, help="of each environment")
    parser.add_argument("--env", nargs="*", default=[], metavar="ID", help="default: all that are registered")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("soak.jsonl"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--num-envs", type=numbers.whole_number, default=Sizes.num_envs)
    parser.add_argument("--num-steps", type=numbers.whole_number, default=Sizes.num_steps)
    parser.add_argument("--scenarios", type=int, default=Sizes.num_scenarios, help="of a piece; 0: the library")
    arguments = parser.parse_args(argv)
    ids = arguments.env or list(jaxenv.registered())
    for id in ids:
        if id not in jaxenv.registered():
            print(f"no environment {id!r}.{did_you_mean_one_of(id, jaxenv.registered())}", file=sys.stderr)
            return 2
    sizes = Sizes(arguments.num_envs, arguments.num_steps, arguments.scenarios)
    try:
        for record in soak(ids, arguments.steps, arguments.out, arguments.seed, sizes):
            if record["broken"]:
                print(f"piece {record['piece']}, {record['env']}: {record['broken']}", flush=True)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    records = [json.loads(line) for line in arguments.out.read_text("utf-8").splitlines()]
    for id in ids:
        print(_summary(id, [record for record in records if record["env"] == id]))
    return int(any(record["broken"] for record in records))


def _summary(id: str, records: Sequence[dict[str, Any]]) -> str:
    """A line about all pieces of an environment."""
    steps, episodes, seconds = (sum(record[name] for record in records) for name in ("steps", "episodes", "seconds"))
    found = sum(bool(record["broken"]) for record in records)
    return f"{id}: {steps:,} steps, {episodes:,} episodes, {seconds:.0f} s, {found} pieces in which a law was broken"
