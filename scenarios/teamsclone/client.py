"""The client of the specification: one agent in one running workspace, with responses in its format."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
from pydantic import ValidationError

from jaxenv.core import Environment
from jaxenv.envs.teamsclone import Params, State, classic
from jaxenv.envs.teamsclone import actions as engine
from jaxenv.envs.teamsclone.reward import RewardParts
from jaxenv.host.names import did_you_mean
from scenarios.codec import ActionError, Codec, plain_action
from scenarios.document_format import Moment
from scenarios.episodes import advance, key_of
from scenarios.libraries import Library, shipped
from scenarios.teamsclone import view
from scenarios.teamsclone.document import MAX_CHARACTERS
from scenarios.teamsclone.format import FORMAT
from scenarios.teamsclone.view import JOIN, REACT, SEND, SWITCH, Action, message_id, rounded
from scenarios.text.errors import MAX_TOLD, ScenarioError, class_of, quote
from scenarios.text.records import problems_of

Response = dict[str, Any]
"""`success`, and `state`, `reward`, `done`, `info`, `message` and `error` where they apply.

Responses consist of dictionaries, lists, text and numbers, so that they can be written as JSON. `info` has
`reward_parts` (name -> amount), `invalid_action`, `terminated`, `truncated`, `statistics` as in `episodeStats`, and
`success` where the variant has a goal.
"""

DEFAULT_SCENARIO = "general"  # the workspace of the specification

TOO_LONG = f"the content of a message has at most {MAX_CHARACTERS} characters."
EMPTY = "the content of a message is empty."
ILLEGAL = {
    SWITCH: "the agent is there already.",
    REACT: "the agent reacts once to a message, and to those of teammates.",
    JOIN: "no call runs there, or the agent is in it.",
}


class Reading(NamedTuple):
    """The catalogue entry of an action, or the error."""

    index: int | None  # the entry to be stepped, None for no step
    error: str | None = None  # the reason why it is not legal
    message: tuple[str, str] | None = None  # the id and the content of the message that it sends


class FirstResponse(dict[str, Any]):
    """The response to `reset`, in which `response["teams"]` is also `response["state"]["teams"]`.

    The specification's example treats the result of `reset` as the first state, and its format is that of a response.

    >>> FirstResponse(success=True, state={"teams": []})["teams"]
    []
    """

    def __missing__(self, key: str) -> Any:
        return self["state"][key]


class TeamsEnvClient:
    """Plays TeamsClone as the specification describes, in the same process.

    An episode runs from the start, and `reset` begins the next one. Equal seeds and equal actions give equal episodes.
    No method raises: an action that is not legal gets `success` False and `error`. It still takes a step, of the
    catalogue entry that it comes to, except for content that is too long, for whatever is not a mapping, and after the
    end of the episode. Every response of `step` has `state`, `reward`, `done` and `info`.

    >>> from scenarios.teamsclone import TeamsEnvClient
    >>> client = TeamsEnvClient()
    >>> client.reset()["message"], client.get_state()["state"]["currentChannel"]["name"]
    ('A new episode of general.', 'General')
    >>> client.step("hello")["error"]
    'an action is a mapping with type and payload, found str.'
    """

    def __init__(
        self,
        env: Environment | None = None,
        params: Params | None = None,
        seed: int = 0,
        library: Library | None = None,
    ) -> None:
        """Opens a workspace.

        Args:
            env: of one agent, wrapped or not; the wrappers do not take part. None for `TeamsClone-v0`.
            params: hold the bank of `library`; None for the environment's default ones around it.
            seed: random seed, 0 to 2³² − 1.
            library: gives names to indices; None for the shipped one, of which `general` where there are no
                `params`.

        Raises:
            ScenarioError: where `params.bank` is not the bank of `library`, or where `env` is another environment or
                has more agents, or for a seed out of range.
        """
        if library is None:
            library = shipped(FORMAT, DEFAULT_SCENARIO if params is None else "")
        bare: Any = classic() if env is None else getattr(env, "unwrapped", env)  # adapters have none
        plays = isinstance(bare, FORMAT.environment)  # otherwise the codec refuses it
        known: Any = bare.params_for(library.bank) if params is None and plays else params
        self._codec = Codec(bare, known, library)
        if bare.num_agents > 1:
            raise ScenarioError(f"{bare.name} has {bare.num_agents} agents, the client plays one: see scenarios.Codec.")
        self._key = key_of(seed)
        self.reset()

    def reset(self) -> Response:
        """Begins an episode: `state` and `message`."""
        self._key, key = jax.random.split(self._key)
        self._state: State = jax.device_get(self._codec.env.reset(key, self._codec.params)[1])
        self._contents: dict[str, str] = {}  # id of a message of the agent -> its content
        self._ends = {"terminated": False, "truncated": False}
        if self._codec.env.goal != "none":
            self._ends["success"] = False
        message = f"A new episode of {self._codec.library.ids[int(self._state.scenario)]}."
        return FirstResponse(success=True, state=self._observation(), message=message)

    def step(self, action: Any) -> Response:
        """Takes an action: `state`, `reward`, `done` and `info`, and `error` where it is not legal."""
        if self._is_done:
            return self._answer("the episode has ended; reset begins another.")
        if not _is_mapping(action):
            return self._answer(f"an action is a mapping with type and payload, found {class_of(action)}.")
        reading = read_action(action, self._codec, self._state)
        return self._answer(reading.error) if reading.index is None else self._take(reading)

    def get_state(self) -> Response:
        """The agent's observation: `state`."""
        return {"success": True, "state": self._observation()}

    def get_actions(self) -> Response:
        """The legal actions: `actions`, empty once the episode has ended."""
        return {"success": True, "actions": [action for _, action in self._codec.legal_actions(self._state)]}

    def get_stats(self) -> Response:
        """The statistics of the episode so far: `stats`, as in `episodeStats`."""
        return {"success": True, "stats": view.episode_stats(self._codec.moment(self._state))}

    @property
    def _is_done(self) -> bool:
        """Whether the episode has ended, by its goal or by the time limit."""
        return self._ends["terminated"] or self._ends["truncated"]

    def _take(self, reading: Reading) -> Response:
        """Steps an entry of the catalogue."""
        self._key, key = jax.random.split(self._key)
        env, params = self._codec.env, self._codec.params
        self._state, reward, self._ends, info = advance(env, key, self._state, reading.index, params)
        if "success" in info:
            self._ends["success"] = bool(info["success"])
        if reading.message:
            id, content = reading.message
            self._contents[id] = content
        return self._answer(reading.error, reward, info)

    def _answer(self, error: str | None, reward: Any = 0.0, info: Mapping[str, Any] | None = None) -> Response:
        """The response to an action; without the `info` of the environment, no step was taken."""
        names = RewardParts.__dataclass_fields__
        told = {
            "reward_parts": {name: rounded(getattr(info["reward_parts"], name)) if info else 0.0 for name in names},
            "invalid_action": bool(info and info["invalid_action"]),
            **self._ends,
            "statistics": view.episode_stats(self._codec.moment(self._state)),
        }
        answer = {
            "success": error is None,
            "state": self._observation(),
            "reward": rounded(reward),
            "done": self._is_done,
            "info": told,
        }
        return answer if error is None else {**answer, "error": error}

    def _observation(self) -> dict[str, Any]:
        """The state dictionary, with the agent's messages in its own words."""
        state = self._codec.observation(self._state)
        for message in state["recentMessages"]:
            message["content"] = self._contents.get(message["id"], message["content"])
        return state


