"""Rules about what was played: spaces, masks, rewards, ends and what is hidden."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.testing.trial import Trial
from jaxenv.testing.verdict import Unchecked, at, broken, is_float, require_equal


def spaces(trial: Trial) -> None:
    """Observations, states and actions lie in their spaces."""
    record = trial.record
    for name, inside in record.inside.items():
        outside = np.argwhere(~inside)
        if outside.size:
            step, episode = outside[0]
            what, *fields = name.split(".")
            value = functools.reduce(getattr, fields, getattr(record, what))
            shown = f" is {np.ravel(value[step, episode])[:8]}" if isinstance(value, np.ndarray) else ""
            broken(f"{what}_space does not contain the {what}: {name}{shown} {at(step, episode)}")


def finite(trial: Trial) -> None:
    """No NaN and no infinity."""
    record = trial.record
    for what, tree in (("state", record.state), ("observation", record.observation), ("step", record.result)):
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
            odd = np.argwhere(~np.isfinite(leaf.astype(np.float32))) if is_float(leaf) else np.empty(0)
            if odd.size:
                index = tuple(odd[0])
                broken(f"{what}{jax.tree_util.keystr(path)} is {leaf[index]} {at(*index[:2])}")


def mask(trial: Trial) -> None:
    """True exactly where the engine accepts, somewhere in every live state, everywhere after the end."""
    record = trial.record
    if not hasattr(record.observation, "action_mask"):
        broken("the observation has no action_mask")
    require_equal("observation.action_mask beside env.action_mask(state)", record.observation.action_mask, record.mask)
    wrong = np.argwhere(record.mask != record.accepts)
    if wrong.size:
        step, episode, *agent, action = wrong[0]
        claim, answer = ("legal", "refuses") if record.mask[tuple(wrong[0])] else ("illegal", "accepts")
        who = f" of agent {agent[0]}" if agent else ""
        broken(f"action {action}{who} is {claim} by the mask and the engine {answer} it {at(step, episode)}")
    for when, allowed in (("in a live state", record.mask.any(axis=-1)), ("after the end", _all_legal(trial))):
        none = np.argwhere(~allowed)
        if none.size:
            few = "no action is legal" if when == "in a live state" else "not every action is legal"
            broken(f"{few} {when}, {at(*none[0][:2])}")


def reward_parts(trial: Trial) -> None:
    """The named parts sum to the reward."""
    _, _, reward, _, told = trial.record.unreset
    parts = [np.asarray(part, np.float64) for part in jax.tree.leaves(told["reward_parts"])]
    require_equal("the sum of info['reward_parts'] beside the reward", sum(parts), np.asarray(reward, np.float64))


def ends(trial: Trial) -> None:
    """`step` and its info tell the ends of `step_env` and `is_truncated`."""
    record = trial.record
    _, _, _, terminated, truncated, told = record.result
    natural, limit = record.unreset[3], record.truncated
    require_equal("terminated of step beside that of step_env", terminated, natural)
    require_equal("truncated of step beside is_truncated(state)", truncated, limit)
    flags = (told["terminated"], told["truncated"])
    require_equal("the end in info beside that of step", flags, (terminated, truncated))
    require_equal("the reward of step beside that of step_env", record.result[2], record.unreset[2])


def time_limit(trial: Trial) -> None:
    """No episode goes on beyond `params.max_steps_in_episode`."""
    limit = getattr(trial.params, "max_steps_in_episode", None)
    if limit is None:
        broken("params has no max_steps_in_episode")
    steps = np.zeros(trial.record.done.shape[1], int)
    for step, done in enumerate(trial.record.done):
        steps += 1
        late = np.flatnonzero((steps >= int(limit)) & ~done)
        if late.size:
            broken(f"max_steps_in_episode is {int(limit)} and an episode goes on after it {at(step, late[0])}")
        steps[done] = 0


def scenario_index(trial: Trial) -> None:
    """An episode of a scenario of the bank says that it plays it."""
    bank = getattr(trial.params, "bank", None)
    if not isinstance(bank, ScenarioBank):
        raise Unchecked("params has no bank of scenarios")

    def told(index: Any) -> Any:
        return trial.env.scenario_index(trial.env.init(trial.key, trial.params, index))

    asked = np.unique([0, bank.size // 2, bank.size - 1]).astype(np.int32)
    try:
        found = np.asarray(jax.jit(jax.vmap(told))(asked))
    except AttributeError as error:
        broken(f"scenario_index fails: {error}")
    for index, one in zip(asked, found, strict=True):
        if (one != index).any():
            broken(f"an episode of scenario {index} says that it plays {one}")


def final_observation(trial: Trial) -> None:
    """It is the observation before the reset."""
    record = trial.record
    told = record.result[5]["final_observation"]
    require_equal("info['final_observation'] beside the observation of step_env", told, record.unreset[0])


def automatic_reset(trial: Trial) -> None:
    """After an end come observation and state of a reset with the second half of the key, else those of `step_env`."""
    record = trial.record

    def following(fresh: np.ndarray, old: np.ndarray) -> np.ndarray:
        return np.where(record.done.reshape(record.done.shape + (1,) * (fresh.ndim - 2)), fresh, old)

    expected = jax.tree.map(following, record.fresh, tuple(record.unreset[:2]))
    for what, found, wanted in zip(("observation", "state"), record.result[:2], expected, strict=True):
        require_equal(f"the {what} of step", found, wanted)
    if not record.done.any():
        raise Unchecked(f"no episode ended in {len(record.done)} steps")


def hidden_is_silent(trial: Trial) -> None:
    """Change what is hidden, and the observation does not move."""
    perturb, record = trial.perturb_hidden, trial.record
    if perturb is None:
        raise Unchecked("pass perturb_hidden (--hidden MODULE:FUNCTION), which changes what the agent must not see")

    def look(key: Any, state: Any, params: Any, perturbed: Any) -> Any:
        plain, other = (state, params), perturb(key, state, params)
        pairs = zip(jax.tree.leaves(other), jax.tree.leaves(plain), strict=True)
        differs = jnp.stack([jnp.any(new != old) for new, old in pairs]).any()
        shown = jax.tree.map(lambda new, old: jnp.where(perturbed, new, old), other, plain)
        return trial.env.observe(*shown), differs

    count = record.done.size
    states = jax.tree.map(lambda leaf: leaf.reshape(count, *leaf.shape[2:]), record.state)
    keys = jax.random.split(jax.random.fold_in(trial.key, 1), count)
    program = jax.jit(jax.vmap(look, in_axes=(0, 0, None, None)))  # one program for both, so that floats have its bits
    (seen, _), (other, differs) = (jax.device_get(program(keys, states, trial.params, flag)) for flag in (False, True))
    if not differs.any():
        broken("perturb_hidden changed nothing in any state, so that nothing was checked")
    require_equal("observe", other, seen, where="when what is hidden is changed", exact=True)


def _all_legal(trial: Trial) -> np.ndarray:
    """[steps, BATCH] bool: the mask is all True, or the episode goes on."""
    record = trial.record
    after = record.mask_after.reshape(*record.done.shape, -1)
    return after.all(axis=-1) | ~record.done
