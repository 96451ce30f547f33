"""check_environment: the contract of `jaxenv.core.Environment` as named rules."""

import warnings
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import jax

from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.testing import episodes, programs
from jaxenv.testing.rule import Broken, ConformanceError, Rule, Unchecked
from jaxenv.testing.run import CheckRun, PerturbHidden

STEPS = 32

RULES = {each.name: each for module in (programs, episodes) for each in vars(module).values() if isinstance(each, Rule)}
"""Name -> rule, in the order in which the modules define them."""


class Verdict(NamedTuple):
    """The result of one rule."""

    rule: str
    status: Literal["ok", "broken", "not checked"]
    message: str  # the law where it holds, else the finding, or the reason why it was not checked


def check_environment(
    env: Environment,
    params: Any,
    *,
    key: Key | None = None,
    steps: int = STEPS,
    perturb_hidden: PerturbHidden | None = None,
) -> None:
    """Plays `env` and checks every rule of the contract; `python -m jaxenv.testing ID` prints a line for each.

    `Environment.warnings` about `params` are raised as Python warnings.

    The check plays eight episodes side by side with random actions, some of them illegal, and the rules read that
    rollout. Several agents are the same with a leading axis N: masks [N, A], actions [N] (one value of the
    `action_space`), rewards and `info["invalid_action"]` [N].

    >>> import jaxenv
    >>> from jaxenv.testing import check_environment
    >>> class IntegerReward(jaxenv.wrappers.Wrapper):
    ...     def transition(self, key, state, action, params):
    ...         state, reward, terminated, info = self.env.transition(key, state, action, params)
    ...         return state, reward.astype(int), terminated, info
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> check_environment(IntegerReward(env), params)
    Traceback (most recent call last):
    jaxenv.testing.rule.ConformanceError: avals: the reward is int32[], expected float32[]. ...

    Args:
        env: an environment, wrapped or not.
        params: its params.
        key: seeds the actions and episodes; `jax.random.key(0)` by default.
        steps: how many steps each episode takes, over several resets; more if none ends by then.
        perturb_hidden: (key, state, params) -> (state, params) that look the same to the agent and differ in parts
            that it must not see, in the same shapes and dtypes; without it `hidden information` is not checked.

    Raises:
        ConformanceError: at the first broken rule, with its name, the finding and its place, the expectation, and the
            mistake that usually causes it.
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
    """Yields the verdict on each rule as soon as it is reached; arguments as in `check_environment`.

    >>> import jaxenv
    >>> from jaxenv.testing import examine
    >>> next(examine(*jaxenv.make("LifeOps-v0")))
    Verdict(rule='value', status='ok', message='An environment is a frozen dataclass, equal and hashable by its fields')
    """
    if steps < 1:
        raise ValueError(f"steps={steps}: expected at least 1")
    run = CheckRun(env, params, jax.random.key(0) if key is None else key, steps, perturb_hidden)
    playable = has_info = True
    for name, rule in RULES.items():
        if not playable:
            yield Verdict(name, "not checked", "a rule above is broken, without which no episode can be played")
            continue
        if not has_info and rule.reads_info:
            yield Verdict(name, "not checked", "the rule info is broken, and this one reads info")
            continue
        try:
            rule.check(run)
        except Broken as problem:
            playable, has_info = not rule.is_precondition, has_info and rule is not programs.info
            yield Verdict(name, "broken", f"{problem}. Expected: {rule.law}. Usual cause: {rule.mistake}.")
        except Unchecked as reason:
            yield Verdict(name, "not checked", str(reason))
        else:
            yield Verdict(name, "ok", rule.law)
