"""An environment played in words: situations and results as text, answers as text, numbers or mappings."""

import copy
import functools
from typing import Any, NamedTuple, Self

import jax

import jaxenv
from jaxenv.core import Environment, ScenarioBank
from jaxenv.lowering import draws
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import to_host
from scenarios.codec import Codec
from scenarios.credit import Credit
from scenarios.episodes import advance, key_of
from scenarios.libraries import Library, shipped
from scenarios.loading import decompile, format_of
from scenarios.situation import Situation, Turn, info_of
from scenarios.text.errors import ScenarioError, quote
from scenarios.words import USUAL, require_wording

NOT_RUNNING = "no episode is running: reset begins one."

GENERATED = "generated"
"""The name of a generated scenario, instead of one of the library."""


@functools.lru_cache(maxsize=16)
def playable(id: str) -> tuple[Environment, Any]:
    """The environment and its params.

    Raises:
        ScenarioError: for an unknown id, or an environment without documents.
    """
    try:
        env, params = jaxenv.make(id)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
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


def with_generated(id: str, key: jax.Array, wording: str = USUAL) -> Codec:
    """The environment with one scenario of its generator, at a difficulty drawn from 0 to 1; raises as `playable`."""
    env, params = playable(id)
    library = decompile(env.family, ScenarioBank(_generate(env, key), params.bank.shared), wording)
    return Codec(env, params.replace(bank=library.bank), library)


@functools.partial(jax.jit, static_argnums=0)
def _generate(env: Environment, key: jax.Array) -> Any:
    """One scenario, with a leading axis of 1."""
    difficulty_key, scenario_key = jax.random.split(key)
    scenario = env.generate(scenario_key, jax.random.uniform(difficulty_key))
    return jax.tree.map(lambda leaf: leaf[None], scenario)


