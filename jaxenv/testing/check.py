"""check_environment: the contract of `jaxenv.core.Environment` as rules that fail with their name."""

import warnings
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import jax

from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.testing.rules import BEFORE_PLAY, RULES
from jaxenv.testing.trial import PerturbHidden, Trial
from jaxenv.testing.verdict import Broken, ConformanceError, Unchecked

STEPS = 32


class Verdict(NamedTuple):
    """What became of one rule."""

    rule: str
    status: Literal["ok", "broken", "not checked"]
    message: str  # the law where it holds, else what was found, or why nothing was


def check_environment(
    env: Environment,
    params: Any,
    *,
    key: Key | None = None,
    steps: int = STEPS,
    perturb_hidden: PerturbHidden | None = None,
) -> None:
    """Plays `env` and checks every rule of the contract; `python -m jaxenv.testing ID` prints a line a rule.

    What the environment finds odd about `params` (`Environment.warnings`) is a warning.

    Eight episodes are played side by side with random actions, illegal ones among them, and the rules read that
    record. Several agents are the same with a leading axis N: masks [N, A], actions [N] (one value of the
    `action_space`), rewards and `info["invalid_action"]` [N].

    Args:
        env: an environment, wrapped or not.
        params: its params.
        key: of the actions and episodes; `jax.random.key(0)` if left out.
        steps: how many steps each episode is played, over several resets; more if none ends by then.
        perturb_hidden: (key, state, params) -> (state, params) that look the same to the agent and differ in what it
            must not see, in the same shapes and dtypes; without it `hidden is silent` is not checked.

    Raises:
        ConformanceError: at the first rule that is broken, with its name, what was found and where, what was expected
            and what mistake usually brings it about.
    """
    for verdict in examine(env, params, key=key, steps=steps, perturb_hidden=perturb_hidden):
        if verdict.status == "broken":
            raise ConformanceError(f"{verdict.rule}: {verdict.message}")
    for warning in env.warnings(params):
        warnings.warn(warning, stacklevel=2)


def examine(
    env: Environment,
    params: Any,
    *,
    key: Key | None = None,
    steps: int = STEPS,
    perturb_hidden: PerturbHidden | None = None,
) -> Iterator[Verdict]:
    """The verdict on every rule, as they are reached; arguments as in `check_environment`."""
    if steps < 1:
        raise ValueError(f"steps={steps}: at least one step is played")
    key = jax.random.key(0) if key is None else key
    trial = Trial(env, params, key, steps, perturb_hidden)
    playable = True
    for name, rule in RULES.items():
        if not playable:
            yield Verdict(name, "not checked", "what is broken above has to hold first")
            continue
        try:
            rule.check(trial)
        except Broken as problem:
            playable = False if name in BEFORE_PLAY else playable
            yield Verdict(name, "broken", f"{problem}. Expected: {rule.law}. Usual cause: {rule.mistake}.")
        except Unchecked as reason:
            yield Verdict(name, "not checked", str(reason))
        else:
            yield Verdict(name, "ok", rule.law)
