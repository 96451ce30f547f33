"""Rules about doing it again: alone and without a batch, twice, with another illegal action."""

import dataclasses

import jax
import numpy as np

from jaxenv.testing import programs
from jaxenv.testing.trial import Trial
from jaxenv.testing.verdict import Unchecked, at, broken, require_equal

LENGTH = 8  # steps of one episode
STATES = 8  # in which illegal actions are compared
CHOICES = 4  # illegal actions compared in each


def determinism(trial: Trial) -> None:
    """Traced twice, the same program; called twice, the same bits."""
    programs.same_program(trial)
    record, again = trial.played
    first = jax.tree.map(lambda leaf: leaf[0], record.replace(fresh=None))
    for what in ("result", "unreset", "mask_after", "truncated"):
        found, expected = getattr(again, what), getattr(first, what)
        name = {"result": "step", "unreset": "step_env"}.get(what, what)
        require_equal(f"{name}, called again with the same arguments,", found, expected, where="at step 0", exact=True)


def vmap_equals_a_loop(trial: Trial) -> None:
    """One episode by itself repeats that of the batch."""
    record, state = trial.record, None
    for step in range(min(len(record.action), LENGTH)):
        result = trial.alone(record, step, 0, state=state)
        batched = jax.tree.map(lambda leaf, step=step: leaf[step, 0], record.result)
        require_equal("step without a batch", result, batched, where=at(step, 0))
        state = result[1]


def compiles_once(trial: Trial) -> None:
    """Steps from the states of reset and step share one trace, and being traced leaves the environment as it was."""
    record, state, twin = trial.record, None, dataclasses.replace(trial.env)  # pyright: ignore
    jax.eval_shape(lambda key, params: trial.env.reset_env(key, params), trial.key, trial.params)
    if trial.env != twin:
        broken("the environment is not equal to what it was before reset was traced")
    for step in range(min(len(record.action), 3)):
        state = trial.alone(record, step, 0, state=state)[1]
        if trial.alone.traces > 1:
            broken(f"step was traced again at step {step}, with arguments of the same shapes and dtypes")


def illegal_actions(trial: Trial) -> None:
    """In one state, all illegal actions lead to the same state."""
    record = trial.record
    refused = ~record.accepts
    places = np.argwhere(refused.sum(axis=-1) >= 2)
    for place in places[:: max(1, len(places) // STATES)][:STATES]:
        step, episode, *agent = place
        states = {}
        for choice in np.flatnonzero(refused[tuple(place)])[:CHOICES]:
            action = np.array(record.action[step, episode])
            action[tuple(agent)] = choice
            states[choice] = trial.alone(record, step, episode, action=action)[1]
        first, *others = states
        for other in others:
            what = f"after illegal action {other} and not {first}, state"
            require_equal(what, states[other], states[first], where=at(step, episode))
    if not len(places):
        raise Unchecked("no state has two illegal actions to compare")
