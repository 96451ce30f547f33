"""The table of rules: the contract of `jaxenv.core.Environment`, a line a rule, in the order of the check."""

from collections.abc import Callable
from typing import NamedTuple

from jaxenv.testing import episodes, programs, repeats
from jaxenv.testing.trial import Trial


class Rule(NamedTuple):
    """A law, the mistake that usually breaks it, and the function that looks; it raises `Broken` or `Unchecked`."""

    law: str
    mistake: str
    check: Callable[[Trial], None]


# Where one of these is broken, there is nothing that could be played.
BEFORE_PLAY: dict[str, Rule] = {
    "value": Rule(
        "an environment is a frozen dataclass, equal and hashable by its fields",
        "a list or an array is a field, or eq=False makes jit compile anew for every instance",
        programs.value,
    ),
    "params are traced": Rule(
        "every number of params is a traced leaf",
        "a field is pytree_node=False, or `if`, `int` or `range` meets a number of params",
        programs.params_are_traced,
    ),
    "jit": Rule(
        "reset and step can be traced",
        "a Python `if` or NumPy function meets a traced array: use jnp.where and jnp",
        programs.jit,
    ),
    "avals": Rule(
        "reset and step give the same shapes, dtypes and weak types, so that a scan can carry them",
        "a Python number got into an array of weak type or another dtype: say jnp.int32(0)",
        programs.avals,
    ),
    "info": Rule(
        "info tells reward_parts, invalid_action, terminated, truncated and final_observation",
        "step is overridden, or an old info is returned",
        programs.info,
    ),
}

PLAYED: dict[str, Rule] = {
    "determinism": Rule(
        "the same arguments give the same bits",
        "Python's or NumPy's random numbers, a clock or a global counter are baked in where it is traced",
        repeats.determinism,
    ),
    "ends": Rule(
        "step tells the ends and the reward of step_env and is_truncated",
        "an end is computed of the state after the reset, or in two places",
        episodes.ends,
    ),
    "time limit": Rule(
        "params.max_steps_in_episode is an upper bound on the steps of every episode",
        "it was not raised with the limit of a scenario, or truncation is told a step late",
        episodes.time_limit,
    ),
    "scenario index": Rule(
        "scenario_index(state) is the index of params.bank that the episode plays",
        "the state keeps it under another name than `scenario`: override scenario_index",
        episodes.scenario_index,
    ),
    "final observation": Rule(
        "info['final_observation'] is the observation before the reset",
        "it is taken after the reset",
        episodes.final_observation,
    ),
    "automatic reset": Rule(
        "after an end, observation and state are those of a new episode, else those of the turn",
        "a field of the old state is kept, or the observation is that of the old state",
        episodes.automatic_reset,
    ),
    "spaces": Rule(
        "the spaces contain every observation, state and action",
        "a bound was not moved with the rules, or padding lies outside",
        episodes.spaces,
    ),
    "finite": Rule(
        "nothing is NaN or infinite",
        "a division by a count that can be zero, also behind a jnp.where",
        episodes.finite,
    ),
    "mask": Rule(
        "action_mask is true exactly where the engine accepts, and all true after the end",
        "the mask and the transition decide by code of their own: let both call one function",
        episodes.mask,
    ),
    "reward parts": Rule(
        "info['reward_parts'] sums to the reward",
        "a term was added to the reward alone",
        episodes.reward_parts,
    ),
    "vmap equals a loop": Rule(
        "a batch gives what its episodes give alone: integers to the bit, floats to 1e-5",
        "the float order matters: great numbers cancel, or a float is cast to an integer or compared",
        repeats.vmap_equals_a_loop,
    ),
    "compiles once": Rule(
        "one compiled step serves every state, and tracing leaves the environment as it is",
        "the environment changes a field of itself while it is traced",
        repeats.compiles_once,
    ),
    "illegal actions": Rule(
        "an illegal action changes nothing but what passes anyway, whichever it is",
        "an effect is applied before the action is judged",
        repeats.illegal_actions,
    ),
    "hidden is silent": Rule(
        "what is hidden moves no observation",
        "observe reads the scenario or the state where it should read what was revealed",
        episodes.hidden_is_silent,
    ),
}

RULES: dict[str, Rule] = BEFORE_PLAY | PLAYED