def _is_mapping(action: Any) -> bool:
    """Whether it has the form of an action; a value whose class raises has not."""
    try:
        return isinstance(action, Mapping | Action)
    except Exception:  # of a user's class
        return False


def read_action(action: Mapping[str, Any] | Action, codec: Codec, state: Any) -> Reading:
    """Reads an action at a live state; whatever is not an action becomes the invalid entry that fits it."""
    moment = codec.moment(state)
    first = moment.env.catalogue.first
    try:
        given = Action.model_validate(action if isinstance(action, Action) else plain_action(action))
    except ScenarioError as refused:
        return Reading(first(engine.MALFORMED), str(refused))
    except ValidationError as error:
        if any(found["type"] == "string_too_long" for found in error.errors(include_url=False)):
            return Reading(None, TOO_LONG)
        problems = " ".join(problem.text for problem in problems_of(error, Action)[:MAX_TOLD])
        return Reading(first(engine.MALFORMED), problems)
    if refusal := _refusal(given, moment):
        verb, error = refusal
        return Reading(first(verb), error)
    try:
        index = codec.encode(state, given)
    except ActionError as refused:
        wanted = view.normalize_action(given, moment)
        return Reading(refused.index, f"{quote(wanted)} is not legal now: {ILLEGAL[given.type]}")
    return Reading(index, message=_message(given, moment) if given.type == SEND else None)


def _refusal(action: Action, moment: Moment) -> tuple[int, str] | None:
    """The verb of the invalid entry, and why, where the action names something that does not exist."""
    payload, ids = action.payload, moment.document.channel_ids
    if payload.content is not None and not payload.content.strip():
        return engine.EMPTY_MESSAGE, EMPTY
    if payload.channelId is not None and payload.channelId not in ids:
        hint = did_you_mean(payload.channelId, ids)
        return engine.UNKNOWN_CHANNEL, f"no channel {quote(payload.channelId)}.{hint} Available: {', '.join(ids)}."
    window = view.window_ids(moment)
    if payload.messageId is not None and payload.messageId not in window:
        here = ", ".join(window) or "none"
        return engine.MALFORMED, f"no message {quote(payload.messageId)} among those seen, which are {here}."
    return None


def _message(action: Action, moment: Moment) -> tuple[str, str]:
    """The id that a message will have, and its content."""
    channel = action.payload.channelId or view.current_channel(moment)
    serial = int(moment.state.messages.count[moment.document.channel_ids.index(channel)]) + 1
    return message_id(channel, serial), action.payload.content or ""
