"""Episodes in document form, one scenario at a time: the base of the classes `LifeOpsEnv` and `LifeStackEnv`."""

import dataclasses
import functools
import operator
from collections.abc import Mapping
from typing import Any, ClassVar

import jax
import numpy as np

import jaxenv
from jaxenv import baselines
from jaxenv.evaluation import in_state
from jaxenv.rendering.view import to_host
from scenarios.codec import Codec
from scenarios.document_format import DocumentFormat, shortest
from scenarios.libraries import Library, build, shipped
from scenarios.text.errors import ScenarioError, quote
from scenarios.text.records import Record
from scenarios.text.source import Source

Step = tuple[dict[str, Any], float, bool, dict[str, Any]]
"""(observation, reward, done, info), all of dictionaries, lists, text and numbers.

`info` has the entries of the environment's `info`, such as `reward_parts`, and `terminated` and `truncated`.
"""

MAX_SEED = 2**32 - 1


class DocumentEnv:
    """Plays one scenario at a time with the observations and actions of `scenarios.Codec`; it has no rules of its own.

    A subclass names its document format and writes `reset`.

    Attributes:
        format: the documents that it plays.
    """

    format: ClassVar[DocumentFormat]

    def __init__(self, id: str, seed: int = 0, **static: Any) -> None:
        """Builds an environment; no episode runs before `reset`.

        Args:
            id: one of `jaxenv.registered()`, of this class's documents.
            seed: random seed, 0 to 2³² − 1.
            **static: further arguments of `jaxenv.make`, such as `limits`.

        Raises:
            ValueError: where there is no such environment; a ScenarioError where it plays other documents, and for a
                seed out of range.
        """
        self._env: Any = jaxenv.make(id, **static)[0]
        if not isinstance(self._env, self.format.environment):
            raise ScenarioError(f"{id} plays other documents, expected an environment of {self.format.name}.")
        self._key = key_of(seed)
        self._codec: Codec | None = None  # of the running episode, like the state
        self._state: Any = None

    def valid_actions(self) -> list[dict[str, Any]]:
        """The legal actions, in catalogue order; none once the episode has ended."""
        return [action for _, action in self._playing().legal_actions(self._state)]

    def observation(self) -> dict[str, Any]:
        """The agent's observation."""
        return self._playing().observation(self._state)

    def step(self, action: Mapping[str, Any] | Record) -> Step:
        """Takes a legal action; fields that it does not use may be left out.

        Returns:
            (observation, reward, done, info).

        Raises:
            ScenarioError: where the action is not legal now, with the nearest one; nothing has happened then.
        """
        codec = self._playing()
        index = codec.encode(self._state, action)
        self._state, reward, ends, info = advance(codec.env, self._next_key(), self._state, index, codec.params)
        return self.observation(), shortest(reward), any(ends.values()), {**_plain(info), **ends}

    def _begin(self, scenario: str | Mapping[str, Any] | Record | None) -> dict[str, Any]:
        """Begins an episode of a scenario of the library, of a document, or of one drawn: its first observation."""
        library = self._library_of(scenario)
        codec = self._codec = Codec(self._env, self._env.params_for(library.bank), library)
        self._state = to_host(codec.env.reset(self._next_key(), codec.params, 0)[1])
        return self.observation()

    def _library_of(self, scenario: str | Mapping[str, Any] | Record | None) -> Library:
        """The one scenario, in the capacities of the environment."""
        if scenario is None:
            scenario = self._library.documents[int(jax.random.randint(self._next_key(), (), 0, len(self._library)))]
        if isinstance(scenario, str) and scenario:
            return shipped(self.format, scenario, self._env.limits)
        if not isinstance(scenario, Mapping | Record):
            name = self.format.document.__name__
            raise ScenarioError(f"no scenario {quote(scenario)}, expected the id of one of the library or a {name}.")
        return build(self.format, [Source(scenario, "the document", "scenario_1")], self._env.limits)

    @functools.cached_property
    def _library(self) -> Library:
        """The source of scenarios."""
        return shipped(self.format)

    def _playing(self) -> Codec:
        """The words of the running episode."""
        if self._codec is None:
            raise ScenarioError("no episode has begun: call reset() first.")
        return self._codec

    def _next_key(self) -> jax.Array:
        """A key that is used once."""
        self._key, key = jax.random.split(self._key)
        return key


def key_of(seed: Any) -> jax.Array:
    """The random key of a seed.

    >>> key_of(-1)
    Traceback (most recent call last):
    scenarios.text.errors.ScenarioError: the seed is -1, expected a whole number from 0 to 4294967295.

    Raises:
        ScenarioError: for a seed out of range.
    """
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except Exception:  # of whatever is no whole number
        number = -1
    if not 0 <= number <= MAX_SEED:
        raise ScenarioError(f"the seed is {quote(seed)}, expected a whole number from 0 to {MAX_SEED}.")
    return jax.random.key(number)


def advance(
    env: Any, key: Any, state: Any, index: Any, params: Any
) -> tuple[Any, Any, dict[str, bool], dict[str, Any]]:
    """One step without automatic reset: (state, reward, `terminated` and `truncated`, info), on the host."""
    state, reward, ends, info = to_host(transition(env, key, state, index, params))
    return state, reward, {name: bool(value) for name, value in ends.items()}, info


@functools.partial(jax.jit, static_argnums=0)
def transition(
    env: Any, key: Any, state: Any, index: Any, params: Any
) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    """The same as arrays. Of several agents the first takes the action; the others are `teammates`."""
    if env.num_agents > 1:
        index = teammates(env, key, state, params).at[0].set(index)
    state, reward, terminated, info = env.transition(key, state, index, params)  # `step_env` without the arrays seen
    if env.num_agents > 1:
        own = {name: info[name] for name in ("reward_parts", "invalid_action")}
        reward, own = jax.tree.map(lambda leaf: leaf[0], (reward, own))
        info |= own
    return state, reward, {"terminated": terminated, "truncated": env.is_truncated(state, params)}, info


def teammates(env: Any, key: Any, state: Any, params: Any) -> jax.Array:
    """[N] int32: what the last of the baselines, a rule, does in the place of each agent."""
    *_, rule = baselines.for_environment(env).values()
    start, act = in_state(rule, env)
    return act(jax.random.fold_in(key, env.num_agents), state, params, start)[0]


def _plain(value: Any) -> Any:
    """Records as dictionaries, arrays as numbers and lists."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    array = np.asarray(value)
    is_number = array.dtype == np.float32 and not array.ndim
    return shortest(array) + 0.0 if is_number else array.tolist()  # -0.0 becomes 0.0
