"""An environment played in words: situations and results as text, answers as text, numbers or mappings."""

import functools
import inspect
import json
from collections.abc import Mapping
from typing import Any

import jax

import jaxenv
from jaxenv import registry
from jaxenv.core import Environment, ScenarioBank
from jaxenv.lowering import draws
from jaxenv.rendering import Step, views
from jaxenv.rendering.page import page
from jaxenv.rendering.text import table
from scenarios.codec import ActionError, Codec, read_answer
from scenarios.episodes import advance, key_of
from scenarios.libraries import Library, shipped
from scenarios.loading import decompile, format_of
from scenarios.text.errors import ScenarioError, quote

NOT_RUNNING = "no episode is running: reset begins one."
HEADING = "Actions: answer with the number of one, or with the action as JSON"

GENERATED = "generated"
"""The name of a generated scenario, instead of one of the library."""


def playable_ids() -> list[str]:
    """The registered ids of a single agent."""
    return [id for id in jaxenv.registered() if registry.build(id).num_agents == 1]


@functools.lru_cache(maxsize=16)
def playable(id: str) -> tuple[Environment, Any]:
    """The environment and its params.

    Raises:
        ScenarioError: for an unknown id, one of several agents, or an environment without documents.
    """
    try:
        env, params = jaxenv.make(id)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    if env.num_agents > 1:
        raise ScenarioError(f"{id} has {env.num_agents} agents, and text is for one: see scenarios.Codec.")
    format_of(env.family)
    return env, params


@functools.lru_cache(maxsize=16)
def with_library(id: str, library: Library | None = None) -> Codec:
    """The environment with a library, by default the one that jaxenv ships; raises as `playable` and `Codec`."""
    env, params = playable(id)
    if library is None:
        library = shipped(format_of(env.family))
    elif not isinstance(library, Library):
        raise ScenarioError(f"the library is {quote(library)}, expected one of scenarios.load.")
    elif library.environment == env.family:
        env, params = jaxenv.make(id, limits=library.limits)
    return Codec(env, params.replace(bank=library.bank), library)


def with_generated(id: str, key: jax.Array) -> Codec:
    """The environment with one scenario of its generator, at a difficulty drawn from 0 to 1; raises as `playable`."""
    env, params = playable(id)
    library = decompile(env.family, ScenarioBank(_generate(env, key), params.bank.shared))
    return Codec(env, params.replace(bank=library.bank), library)


@functools.partial(jax.jit, static_argnums=0)
def _generate(env: Environment, key: jax.Array) -> Any:
    """One scenario, with a leading axis of 1."""
    difficulty_key, scenario_key = jax.random.split(key)
    scenario = env.generate(scenario_key, jax.random.uniform(difficulty_key))
    return jax.tree.map(lambda leaf: leaf[None], scenario)


