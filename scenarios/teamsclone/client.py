"""The client of the specification: one agent in one running workspace, with responses in its format."""

from collections.abc import Mapping
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.envs.teamsclone import Params, State, classic
from jaxenv.envs.teamsclone.reward import RewardParts
from scenarios.codec import Codec
from scenarios.episodes import advance, key_of
from scenarios.libraries import Library, shipped
from scenarios.teamsclone.format import FORMAT
from scenarios.teamsclone.observation import episode_stats, rounded
from scenarios.teamsclone.reading import Reading, read
from scenarios.teamsclone.view import Action
from scenarios.text.errors import ScenarioError, class_of

Response = dict[str, Any]
"""`success`, and `state`, `reward`, `done`, `info`, `message` and `error` where they apply.

Responses consist of dictionaries, lists, text and numbers, so that they can be written as JSON. `info` has
`reward_parts` (name -> amount), `invalid_action`, `terminated`, `truncated`, `statistics` as in `episodeStats`, and
`success` where the variant has a goal.
"""

DEFAULT_SCENARIO = "general"  # the workspace of the specification


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
        known: Any = _params_for(bare, library) if params is None else params
        self._codec = Codec(bare, known, library)
        if bare.num_agents > 1:
            raise ScenarioError(
                f"{bare.name} has {bare.num_agents} agents and the client plays one: "
                "scenarios.Codec(env, params, library, agent=0) works with any of several."
            )
        self._env, self._params, self._library = bare, known, library
        self._key = key_of(seed)
        self.reset()

    def reset(self) -> Response:
        """Begins an episode: `state` and `message`."""
        self._key, key = jax.random.split(self._key)
        self._state: State = jax.device_get(self._env.reset(key, self._params)[1])
        self._contents: dict[str, str] = {}  # id of a message of the agent -> its content
        self._ends = {"terminated": False, "truncated": False}
        if self._env.goal != "none":
            self._ends["success"] = False
        message = f"A new episode of {self._library.ids[int(self._state.scenario)]}."
        return FirstResponse(success=True, state=self._observation(), message=message)

    def step(self, action: Any) -> Response:
        """Takes an action: `state`, `reward`, `done` and `info`, and `error` where it is not legal."""
        if self._is_done:
            return self._answer("the episode has ended; reset begins another.")
        if not _is_mapping(action):
            return self._answer(f"an action is a mapping with type and payload, found {class_of(action)}.")
        reading = read(action, self._codec, self._state)
        return self._answer(reading.error) if reading.index is None else self._take(reading)

    def get_state(self) -> Response:
        """The agent's observation: `state`."""
        return {"success": True, "state": self._observation()}

    def get_actions(self) -> Response:
        """The legal actions: `actions`, empty once the episode has ended."""
        return {"success": True, "actions": [action for _, action in self._codec.legal_actions(self._state)]}

    def get_stats(self) -> Response:
        """The statistics of the episode so far: `stats`, as in `episodeStats`."""
        return {"success": True, "stats": self._statistics()}

    @property
    def _is_done(self) -> bool:
        """Whether the episode has ended, by its goal or by the time limit."""
        return self._ends["terminated"] or self._ends["truncated"]

    def _take(self, reading: Reading) -> Response:
        """Steps an entry of the catalogue."""
        self._key, key = jax.random.split(self._key)
        self._state, reward, self._ends, info = advance(self._env, key, self._state, reading.index, self._params)
        if "success" in info:
            self._ends["success"] = bool(info["success"])
        if reading.message:
            id, content = reading.message
            self._contents[id] = content
        parts = {name: rounded(getattr(info["reward_parts"], name)) for name in RewardParts.__dataclass_fields__}
        return self._answer(reading.error, rounded(reward), parts, bool(info["invalid_action"]))

    def _answer(
        self, error: str | None, reward: float = 0.0, parts: dict[str, float] | None = None, is_invalid: bool = False
    ) -> Response:
        """The response to an action; without `parts`, no step was taken."""
        info = {
            "reward_parts": parts or dict.fromkeys(RewardParts.__dataclass_fields__, 0.0),
            "invalid_action": is_invalid,
            **self._ends,
            "statistics": self._statistics(),
        }
        answer = {
            "success": error is None,
            "state": self._observation(),
            "reward": reward,
            "done": self._is_done,
            "info": info,
        }
        return answer if error is None else {**answer, "error": error}

    def _observation(self) -> dict[str, Any]:
        """The state dictionary, with the agent's messages in its own words."""
        state = self._codec.observation(self._state)
        for message in state["recentMessages"]:
            message["content"] = self._contents.get(message["id"], message["content"])
        return state

    def _statistics(self) -> dict[str, Any]:
        return episode_stats(self._codec.moment(self._state))


def _is_mapping(action: Any) -> bool:
    """Whether it has the form of an action; a value whose class raises has not."""
    try:
        return isinstance(action, Mapping | Action)
    except Exception:  # of a user's class
        return False


def _params_for(env: Any, library: Library) -> Any:
    """The default params of an environment around a library; None where it plays other documents."""
    return env.params_for(library.bank) if isinstance(env, FORMAT.environment) else None
