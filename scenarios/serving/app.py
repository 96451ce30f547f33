"""The server: OpenEnv's WebSocket sessions as they are, and HTTP sessions that `episode_id` names."""

import functools
import threading
import uuid
from typing import Annotated, Any

import pydantic

import jaxenv
from jaxenv.host.companions import optional
from jaxenv.host.names import require_one_of
from scenarios.serving.connections import MAX_BODY, Guard, TimedConnection
from scenarios.serving.environment import TextAction, TextEnvironment, TextObservation, openenv
from scenarios.serving.sessions import SessionError, Sessions
from scenarios.text.errors import ScenarioError
from scenarios.text_env import TextEnv

fastapi = optional("fastapi", "the server", "openenv")
uvicorn = optional("uvicorn", "the server", "openenv")

MAX_NAME = 255  # characters
SPARE_CONNECTIONS = 256  # at a time, beside one for each session: those of slow clients among them
LONGEST_RESET = 60.0  # seconds that a WebSocket stays at least: OpenEnv counts a first reset, which compiles, as idling
LAST_SECONDS = 5  # or a client that never ends its request would keep the server from ending

EpisodeId = Annotated[str, pydantic.Field(min_length=1, max_length=MAX_NAME)]


class ResetRequest(pydantic.BaseModel, extra="forbid"):
    """The body of /reset; all of it may be left out."""

    env_id: Annotated[str, pydantic.Field(max_length=MAX_NAME)] | None = None
    scenario: pydantic.StrictInt | Annotated[pydantic.StrictStr, pydantic.Field(max_length=MAX_NAME)] | None = None
    seed: pydantic.StrictInt | None = None
    episode_id: EpisodeId | None = None
    snapshot: Annotated[str, pydantic.Field(max_length=MAX_NAME)] | None = None


class StepRequest(pydantic.BaseModel, extra="forbid"):
    """The body of /step; the last two fields are OpenEnv's, and mean nothing here."""

    episode_id: EpisodeId
    action: TextAction
    timeout_s: float | None = None
    request_id: str | None = None


def create_app(default_id: str = "LifeOps-v0", limit: int = 16, idle_seconds: float = 600.0) -> Any:
    """The server as an ASGI application.

    OpenEnv serves /ws, /schema, /metadata, /health and /mcp. Its own /reset and /step begin and forget an environment
    at every request, so those here keep one for each `episode_id`, which /reset returns and /step and /state require.

    Args:
        default_id: the id for a reset that names no `env_id`.
        limit: sessions at a time, of HTTP and of WebSocket each.
        idle_seconds: how long a session stays after its last use.

    Raises:
        ScenarioError: for an id that is not registered.
    """
    require_one_of(default_id, jaxenv.registered(), f"no environment {default_id!r} to serve", ScenarioError)
    make = functools.partial(TextEnvironment, default_id)
    about = make().get_metadata().description
    refusals = {ScenarioError: _refused, SessionError: _refused}
    refusals[fastapi.exceptions.RequestValidationError] = _not_a_request
    app = fastapi.FastAPI(title="jaxenv", version="1", description=about, exception_handlers=refusals)
    limits = openenv.ConcurrencyConfig(max_concurrent_envs=limit, session_timeout=max(idle_seconds, LONGEST_RESET))
    server = openenv.HTTPEnvServer(make, TextAction, TextObservation, concurrency_config=limits)
    server.register_routes(app, mode="production")  # all routes but /reset, /step and /state
    _add_routes(app, Sessions(make, limit, idle_seconds))
    app.add_middleware(Guard)
    return app


def serve(host: str, port: int, default_id: str, limit: int, idle_seconds: float) -> None:
    """Serves until interrupted; see `create_app`. Requests that have not ended then get `LAST_SECONDS` more.

    The default environment is compiled before the port opens, the others beside the first requests.

    A connection that brings no request in time ends: see `TimedConnection`.

    Beyond one connection for each session, of HTTP and of WebSocket, and `SPARE_CONNECTIONS`, requests get 503.
    """
    app = create_app(default_id, limit, idle_seconds)
    warm(default_id)
    threading.Thread(target=warm, args=jaxenv.registered(), daemon=True).start()
    connections = 2 * limit + SPARE_CONNECTIONS
    limits = {"limit_concurrency": connections, "ws_max_size": MAX_BODY, "timeout_graceful_shutdown": LAST_SECONDS}
    uvicorn.run(app, host=host, port=port, http=TimedConnection, **limits)


def warm(*ids: str) -> None:
    """Compiles what the first episodes of the libraries of environments need, by a reset and a step."""
    for game in map(TextEnv, ids):
        game.reset()
        game.step(next(iter(game.legal_actions)))


def _add_routes(app: Any, sessions: Sessions) -> None:
    """/reset, /step and /state, each in a thread of its own."""

    def answer(observation: TextObservation) -> Any:
        """An observation as JSON at once: FastAPI would walk through all of it first."""
        return fastapi.responses.JSONResponse(openenv.serialize_observation(observation))

    @app.post("/reset", summary="Begin an episode; with a known episode_id, anew in that session")
    def reset(request: ResetRequest | None = None) -> Any:
        asked = {} if request is None else request.model_dump()
        id = asked["episode_id"] = asked.get("episode_id") or str(uuid.uuid4())
        with sessions.held(id):
            session = sessions.open(id)
            try:
                return answer(session.reset(**asked))
            finally:
                if not session.is_playing:
                    sessions.close(id)

    @app.post("/step", summary="Take an action in the episode that an episode_id names")
    def step(request: StepRequest) -> Any:
        with sessions.held(request.episode_id):
            return answer(sessions.get(request.episode_id).step(request.action))

    @app.get("/state", summary="The episode that an episode_id names, and its step count")
    def state(episode_id: EpisodeId) -> dict[str, Any]:
        return sessions.get(episode_id).state.model_dump()


def _refused(request: Any, error: Any) -> Any:
    """An answer with a status of 4xx and a sentence."""
    return fastapi.responses.JSONResponse({"detail": str(error)}, getattr(error, "status", 422))


def _not_a_request(request: Any, error: Any) -> Any:
    """The same for a body or query that says something else than it should."""
    found = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
    return _refused(request, ScenarioError("; ".join(found)))
