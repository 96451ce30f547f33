"""Rules about the rollout: ends, resets, spaces, masks, rewards, batches, illegal actions, and hidden information."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.testing.rule import Broken, Unchecked, at, is_float, require_equal, rule
from jaxenv.testing.run import CheckRun

LENGTH = 8  # steps of one episode
STATES = 8  # in which illegal actions are compared
CHOICES = 4  # illegal actions compared in each


@rule(mistake="an end is computed from the state after the reset, or in two places", reads_info=True)
def ends(run: CheckRun) -> None:
    """`step` reports the ends and the reward of `step_env` and `is_truncated`."""
    rollout = run.rollout
    _, _, reward, terminated, truncated, info = rollout.step
    require_equal("terminated of step", terminated, rollout.step_env[3])
    require_equal("truncated of step", truncated, rollout.is_truncated)
    require_equal("the end in info", (info["terminated"], info["truncated"]), (terminated, truncated))
    require_equal("the reward of step", reward, rollout.step_env[2])


@rule(mistake="it was not raised with the limit of a scenario, or truncation comes a step late")
def time_limit(run: CheckRun) -> None:
    """`params.max_steps_in_episode` is an upper bound on the steps of every episode."""
    limit = getattr(run.params, "max_steps_in_episode", None)
    if limit is None:
        raise Broken("params has no max_steps_in_episode")
    steps = np.zeros(run.rollout.done.shape[1], int)
    for step, done in enumerate(run.rollout.done):
        steps += 1
        late = np.flatnonzero((steps >= int(limit)) & ~done)
        if late.size:
            raise Broken(f"max_steps_in_episode is {int(limit)} and an episode continues after it {at(step, late[0])}")
        steps[done] = 0


@rule(mistake="the state stores it under another name than `scenario`: override scenario_index")
def scenario_index(run: CheckRun) -> None:
    """`scenario_index(state)` is the index of `params.bank` that the episode plays."""
    bank = getattr(run.params, "bank", None)
    if not isinstance(bank, ScenarioBank):
        raise Unchecked("params has no scenario bank")

    def reported(index: Any) -> Any:
        return run.env.scenario_index(run.env.init(run.key, run.params, index))

    indices = np.unique([0, bank.size // 2, bank.size - 1]).astype(np.int32)
    try:
        found = np.asarray(jax.jit(jax.vmap(reported))(indices))
    except AttributeError as error:
        raise Broken(f"scenario_index fails: {error}") from error
    for index, one in zip(indices, found, strict=True):
        if (one != index).any():
            raise Broken(f"an episode of scenario {index} reports scenario {one}")


@rule(mistake="it is taken after the reset", reads_info=True)
def final_observation(run: CheckRun) -> None:
    """`info['final_observation']` is the observation before the reset."""
    rollout = run.rollout
    require_equal("info['final_observation']", rollout.step[5]["final_observation"], rollout.step_env[0])


@rule(mistake="a field of the old state is kept, or the observation is that of the old state")
def automatic_reset(run: CheckRun) -> None:
    """After an end, observation and state are those of a reset with the second half of the key, else of `step_env`."""
    rollout = run.rollout

    def select(fresh: np.ndarray, old: np.ndarray) -> np.ndarray:
        return np.where(rollout.done.reshape(rollout.done.shape + (1,) * (fresh.ndim - 2)), fresh, old)

    expected = jax.tree.map(select, rollout.reset, tuple(rollout.step_env[:2]))
    for what, found, wanted in zip(("observation", "state"), rollout.step[:2], expected, strict=True):
        require_equal(f"the {what} of step", found, wanted)
    if not rollout.done.any():
        raise Unchecked(f"no episode ended in {len(rollout.done)} steps")


@rule(mistake="a bound was not changed with the rules, or padding lies outside")
def spaces(run: CheckRun) -> None:
    """The spaces contain every observation, state and action."""
    for name, contained in run.rollout.contained.items():
        outside = np.argwhere(~contained)
        if outside.size:
            step, episode = outside[0]
            what, *fields = name.split(".")
            value = functools.reduce(getattr, fields, getattr(run.rollout, what))
            shown = f" is {np.ravel(value[step, episode])[:8]}" if isinstance(value, np.ndarray) else ""
            raise Broken(f"{what}_space does not contain the {what}: {name}{shown} {at(step, episode)}")


@rule(mistake="a division by a count that can be zero, which a jnp.where does not undo")
def finite(run: CheckRun) -> None:
    """Nothing is NaN or infinite."""
    for what in ("state", "observation", "step"):
        for path, leaf in jax.tree_util.tree_leaves_with_path(getattr(run.rollout, what)):
            wrong = np.argwhere(~np.isfinite(leaf.astype(np.float32))) if is_float(leaf) else np.empty(0)
            if wrong.size:
                index = tuple(wrong[0])
                raise Broken(f"{what}{jax.tree_util.keystr(path)} is {leaf[index]} {at(*index[:2])}")


@rule(mistake="mask and transition decide by separate code: let both call one function")
def mask(run: CheckRun) -> None:
    """`action_mask` is true exactly where the transition accepts, and all true after the end."""
    rollout = run.rollout
    if not hasattr(rollout.observation, "action_mask"):
        raise Broken("the observation has no action_mask")
    require_equal("observation.action_mask", rollout.observation.action_mask, rollout.mask)
    is_flagged = rollout.accepted is not None
    wrong = np.argwhere(rollout.mask != rollout.accepted) if is_flagged else np.empty(0)
    if wrong.size:
        step, episode, *agent, action = wrong[0]
        claim, answer = ("legal", "refuses") if rollout.mask[tuple(wrong[0])] else ("illegal", "accepts")
        who = f" of agent {agent[0]}" if agent else ""
        raise Broken(f"action {action}{who} is {claim} by the mask and the transition {answer} it {at(step, episode)}")
    all_legal = rollout.mask_after.reshape(*rollout.done.shape, -1).all(axis=-1)
    for problem, holds in (
        ("no action is legal before the end", rollout.mask.any(axis=-1)),
        ("not every action is legal after the end", all_legal | ~rollout.done),
    ):
        places = np.argwhere(~holds)
        if places.size:
            raise Broken(f"{problem}, {at(*places[0][:2])}")
    if not is_flagged:
        raise Unchecked("info has no invalid_action, which says what the transition accepts; the mask's ends are right")


@rule(mistake="a term was added to the reward alone", reads_info=True)
def reward_parts(run: CheckRun) -> None:
    """`info['reward_parts']` sums to the reward."""
    _, _, reward, _, info = run.rollout.step_env
    parts = [np.asarray(part, np.float64) for part in jax.tree.leaves(info["reward_parts"])]
    require_equal("the sum of info['reward_parts']", sum(parts), np.asarray(reward, np.float64))


@rule(mistake="the float order matters: large numbers cancel, or a float is cast to an integer or compared")
def vmap_equals_a_loop(run: CheckRun) -> None:
    """A batch gives what its episodes give one by one: integers to the bit, floats to 1e-5."""
    rollout, state = run.rollout, None
    for step in range(min(len(rollout.action), LENGTH)):
        result = run.single_step(step, 0, state=state)
        batched = jax.tree.map(lambda leaf, step=step: leaf[step, 0], rollout.step)
        require_equal("step without a batch", result, batched, where=at(step, 0))
        state = result[1]


@rule(mistake="the environment changes a field of itself while it is traced")
def compiles_once(run: CheckRun) -> None:
    """One compiled step serves every state, and tracing leaves the environment unchanged."""
    state, twin = None, dataclasses.replace(run.env)  # pyright: ignore
    jax.eval_shape(lambda key, params: run.env.reset_env(key, params), run.key, run.params)
    if run.env != twin:
        raise Broken("the environment is not equal to what it was before reset was traced")
    for step in range(min(len(run.rollout.action), 3)):
        state = run.single_step(step, 0, state=state)[1]
        if run.traces > 1:
            raise Broken(f"step was traced again at step {step}, with arguments of the same shapes and dtypes")


@rule(mistake="an effect is applied before the action is found to be illegal", reads_info=True)
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
            states[choice] = run.single_step(step, episode, action=action)[1]
        first, *others = states
        for other in others:
            what = f"after illegal action {other} instead of {first}, state"
            require_equal(what, states[other], states[first], where=at(step, episode))
    if not len(places):
        raise Unchecked("no state has two illegal actions to compare")


@rule(mistake="observe reads the scenario or the state where it should read what was revealed")
def hidden_information(run: CheckRun) -> None:
    """Hidden information does not change any observation."""
    perturb, rollout = run.perturb_hidden, run.rollout
    if perturb is None:
        raise Unchecked("pass perturb_hidden (--hidden MODULE:FUNCTION), which changes what the agent must not see")

    def observe(key: Any, state: Any, params: Any, perturbed: Any) -> Any:
        plain, other = (state, params), perturb(key, state, params)
        pairs = zip(jax.tree.leaves(other), jax.tree.leaves(plain), strict=True)
        differs = jnp.stack([jnp.any(new != old) for new, old in pairs]).any()
        shown = jax.tree.map(lambda new, old: jnp.where(perturbed, new, old), other, plain)
        return run.env.observe(*shown), differs

    count = rollout.done.size
    states = jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[2:]), rollout.state)
    keys = jax.random.split(jax.random.fold_in(run.key, 1), count)
    program = jax.jit(jax.vmap(observe, in_axes=(0, 0, None, None)))  # one program for both, so floats agree to the bit
    (plain, _), (other, differs) = (jax.device_get(program(keys, states, run.params, flag)) for flag in (False, True))
    if not differs.any():
        raise Broken("perturb_hidden changed nothing in any state, so nothing was checked")
    require_equal("observe", other, plain, where="when hidden information changes", exact=True)
