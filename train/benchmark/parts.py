"""Where a step goes, by ablation: the same steps with a part left out, timed in turns with the whole.

An ablation is the time that goes away with a part. It is not the time that the part would take alone: XLA fuses parts
and removes what only a left-out part needed, so shares may overlap and need not add up. The variants take the actions
that the whole took, recorded ahead, from the same states with the same keys, and so the same steps. Two differ: without
the automatic reset an ended episode is stepped on, and with cheap random numbers other ones are drawn.
"""

import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

import jaxenv
from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.benchmark.cheap_random import CHEAP
from train.benchmark.measure import Result
from train.benchmark.programs import pick, with_bank
from train.benchmark.workload import STEPS, Workload

# part -> (the variant that has it, the variant that does not)
PARTS = {
    "picking an action": ("whole", "recorded actions"),
    "observation but the mask": ("recorded actions", "mask alone"),
    "mask": ("mask alone", "nothing observed"),
    "automatic reset": ("nothing observed", "no reset"),
    "random draws": ("whole", "cheap draws"),
}
Step = Callable[[Any, Key, jax.Array, Any], tuple[Any, Any]]  # (seen and state, key, action, params) -> the next, outs
VARIANTS = ("whole", "recorded actions", "mask alone", "nothing observed", "no reset", "cheap draws")


class Recording(NamedTuple):
    """The steps that all variants play."""

    state: Any  # [B]
    keys: jax.Array  # [T + 1], the first for the first action
    actions: jax.Array  # [T, B] int32


def variants(id: str, num_envs: int, *, steps: int = STEPS, bank: str = "library") -> list[Workload]:
    """The whole step of a registered environment, and each variant of it."""
    env, params = jaxenv.make(id)

    @functools.cache  # by all variants
    def recorded() -> tuple[Any, Recording]:
        played = with_bank(env, params, bank)
        return played, jax.jit(functools.partial(_record, env, num_envs, steps))(jax.random.key(0), played)

    return [_workload(env, variant, num_envs, steps, recorded) for variant in VARIANTS]


def shares(results: Sequence[Result]) -> dict[str, float]:
    """Part -> its share of the whole step's time, median over the rounds.

    >>> runs = [Result(f"it, {name}", 8, 0.0, 0, steps_per_s=[1 / (9 - i)]) for i, name in enumerate(VARIANTS)]
    >>> round(shares(runs)["mask"], 3)  # 7 seconds with it, 6 without, of 9
    0.111
    """
    seconds = {result.name.rsplit(", ", 1)[1]: [1 / speed for speed in result.steps_per_s] for result in results}
    return {part: _median_share(seconds, *ends) for part, ends in PARTS.items()}


def _median_share(seconds: Mapping[str, Sequence[float]], with_it: str, without: str) -> float:
    each = zip(seconds[with_it], seconds[without], seconds["whole"], strict=True)
    return statistics.median((more - less) / whole for more, less, whole in each)


def _record(env: Environment, num_envs: int, steps: int, key: Key, params: Any) -> Recording:
    """The start of a batch, the keys of its steps, and the random actions that it takes in them."""
    start_key, run_key = jax.random.split(key)
    state = jax.vmap(env.init, in_axes=(0, None, None))(jax.random.split(start_key, num_envs), params, None)
    keys = jax.random.split(run_key, steps + 1)
    seen = jax.vmap(env.observe, in_axes=(0, None))(state, params)
    return Recording(state, keys, _play(_step(env, env.observe, resets=True), (seen, state), keys, params)[1])


def _workload(
    env: Environment, variant: str, num_envs: int, steps: int, recorded: Callable[[], tuple[Any, Recording]]
) -> Workload:
    """A scan that begins at the start of the recording in each call; the observation there is carried."""
    observe = _OBSERVED.get(variant, lambda env: env.observe)(env)
    step = _step(env, observe, resets=variant != "no reset")

    def start(key: Key, params: tuple[Any, Recording]) -> Any:
        numbers, recording = params
        return jax.vmap(observe, in_axes=(0, None))(recording.state, numbers), jnp.float32(0)

    def run(key: Key, carry: Any, params: tuple[Any, Recording]) -> tuple[Any, Any]:
        seen, total = carry
        numbers, (state, keys, actions) = params
        if variant == "cheap draws":
            keys = jax.random.wrap_key_data(jax.random.key_data(keys), impl=CHEAP)
        given = None if variant in ("whole", "cheap draws") else actions
        played = _play(step, (seen, state), keys, numbers, given)
        return (seen, total + jnp.sum(played[0][1])), played  # the next call waits for the sum

    return Workload(f"{env.name}, {variant}", num_envs, num_envs * steps, recorded, start, run)


def _play(step: Step, carry: Any, keys: jax.Array, params: Any, actions: jax.Array | None = None) -> Any:
    """Steps with random legal actions picked on the way, or with given ones: ((last carry, rewards), actions).

    The first of the keys ([T + 1]) is for the first action.
    """

    def picked(seen: Any, key: Key) -> jax.Array:
        return pick(jax.random.split(key)[0], seen.action_mask)

    def body(carry: Any, xs: Any) -> tuple[Any, Any]:
        (seen, state, action), total = carry
        key, following = xs
        (seen, state), reward = step((seen, state), key, action, params)
        following = picked(seen, key) if actions is None else following  # picked ahead, as in the benchmark
        return ((seen, state, following), total + reward), action if actions is None else None

    seen, state = carry
    first = picked(seen, keys[0]) if actions is None else actions[0]
    reward = jax.eval_shape(step, carry, keys[0], first, params)[1]
    after = keys[1:] if actions is None else jnp.concatenate([actions[1:], actions[:1]])
    start = ((seen, state, first), jnp.zeros(reward.shape, jnp.float32))
    return lax.scan(body, start, (keys[1:], after))


def _step(env: Environment, observe: Any, *, resets: bool) -> Step:
    """One step of a batch that observes in the given way."""

    def one(key: Key, state: Any, action: jax.Array, params: Any) -> tuple[Any, jax.Array, Any]:
        turn_key, reset_key = jax.random.split(key)
        if resets:
            _, state, reward, *_ = env.transition_or_reset(turn_key, reset_key, state, action, params)
        else:
            state, reward, *_ = env.transition(turn_key, state, action, params)
        return state, reward, observe(state, params)

    def step(carry: Any, key: Key, action: jax.Array, params: Any) -> tuple[Any, Any]:
        keys = jax.random.split(jax.random.split(key)[1], len(action))
        state, reward, seen = jax.vmap(one, in_axes=(0, 0, 0, None))(keys, carry[1], action, params)
        return (seen, state), reward

    return step


def _nothing(env: Environment) -> Any:
    return lambda state, params: ()


def _mask(env: Environment) -> Any:
    return env.action_mask


_OBSERVED = {"mask alone": _mask, "nothing observed": _nothing, "no reset": _nothing}