class Snapshot(NamedTuple):
    """A moment of an episode, for `TextEnv.restore`.

    >>> import scenarios
    >>> env = scenarios.TextEnv("LifeOps-v0", "s1_basic_conflict")
    >>> text = env.reset()
    >>> snapshot = env.snapshot()
    >>> env.step("0")[1], env.restore(snapshot) == text, env.step("0")[1]
    (-10.0, True, -10.0)

    Attributes:
        situation: the state, on the host.
        key: of everything that is drawn from here on.
        total: the return so far.
        text: the last one.
        picture: likewise.
    """

    situation: Situation
    key: jax.Array
    total: float
    text: str
    picture: Picture


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
    >>> print(env.reset()[:98])
    A day of meeting requests and unfinished work: accept, reject, move, propose, or block focus time.
    >>> text, reward, done, info = env.step('I refuse. {"action_type": "reject_event", "request_id": "r9"}')
    >>> print(text.splitlines()[0])
    not legal now: 'reject_event r9'. Nearest: 'reject_event r1'. No step was taken.
    >>> text, reward, done, info = env.step("0")
    >>> done, info["error"], info["reward_parts"]["overlap_penalty"]
    (True, None, 0.0)

    Forks go on from one moment: `env.fork(n)`, or `env.snapshot()` and `env.restore(snapshot)`.

    >>> env = scenarios.TextEnv("LifeOps-v0", "s1_basic_conflict")
    >>> _ = env.reset()
    >>> [each.step(answer)[1] for each, answer in zip(env.fork(2), ("0", "1"))]
    [-10.0, -4.0]
    """

    def __init__(
        self,
        id: str,
        scenario: str | int | None = None,
        seed: int = 0,
        *,
        library: Library | None = None,
        credit: Credit | None = None,
        wording: str = USUAL,
    ) -> None:
        """Prepares episodes; `reset` begins one.

        Args:
            id: a registered environment; of several agents this is the first, and the others follow the rule-based
                baseline.
            scenario: its name in the library, its index there, `"generated"` for a new one at every reset, or None for
                one of the library, drawn at every reset.
            seed: of everything that is drawn, 0 to 2³² − 1.
            library: of `scenarios.load`; the shipped one by default. Generated scenarios need none.
            credit: gives `info` of each step taken an `advantage` (None for an action that is not legal) and a
                `best_action`; see `scenarios.Credit` for what they cost.
            wording: of generated scenarios: `"held_out"` has names that no usual one has; see `scenarios.decompile`.

        Raises:
            ScenarioError: for an unknown id or scenario, a seed out of range, a library of another environment, and
                for credit among several agents.
        """
        if not isinstance(id, str):
            raise ScenarioError(f"the id is {quote(id)}, expected the name of an environment.")
        require_wording(wording)
        if playable(id)[0].num_agents > 1 and credit is not None:
            raise ScenarioError(f"{id} has several agents, and credit is for one.")
        self._id, self._credit, self._wording = id, credit, wording
        self._key = key_of(seed)
        self._is_generated = scenario == GENERATED
        self._index = 0
        if not self._is_generated:
            self._codec = with_library(id, library)
            self._index = index_of(scenario, self._codec.library)
        self._now: Situation | None = None
        self._total = 0.0

    def reset(self) -> str:
        """Begins an episode: its purpose, the situation, and the legal actions with their numbers."""
        self._key, reset_key, scenario_key = jax.random.split(self._key, 3)
        if self._is_generated:
            self._codec = with_generated(self._id, scenario_key, self._wording)
        env, params = self._codec.env, self._codec.params
        state = to_host(_reset(env, reset_key, params, self._index))
        self._now, self._total = Situation(self._codec, state, {"terminated": False, "truncated": False}), 0.0
        self._text, self._picture = self._now.opening(), self._now.picture
        return self._text

    def step(self, answer: Any) -> tuple[str, float, bool, dict[str, Any]]:
        """Takes the action of an answer.

        Returns:
            (text, reward, done, info): the result, the situation and the legal actions; the reward; whether the
            episode is over; and `error` (the reason, or None), `step_taken`, `invalid_action`, `reward_parts`
            (name -> amount), `terminated`, `truncated`, and `success` where the environment can be won.
        """
        now = self._now
        if now is None or now.is_over:
            ends = {"terminated": True, "truncated": False} if now is None else now.ends
            return NOT_RUNNING, 0.0, True, info_of(ends, NOT_RUNNING, None)
        try:
            index, error = now.read(answer)
        except ScenarioError as problem:
            error = f"{problem} No step was taken."
            return now.refusal(error), 0.0, False, info_of(now.ends, error, None)
        return self._take(now, index, error)

    @property
    def is_over(self) -> bool:
        """Whether no episode is running."""
        return self._now is None or self._now.is_over

    @property
    def legal_actions(self) -> dict[int, dict[str, Any]]:
        """Number -> action; empty where no episode is running."""
        return {} if self._now is None else dict(self._now.legal)

    def snapshot(self) -> Snapshot:
        """The present moment; it takes microseconds, and shares its arrays with this environment.

        Raises:
            ScenarioError: before the first reset.
        """
        if self._now is None:
            raise ScenarioError(NOT_RUNNING)
        return Snapshot(self._now, self._key, self._total, self._text, self._picture)

    def restore(self, snapshot: Snapshot, seed: int | None = None) -> str:
        """Goes to a moment of this or another episode of the environment, and returns its text.

        Args:
            snapshot: of this or another `TextEnv` of the same id.
            seed: of everything that is drawn from there on; by default what was drawn then is drawn again.

        Raises:
            ScenarioError: for a snapshot of another environment, and a seed out of range.
        """
        if not isinstance(snapshot, Snapshot) or snapshot.situation.codec.env.name != playable(self._id)[0].name:
            raise ScenarioError(f"expected a snapshot of {self._id}, found {quote(snapshot)}.")
        snapshot = snapshot if seed is None else snapshot._replace(key=key_of(seed))
        self._now, self._key, self._total, self._text, self._picture = snapshot
        return self._text

    def fork(self, n: int, seeds: Any = None) -> list[Self]:
        """Environments that go on from here, each on its own.

        Args:
            n: how many.
            seeds: one for each, of everything that is drawn from here on; by default the same as here for all of them.
        """
        given = [None] * n if seeds is None else list(seeds)
        if len(given) != n:
            raise ScenarioError(f"{len(given)} seeds for {n} forks, expected one for each.")
        snapshot, forks = self.snapshot(), [copy.copy(self) for _ in given]
        for each, seed in zip(forks, given, strict=True):
            each.restore(snapshot, seed)
        return forks

    def _take(self, before: Situation, index: int, error: str | None) -> tuple[str, float, bool, dict[str, Any]]:
        """Steps an entry of the catalogue and describes its effects."""
        self._key, turn_key = next_keys(self._key)
        env, params = before.codec.env, before.codec.params
        state, reward, ends, info = advance(env, turn_key, before.state, index, params)
        self._now = after = Situation(before.codec, state, ends)
        self._total += float(reward)
        turn = Turn(before, index, error, after, float(reward), self._total, info)
        self._text, self._picture = turn.text(), turn.picture
        told = info_of(ends, error, info)
        if self._credit is not None:
            values = self._credit.values(env, params, before.state)
            told |= {"advantage": values.advantage(index), "best_action": values.best}
        return self._text, float(reward), after.is_over, told


@functools.partial(jax.jit, static_argnums=0)
def _reset(env: Environment, key: jax.Array, params: Any, index: int | None) -> Any:
    return env.reset(key, params, index)[1]


@jax.jit
def next_keys(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The next key of an episode, and that of a turn, as `env.step` splits it."""
    next_key, key = jax.random.split(key)
    return next_key, draws.split(key)[0]


def index_of(scenario: Any, library: Library) -> int | None:
    """The index of a scenario of the library, or None for any."""
    if scenario is None:
        return None
    if isinstance(scenario, str):
        return library.index(scenario)
    if not isinstance(scenario, int) or isinstance(scenario, bool) or not 0 <= scenario < len(library):
        expected = f"a name, an index from 0 to {len(library) - 1}, {GENERATED!r} or None"
        raise ScenarioError(f"the scenario is {quote(scenario)}, expected {expected}.")
    return scenario
