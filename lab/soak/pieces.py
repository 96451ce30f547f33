"""A piece of a soak: random legal actions in generated scenarios, and broken laws, counted within one program."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import jaxenv
from jaxenv.core import Environment, masking
from jaxenv.lowering import draws
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
