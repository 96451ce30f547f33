"""Rules about repetition: without a batch, twice, and with another illegal action."""

import dataclasses

import jax
import numpy as np

from jaxenv.testing import programs
from jaxenv.testing.rule import Unchecked, at, broken, require_equal, rule
from jaxenv.testing.run import CheckRun

LENGTH = 8  # steps of one episode
STATES = 8  # in which illegal actions are compared
CHOICES = 4  # illegal actions compared in each


@rule(mistake="Python's or NumPy's random numbers, a clock or a global counter become constants while tracing")
def determinism(run: CheckRun) -> None:
    """The same arguments give the same bits."""
    programs.require_same_program(run)
    rollout, again = run.rollouts
    first = jax.tree.map(lambda leaf: leaf[0], rollout.replace(reset=None))
    for name in ("step", "step_env", "mask_after", "is_truncated"):
        found, expected = getattr(again, name), getattr(first, name)
        require_equal(f"{name}, called again with the same arguments,", found, expected, where="at step 0", exact=True)


@rule(mistake="the float order matters: large numbers cancel, or a float is cast to an integer or compared")
def vmap_equals_a_loop(run: CheckRun) -> None:
    """A batch gives what its episodes give one by one: integers to the bit, floats to 1e-5."""
    rollout, state = run.rollout, None
    for step in range(min(len(rollout.action), LENGTH)):
        result = run.single_step(rollout, step, 0, state=state)
        batched = jax.tree.map(lambda leaf, step=step: leaf[step, 0], rollout.step)
        require_equal("step without a batch", result, batched, where=at(step, 0))
        state = result[1]


@rule(mistake="the environment changes a field of itself while it is traced")
def compiles_once(run: CheckRun) -> None:
    """One compiled step serves every state, and tracing leaves the environment unchanged."""
    rollout, state, twin = run.rollout, None, dataclasses.replace(run.env)  # pyright: ignore
    jax.eval_shape(lambda key, params: run.env.reset_env(key, params), run.key, run.params)
    if run.env != twin:
        broken("the environment is not equal to what it was before reset was traced")
    for step in range(min(len(rollout.action), 3)):
        state = run.single_step(rollout, step, 0, state=state)[1]
        if run.single_step.traces > 1:
            broken(f"step was traced again at step {step}, with arguments of the same shapes and dtypes")


@rule(mistake="an effect is applied before the action is found to be illegal")
def illegal_actions(run: CheckRun) -> None:
    """All illegal actions lead from one state to the same next state."""
    rollout = run.rollout
    refused = ~rollout.accepted
    places = np.argwhere(refused.sum(axis=-1) >= 2)
    for place in places[:: max(1, len(places) // STATES)][:STATES]:
        step, episode, *agent = place
        states = {}
        for choice in np.flatnonzero(refused[tuple(place)])[:CHOICES]:
            action = np.array(rollout.action[step, episode])
            action[tuple(agent)] = choice
            states[choice] = run.single_step(rollout, step, episode, action=action)[1]
        first, *others = states
        for other in others:
            what = f"after illegal action {other} instead of {first}, state"
            require_equal(what, states[other], states[first], where=at(step, episode))
    if not len(places):
        raise Unchecked("no state has two illegal actions to compare")