class TextEnv:
    """One agent in an environment, played in words by people and language models.

    Equal seeds and equal answers give equal episodes, and the rewards are those of `env.step` with the same keys and
    indices: the numbers of the list are the indices of the catalogue. From `jax.random.key(seed)` on, a reset splits
    the key into the next one, that of `env.reset` and that of a generated scenario; a step splits it into the next
    one and that of `env.step`.

    An answer is a number of the list, a mapping with the fields of the environment's `Action`, or text that ends in
    one of them; of several JSON objects the last counts. Answers that are not legal:

    - An action of the catalogue that is not legal now is taken, as in `env.step`: it costs a step and the penalty of
      the environment.
    - An answer outside the catalogue (no JSON, an unknown field, a request that does not exist) costs nothing and
      takes no step, because the environment has nothing to play. So limit the answers that an agent may give.

    Either way the text begins with the reason and ends with the legal actions, and `info["error"]` is the reason.

    >>> import scenarios
    >>> env = scenarios.TextEnv("LifeOps-v0", "easy_1")
    >>> print(env.reset().splitlines()[0])
    A day of meeting requests and unfinished work: accept, reject, move, propose, or block focus time.
    >>> text, reward, done, info = env.step('I refuse. {"action_type": "reject_event", "request_id": "r9"}')
    >>> print(text.splitlines()[0])
    not legal now: 'reject_event r9'. Nearest: 'reject_event r1'. No step was taken.
    >>> text, reward, done, info = env.step("0")
    >>> done, info["error"], info["reward_parts"]["overlap_penalty"]
    (True, None, 0.0)
    """

    def __init__(
        self, id: str, scenario: str | int | None = None, seed: int = 0, *, library: Library | None = None
    ) -> None:
        """Prepares episodes; `reset` begins one.

        Args:
            id: a registered environment of a single agent.
            scenario: its name in the library, its index there, `"generated"` for a new one at every reset, or None for
                one of the library, drawn at every reset.
            seed: of everything that is drawn, 0 to 2³² − 1.
            library: of `scenarios.load`; the shipped one by default. Generated scenarios need none.

        Raises:
            ScenarioError: for an unknown id or scenario, several agents, a seed out of range, or a library of another
                environment.
        """
        if not isinstance(id, str):
            raise ScenarioError(f"the id is {quote(id)}, expected the name of an environment.")
        self._id = id
        self._key = key_of(seed)
        self._is_generated = scenario == GENERATED
        self._index = 0
        if self._is_generated:
            playable(id)
        else:
            self._codec = with_library(id, library)
            self._index = _index_of(scenario, self._codec.library)
        self._ends = {"terminated": True, "truncated": False}  # until the first reset
        self._legal: dict[int, dict[str, Any]] = {}
        self._listing = ""

    def reset(self) -> str:
        """Begins an episode: its purpose, the situation, and the legal actions with their numbers."""
        self._key, reset_key, scenario_key = jax.random.split(self._key, 3)
        if self._is_generated:
            self._codec = with_generated(self._id, scenario_key)
        env, params = self._codec.env, self._codec.params
        state = jax.device_get(env.reset(reset_key, params, self._index)[1])
        self._names = self._codec.library.names(int(state.scenario))
        self._total = 0.0
        self._enter(state, {"terminated": False, "truncated": False})
        about = (inspect.getdoc(type(env)) or "").partition("\n\n")[0]
        situation = views.render(env, state, params, names=self._names).text
        return "\n\n".join([about, situation, self._listing])

    def step(self, answer: Any) -> tuple[str, float, bool, dict[str, Any]]:
        """Takes the action of an answer.

        Returns:
            (text, reward, done, info): the result, the situation and the legal actions; the reward; whether the
            episode is over; and `error` (the reason, or None), `step_taken`, `invalid_action`, `reward_parts`
            (name -> amount), `terminated`, `truncated`, and `success` where the environment can be won.
        """
        if self.is_over:
            return self._refuse(NOT_RUNNING)
        try:
            index, error = self._read(answer)
        except ScenarioError as problem:
            return self._refuse(f"{problem} No step was taken.")
        return self._take(index, error)

    @property
    def is_over(self) -> bool:
        """Whether no episode is running."""
        return any(self._ends.values())

    @property
    def legal_actions(self) -> dict[int, dict[str, Any]]:
        """Number -> action; empty where no episode is running."""
        return dict(self._legal)

    def _read(self, answer: Any) -> tuple[int, str | None]:
        """The index that an answer names, and why it is not legal if it is not."""
        action = read_answer(answer)
        if not isinstance(action, int):
            try:
                return self._codec.encode(self._state, action), None
            except ActionError as error:
                if error.index is None:
                    raise ScenarioError(error.reason) from None
                return error.index, error.reason
        self._codec.decode(self._state, action)  # refuses an index out of range
        return action, None if action in self._legal else f"action {action} is not legal now."

    def _take(self, index: int, error: str | None) -> tuple[str, float, bool, dict[str, Any]]:
        """Steps an entry of the catalogue and describes its effects."""
        env, params = self._codec.env, self._codec.params
        self._key, key = jax.random.split(self._key)
        before, names = self._state, self._names
        turn_key, _ = draws.split(key)  # as `env.step` does
        after, reward, ends, info = advance(env, turn_key, before, index, params)
        self._enter(after, ends)
        self._total += float(reward)
        parts = {name: float(part) + 0.0 for name, part in vars(info["reward_parts"]).items()}  # + 0.0: no −0.0
        step = Step(
            action=index,
            description=views.describe_action(env, before, index, params, names),
            reward=float(reward),
            parts={name: part for name, part in parts.items() if part},
            total=self._total,
            end=next((name for name, value in self._ends.items() if value), ""),
            effects=views.describe_step(env, before, after, index, params, names),
        )
        shown = page(views.scenes(env, [after], params, names)[0], step).text
        text = "\n\n".join(filter(None, [error, shown, self._listing]))
        outcome = {"success": bool(info["success"])} if "success" in info else {}
        return text, float(reward), self.is_over, self._info(error, parts, bool(info["invalid_action"])) | outcome

    def _refuse(self, error: str) -> tuple[str, float, bool, dict[str, Any]]:
        """The result of an answer that takes no step."""
        return "\n\n".join(filter(None, [error, self._listing])), 0.0, self.is_over, self._info(error, None, False)

    def _info(self, error: str | None, parts: dict[str, float] | None, is_invalid: bool) -> dict[str, Any]:
        return {
            "error": error,
            "step_taken": parts is not None,
            "invalid_action": is_invalid,
            "reward_parts": parts or {},
            **self._ends,
        }

    def _enter(self, state: Any, ends: dict[str, bool]) -> None:
        """Goes on from a state, and lists its legal actions, a line each; none where the episode is over."""
        env, params = self._codec.env, self._codec.params
        self._state, self._ends = state, ends
        self._legal = {} if self.is_over else dict(self._codec.legal_actions(state))
        rows = [
            [f"{index:>4}", views.describe_action(env, state, index, params, self._names), _as_json(action)]
            for index, action in self._legal.items()
        ]
        self._listing = "\n".join([HEADING, *table(rows)]) if rows else ""


def _index_of(scenario: Any, library: Library) -> int | None:
    """The index of a scenario of the library, or None for any."""
    if scenario is None:
        return None
    if isinstance(scenario, str):
        return library.index(scenario)
    if not isinstance(scenario, int) or isinstance(scenario, bool) or not 0 <= scenario < len(library):
        expected = f"a name, an index from 0 to {len(library) - 1}, {GENERATED!r} or None"
        raise ScenarioError(f"the scenario is {quote(scenario)}, expected {expected}.")
    return scenario


def _as_json(action: Mapping[str, Any]) -> str:
    """An action without its unused fields."""
    return json.dumps({name: value for name, value in action.items() if value is not None}, ensure_ascii=False)
