"""The codec: states and actions of a running environment in the words of the documents, and an agent's answers."""

import difflib
import functools
import json
import numbers
import operator
import re
import types
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.contents import require_valid
from jaxenv.rendering.view import is_over, legal_mask, to_host
from scenarios.document_format import Moment
from scenarios.libraries import Library
from scenarios.text.errors import MAX_TOLD, ScenarioError, class_of, quote
from scenarios.text.input_budget import RefusedInput, builtin, plain
from scenarios.text.records import Record, problems_of

MAX_CHARACTERS = 20_000  # of an answer, reasoning included
MAX_ACTION_VALUES = 1000  # of an action, which has a handful
EXPECTED = "a number of the list, or an action as a JSON object"
NUMBER = re.compile(r"[^-0-9]{0,20}([0-9]{1,6})\W*")  # `3`, `3.`, `Action: **3**`


class Catalogue(NamedTuple):
    """Every entry of the catalogue at one state."""

    moment: Moment
    actions: list[dict[str, Any]]  # one for each index
    legal: np.ndarray  # [A] bool, all False once the episode has ended

    def action(self, index: int) -> dict[str, Any]:
        """The meaning of an index, legal or not; a ScenarioError for one out of range."""
        if not 0 <= int(index) < len(self.actions):
            raise ScenarioError(f"no action {quote(int(index))}, expected an index from 0 to {len(self.actions) - 1}.")
        return self.actions[int(index)]

    @property
    def legal_actions(self) -> list[tuple[int, dict[str, Any]]]:
        """(index, action) of every legal entry."""
        return [(index, self.actions[index]) for index in np.flatnonzero(self.legal).tolist()]


class ActionError(ScenarioError):
    """Text that is not an action, or one that is not legal now.

    Attributes:
        reason: the reason for the refusal; the message continues with all legal actions.
        index: the entry of the catalogue that it names, legal or not, or None.
    """

    def __init__(self, reason: str, legal: list[tuple[int, dict[str, Any]]], index: int | None = None) -> None:
        super().__init__(reason + _listing(legal))
        self.reason = ScenarioError(reason).problems[0]
        self.index = index


class Codec:
    """Translates the actions and observations of one unbatched state for people, prompts and recorded traces.

    Actions are mappings with the fields of the environment's `Action`, such as
    `{"action_type": "reject_event", "request_id": "r1"}` or
    `{"type": "join_call", "payload": {"channelId": "channel-1"}}`; those returned are as the catalogue writes them.

    >>> import jax, jaxenv, scenarios
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> library = scenarios.load("lifeops")
    >>> codec = scenarios.Codec(env, params.replace(bank=library.bank), library)
    >>> _, state = env.reset(jax.random.key(0), params, library.index("easy_1"))
    >>> codec.encode(state, {"action_type": "reject_event", "request_id": "r1"})
    1
    >>> codec.decode(state, 0)["action_type"]
    'accept_event'
    >>> codec.observation(state)["current_request"]["event_id"]
    'r1'

    Attributes:
        env: without its wrappers.
        params: hold the bank of `library`.
        library: gives names to the indices in the arrays.
    """

    def __init__(self, env: Environment, params: Any, library: Library, agent: int = 0) -> None:
        """Joins an environment with the documents of its bank.

        Args:
            env: wrapped or not; states must be its own.
            params: hold the bank of `library`.
            library: gives names to the indices in the arrays.
            agent: which of several agents it speaks for.

        Raises:
            ScenarioError: where `params.bank` is not the bank of `library`, where `env` is another environment, where
                there is no such agent, or for params that their `validate` refuses.
        """
        self.env: Any = getattr(env, "unwrapped", env)  # adapters have none
        self.params, self.library, self._format = params, library, library.format
        if not isinstance(self.env, self._format.environment):
            raise ScenarioError(f"{self.env.name} cannot play this library, which holds {library.environment}.")
        agents = getattr(self.env, "num_agents", 1)
        if not 0 <= agent < agents:
            raise ScenarioError(f"no agent {agent} in {self.env.name}, expected a number from 0 to {agents - 1}.")
        banks = (library.bank, library.bank.resize(self.env.empty_scenario))
        if _without_shared(params.bank) not in [_without_shared(bank) for bank in banks]:
            raise ScenarioError("params.bank is not the bank of the library: use params.replace(bank=library.bank).")
        try:
            require_valid(params)
        except ValueError as error:
            raise ScenarioError(f"params: {error}.") from None
        self._agent = agent
        self._names = functools.cache(lambda number: types.MappingProxyType(library.names(number)))

    def legal_actions(self, state: Any) -> list[tuple[int, dict[str, Any]]]:
        """(index, action) of every legal entry, in catalogue order; none once the episode has ended."""
        return self.catalogue(state).legal_actions

    def encode(self, state: Any, action: Mapping[str, Any] | Record) -> int:
        """The index of a legal action; fields that it does not use may be left out.

        Raises:
            ActionError: a ScenarioError, where the action is not legal in this state; names the nearest one and all
                that are.
        """
        return self.encode_in(self.catalogue(state), action)

    def encode_in(self, catalogue: Catalogue, action: Mapping[str, Any] | Record) -> int:
        """The same with the catalogue of the state at hand."""
        legal = catalogue.legal_actions
        try:
            given = self._format.action.model_validate(action)
        except ValidationError as error:
            found = " ".join(problem.text for problem in problems_of(error, self._format.action)[:MAX_TOLD])
            raise ActionError(f"not an action: {found}", legal) from None
        wanted = self._format.normalize_action(given, catalogue.moment)
        for index, known in legal:
            if known == wanted:
                return index
        words = [_words(known) for _, known in legal]
        near = difflib.get_close_matches(_words(wanted), words, n=1, cutoff=0.0)
        hint = f" Nearest: {near[0]!r}." if near else ""
        index = next((index for index, known in enumerate(catalogue.actions) if known == wanted), None)
        raise ActionError(f"not legal now: {_words(wanted)!r}.{hint}", legal, index)

    def decode(self, state: Any, index: int) -> dict[str, Any]:
        """The meaning of an index in this state, whether or not it is legal now."""
        return self.catalogue(state).action(index)

    def observation(self, state: Any) -> dict[str, Any]:
        """The agent's observation, with the keys of the environment's document form."""
        return self._format.observation(self.moment(state))

    def moment(self, state: Any) -> Moment:
        """The state on the host, its document and names; refuses a batch of states."""
        shape = np.shape(state.scenario)
        if shape:
            raise ScenarioError(f"a batch of states {list(shape)}, expected one: jax.tree.map(lambda x: x[0], state).")
        state = to_host(state)
        number = int(state.scenario)
        document, names = self.library.documents[number], self._names(number)
        return Moment(self.env, self.params, document, names, state, self._agent)

    def catalogue(self, state: Any) -> Catalogue:
        """Every entry of the catalogue, and which may be taken."""
        moment = self.moment(state)
        of_state = self.env, moment.state, self.params
        legal = np.atleast_2d(legal_mask(*of_state))[self._agent]  # of each agent, or of one
        return Catalogue(moment, self._format.actions(moment), legal & (not is_over(*of_state)))


