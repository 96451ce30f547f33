"""How long training takes to reach a score: supersteps with a test after each, until it is reached or time is up."""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax

import jaxenv
from train import ppo
from train.settings.config import Config


@dataclasses.dataclass(frozen=True)
class Reached:
    """How far a training came, and when."""

    env: str
    target: float
    score: float  # the last, of a policy that takes the most probable actions
    is_reached: bool
    env_steps: int
    seconds: float  # of supersteps alone
    seconds_in_all: float  # with the tests between them
    compile_s: float  # before: compilation, and the first scenarios and episodes


def train_to(target: float, score_of: Callable[[Any], float], config: Config, *, limit: float = 1e9) -> Reached:
    """Trains by a config until a score is reached, its steps are done, or time is up.

    Args:
        target: the score.
        score_of: policy -> score; called after each superstep.
        config: the settings; its learning rate falls over its own `total_steps`, reached or not.
        limit: seconds of all of it; the superstep that runs then is the last.
    """
    env, params = jaxenv.make(config.env)
    policy_of = functools.partial(ppo.policy_of, config=config, env=env)
    entered = time.perf_counter()
    state = ppo.init(jax.random.key(config.seed), params, config=config, env=env)
    superstep = ppo.make_superstep(config, env).lower(state, params, config.hyper).compile()
    score = score_of(policy_of(state))  # compiles it
    compile_s = time.perf_counter() - entered
    started, seconds, done = time.perf_counter(), 0.0, 0
    while score < target and done < config.num_supersteps and time.perf_counter() - entered < limit:
        began = time.perf_counter()
        state, _ = jax.block_until_ready(superstep(state, params, config.hyper))
        seconds, done = seconds + time.perf_counter() - began, done + 1
        score = score_of(policy_of(state))
    in_all = time.perf_counter() - started
    steps = done * config.steps_per_superstep
    return Reached(config.env, target, score, score >= target, steps, seconds, in_all, compile_s)


def describe(found: Reached) -> str:
    """In one line.

    >>> describe(Reached("LifeOps-v0", 0.97, 0.981, True, 655_360, 2.0, 3.0, 30.0))
    'LifeOps-v0: score 0.981 (target 0.970) after 655,360 steps, 2.0 s of training (3.0 s with tests, 30.0 s before)'
    """
    short = "" if found.is_reached else ", not reached"
    return (
        f"{found.env}: score {found.score:.3f} (target {found.target:.3f}{short}) after {found.env_steps:,} steps, "
        f"{found.seconds:.1f} s of training ({found.seconds_in_all:.1f} s with tests, {found.compile_s:.1f} s before)"
    )
