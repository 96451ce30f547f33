"""The codec: states and actions of a running environment in the words of the documents."""

import difflib
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from pydantic import ValidationError

from jaxenv.core import Environment, ScenarioBank
from scenarios import environments
from scenarios.errors import ScenarioError
from scenarios.loading import Library
from scenarios.records import problems_of


class _Choices(NamedTuple):
    """The catalogue at one state."""

    actions: list[dict[str, Any]]  # one for each index
    legal: np.ndarray  # [A] bool, all False once the episode has ended
    feasible: np.ndarray  # [A] bool, likewise


class Codec:
    """Speaks of one unbatched state as documents do, for people, prompts and recorded traces.

    Actions are mappings with the fields of the environment's `Action`, such as
    `{"action_type": "reject_event", "request_id": "r1"}` or
    `{"type": "join_call", "payload": {"channelId": "channel-1"}}`; those given back are as the catalogue writes them.
    """

    def __init__(self, env: Environment, params: Any, library: Library, agent: int = 0) -> None:
        """Joins an environment with the documents of its bank.

        Args:
            env: wrapped or not; states must be its own.
            params: hold the bank of `library`.
            library: names what the arrays number.
            agent: which of several agents it speaks for.

        Raises:
            ScenarioError: where `params.bank` is not the bank of `library`, `env` another environment, or there is no
                such agent.
        """
        self._env: Any = getattr(env, "unwrapped", env)
        self._package = environments.named(library.environment)
        self._params = params
        self._documents = library.documents
        if not isinstance(self._env, self._package.Environment):
            raise ScenarioError(f"{self._env.name} does not play {library.environment}, of which the library is.")
        agents = getattr(self._env, "num_agents", 1)
        if not 0 <= agent < agents:
            raise ScenarioError(f"no agent {agent} in {self._env.name}, expected a number from 0 to {agents - 1}.")
        banks = (library.bank, library.bank.resize(self._env.empty_scenario))
        if _without_shared(params.bank) not in [_without_shared(bank) for bank in banks]:
            raise ScenarioError(
                f"params.bank ({params.bank.size} scenarios) is not the bank of the library "
                f"({len(library)}): use params.replace(bank=library.bank)."
            )
        standpoint = getattr(self._package, "standpoint", None)
        self._view = (standpoint(self._env, params, library.documents, agent),) if standpoint else ()

    def legal_actions(self, state: Any) -> list[tuple[int, dict[str, Any]]]:
        """(index, action) of every legal entry, in catalogue order; none once the episode has ended."""
        choices = self._choices(state)
        return [(index, choices.actions[index]) for index in np.flatnonzero(choices.legal).tolist()]

    def feasible_actions(self, state: Any) -> list[tuple[int, dict[str, Any]]]:
        """(index, action) of the legal entries that the environment's optional mask keeps."""
        choices = self._choices(state)
        kept = np.flatnonzero(choices.feasible).tolist()
        return [(index, choices.actions[index]) for index in kept]

    def encode(self, state: Any, action: Mapping[str, Any]) -> int:
        """The index of a legal action; fields that it does not use may be left out.

        Raises:
            ScenarioError: where the action is not legal in this state; tells the nearest one and all that are.
        """
        legal = self.legal_actions(state)
        try:
            given = self._package.Action.model_validate(action)
        except ValidationError as error:
            found = " ".join(problem.text for problem in problems_of(error, self._package.Action))
            raise ScenarioError(f"no action: {found}{_listing(legal)}") from None
        wanted = self._package.canonical(given, *self._situation(state))
        for index, known in legal:
            if known == wanted:
                return index
        words = [_words(known) for _, known in legal]
        near = difflib.get_close_matches(_words(wanted), words, n=1, cutoff=0.0)
        hint = f" Nearest is {near[0]!r}." if near else ""
        raise ScenarioError(f"not legal now: {_words(wanted)!r}.{hint}{_listing(legal)}")

    def decode(self, state: Any, index: int) -> dict[str, Any]:
        """What an index means in this state, whether or not it is legal now."""
        actions = self._choices(state).actions
        if not 0 <= int(index) < len(actions):
            raise ScenarioError(f"no action {index}, expected an index from 0 to {len(actions) - 1}.")
        return actions[int(index)]

    def observation(self, state: Any) -> dict[str, Any]:
        """What the agent may know, with the keys of the environment's document form."""
        return self._package.observation(*self._situation(state))

    def _choices(self, state: Any) -> _Choices:
        """Every entry of the catalogue, and which may be taken."""
        document, state, *view = self._situation(state)
        found = self._package.choices(self._env, state, self._params, *view)
        legal, feasible, moves = jax.tree.map(np.asarray, found)
        live = not self._package.has_ended(document, state, *view)
        actions = self._package.document_actions(document, state, moves, *view)
        return _Choices(actions, legal & live, feasible & live)

    def _situation(self, state: Any) -> tuple[Any, ...]:
        """The document, the state on the host, and the standpoint where the package has one."""
        state = self._single(state)
        return self._documents[int(state.scenario)], state, *self._view

    def _single(self, state: Any) -> Any:
        """The state on the host; refuses a batch."""
        shape = np.shape(state.scenario)
        if shape:
            raise ScenarioError(
                f"found a batch of states {list(shape)}, expected one: take it with "
                "jax.tree.map(lambda x: x[0], state)."
            )
        return jax.tree.map(np.asarray, state)


def _without_shared(bank: ScenarioBank) -> str:
    """The fingerprint of the scenarios alone: an embedding of their texts, say, changes no word."""
    return bank.replace(shared=None).fingerprint()


def _words(action: Mapping[str, Any]) -> str:
    """An action in short: its values that are not null, those of its parts among them."""
    said = [
        _words(value) if isinstance(value, Mapping) else str(value) for value in action.values() if value is not None
    ]
    return " ".join(words for words in said if words)


def _listing(legal: list[tuple[int, dict[str, Any]]]) -> str:
    """All legal actions in a line."""
    if not legal:
        return " Nothing is: the episode has ended."
    return f" Legal are: {'; '.join(_words(action) for _, action in legal)}."
