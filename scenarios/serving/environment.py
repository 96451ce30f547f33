"""`TextEnv` as an environment of OpenEnv: one for each session; a reset names the id and scenario to play."""

import secrets
import threading
import uuid
from typing import Any

import pydantic

import jaxenv
from jaxenv.host.companions import optional
from jaxenv.host.names import require_one_of
from scenarios.episodes import MAX_SEED
from scenarios.text.errors import ScenarioError
from scenarios.text_env import Snapshot, TextEnv

openenv = optional("openenv.core.env_server", "the server", "openenv")

DESCRIPTION = """Everyday planning in words: {ids}. reset takes env_id, scenario (a name or index of the library, or
"generated") and seed, or a snapshot that state gave, to go on from that moment; step takes the number of an action, an
action as an object, or text that ends in one of them."""
RESET_FIELDS = ("seed", "episode_id", "env_id", "scenario", "snapshot")
MAX_SNAPSHOTS = 16  # of a session; the oldest one goes


class TextAction(openenv.Action):
    """What the agent answers: see `scenarios.TextEnv.step`."""

    message: pydantic.StrictInt | pydantic.StrictStr | dict[str, Any]

    @pydantic.model_validator(mode="before")
    @classmethod
    def _bare(cls, data: Any) -> Any:
        """An object without `message` is itself the message, as clients send what a model answered with."""
        is_bare = isinstance(data, dict) and "message" not in data and set(data) - {"metadata"}
        return {"message": data} if is_bare else data


class TextObservation(openenv.Observation):
    """What the agent is told; `reward` and `done` lie beside the observation in every response."""

    text: str
    legal_actions: dict[int, dict[str, Any]] = pydantic.Field(description="number -> action")
    info: dict[str, Any] = pydantic.Field(description="of a step, as scenarios.TextEnv.step returns it")
    episode_id: str


class TextEnvironment(openenv.Environment):
    """One session: episodes of whatever each reset asks for."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, default_id: str) -> None:
        super().__init__()
        self._default_id = default_id
        self._lock = threading.Lock()  # the two requests of a hasty client come one after the other
        self._game: TextEnv | None = None
        self._about: dict[str, Any] = {}
        self._snapshots: dict[str, tuple[TextEnv, Snapshot, dict[str, Any], int]] = {}
        self._steps = 0
        self._is_closed = False

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        env_id: str | None = None,
        scenario: str | int | None = None,
        snapshot: str | None = None,
        **unknown: Any,
    ) -> TextObservation:
        """Begins an episode; without a seed, of one drawn at random, which `state` reports.

        With a snapshot it goes to that moment, and draws again what was drawn then, unless a seed is given.

        Raises:
            ScenarioError: for whatever cannot be played.
        """
        for name in unknown:
            require_one_of(name, RESET_FIELDS, f"reset knows no field {name!r}", ScenarioError)
        if not isinstance(episode_id, str | None):
            raise ScenarioError("the episode_id is expected to be text.")
        with self._lock:
            self._refuse_if_closed()
            if snapshot is not None:
                if env_id is not None or scenario is not None:
                    raise ScenarioError("a snapshot says what is played: leave out env_id and scenario.")
                return self._restore(snapshot, seed)
            id = self._default_id if env_id is None else env_id
            seed = secrets.randbelow(MAX_SEED) if seed is None else seed
            game = TextEnv(id, scenario, seed)
            text = game.reset()
            self._game, self._steps = game, 0
            episode_id = episode_id or str(uuid.uuid4())
            self._about = {"episode_id": episode_id, "env_id": id, "seed": seed, "scenario": scenario}
            return self._observation(text, None, False, {})

    def step(self, action: TextAction, timeout_s: float | None = None, **unused: Any) -> TextObservation:
        """Takes an answer."""
        with self._lock:
            self._refuse_if_closed()
            if self._game is None:
                raise ScenarioError("step comes after reset, which begins an episode.")
            text, reward, done, info = self._game.step(action.message)
            self._steps += info["step_taken"]
            return self._observation(text, reward, done, info)

    @property
    def state(self) -> Any:
        """Which episode it is, its step count, and a snapshot: a token with which `reset` comes back to this moment."""
        with self._lock:
            if self._game is None:
                return openenv.State(step_count=self._steps, **self._about)
            token = secrets.token_urlsafe(12)
            self._snapshots[token] = self._game, self._game.snapshot(), self._about, self._steps
            if len(self._snapshots) > MAX_SNAPSHOTS:
                del self._snapshots[next(iter(self._snapshots))]
            return openenv.State(step_count=self._steps, snapshot=token, **self._about)

    @property
    def is_playing(self) -> bool:
        """Whether a reset has begun an episode."""
        return self._game is not None

    def get_metadata(self) -> Any:
        """The description of the server for clients."""
        description = " ".join(DESCRIPTION.format(ids=", ".join(jaxenv.registered())).split())
        return openenv.types.EnvironmentMetadata(name="jaxenv", description=description)

    def close(self) -> None:
        """Ends the session, so that one that idled too long cannot go on beside those that took its place."""
        self._is_closed = True

    def _restore(self, token: str, seed: int | None) -> TextObservation:
        """Goes to a moment of this session."""
        if not isinstance(token, str) or token not in self._snapshots:
            raise ScenarioError(f"this session has no such snapshot, of the last {MAX_SNAPSHOTS} that `state` gave.")
        game, snapshot, about, steps = self._snapshots[token]
        text = game.restore(snapshot, seed)
        self._game, self._about, self._steps = game, about, steps
        return self._observation(text, None, False, {})

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise ScenarioError("the session has ended, because it idled too long: connect again.")

    def _observation(self, text: str, reward: float | None, done: bool, info: dict[str, Any]) -> TextObservation:
        assert self._game is not None
        return TextObservation(
            text=text,
            legal_actions=self._game.legal_actions,
            info=info,
            episode_id=self._about["episode_id"],
            reward=reward,
            done=done,
        )