def _without_shared(bank: ScenarioBank) -> str:
    """The fingerprint of the scenarios alone: an embedding of their texts, say, changes no word."""
    return bank.replace(shared=None).fingerprint()


def _words(action: Mapping[str, Any]) -> str:
    """An action in short: its values that are not null, those of its parts among them."""
    values = [_words(value) if isinstance(value, Mapping) else value for value in action.values() if value is not None]
    return " ".join(words for words in map(str, values) if words)


def _listing(legal: list[tuple[int, dict[str, Any]]]) -> str:
    """All legal actions in a line."""
    if not legal:
        return " No action is legal: the episode has ended."
    return f" Legal actions: {'; '.join(_words(action) for _, action in legal)}."


def read_answer(answer: Any) -> int | Mapping[str, Any]:
    """The number or the mapping that an answer is or holds.

    Of text it is the last JSON object; without one, the number in its last line, which holds little else.

    >>> read_answer('It collides with e1, so: {"action_type": "reject_event", "request_id": "r1"}')
    {'action_type': 'reject_event', 'request_id': 'r1'}
    >>> read_answer("The meeting comes first." + chr(10) + "Action: 3")
    3

    Raises:
        ScenarioError: where it is neither.
    """
    answer = _builtin(answer)
    if not isinstance(answer, str):
        return answer
    if len(answer) > MAX_CHARACTERS:
        raise ScenarioError(f"the answer has {len(answer)} characters, expected at most {MAX_CHARACTERS}.")
    action = _last_object(answer)
    if action is not None:
        return plain_action(action)
    number = NUMBER.fullmatch((answer.strip().splitlines() or [""])[-1])
    if number is None:
        raise ScenarioError(f"found no action in the answer, expected {EXPECTED}.")
    return int(number[1])


def _builtin(answer: Any) -> Any:
    """A text, number, mapping or record, stripped of its own class."""
    try:
        if isinstance(answer, Record):
            return answer  # which reads like a mapping
        if isinstance(answer, Mapping):
            return plain_action(answer)
        if isinstance(answer, str):
            return builtin(answer)
        if isinstance(answer, numbers.Integral) and not isinstance(answer, bool):  # NumPy's too
            return operator.index(answer)  # pyright: ignore[reportArgumentType]
    except ScenarioError:
        raise
    except Exception as error:  # of a user's class
        raise ScenarioError(f"the answer cannot be read: {class_of(error)}.") from None
    raise ScenarioError(f"found {class_of(answer)} for an action, expected {EXPECTED}.")


def plain_action(action: Any) -> Any:
    """An action of a program, as JSON would hold it.

    Raises:
        ScenarioError: for values that JSON cannot hold, and instead of any error of a user's mapping.
    """
    try:
        return plain(action, MAX_ACTION_VALUES)
    except RefusedInput as refused:
        raise ScenarioError(f"not an action: {refused}") from None
    except Exception as error:
        raise ScenarioError(f"not an action: it cannot be read: {class_of(error)}.") from error


def _last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object of a text that lies in no other, or None."""
    decoder, found, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found
