"""An episode that somebody plays by hand: moves by their numbers, undo, hints, and a record that replays."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from jaxenv.evaluation import in_state
from jaxenv.rendering import svg
from jaxenv.rendering.text import spaced
from scenarios.credit import Credit, policy_of
from scenarios.libraries import Library
from scenarios.text.errors import ScenarioError, quote
from scenarios.text.input_budget import text_of
from scenarios.text_env import Snapshot, TextEnv, with_library

Moment = dict[str, Any]
"""What is shown: text, numbers, lists and dictionaries."""

Episode = dict[str, Any]
"""A record: `env`, `scenario`, `seed`, `bank` (a fingerprint), `actions` and `return`."""


class Game:
    """One episode at a time of an environment.

    >>> game = Game("LifeOps-v0")
    >>> moment = game.begin("s1_basic_conflict")
    >>> game.take(0)["reward"], game.undo()["total"], game.take(1)["reward"]
    (-10.0, 0.0, -4.0)
    >>> replay(game.record()).rewards
    [-4.0]
    """

    def __init__(self, id: str, library: Library | None = None, credit: Credit | None = None) -> None:
        """Prepares games; `begin` begins one.

        Args:
            id: a registered environment.
            library: of `scenarios.load`; the shipped one by default.
            credit: of hints.

        Raises:
            ScenarioError: as `TextEnv`.
        """
        self.id, self._library, self._credit = id, library, credit or Credit()
        self.begin()

    def begin(self, scenario: str | int | None = None, seed: int = 0) -> Moment:
        """Begins an episode; arguments as of `TextEnv`."""
        env = TextEnv(self.id, scenario, seed, library=self._library)
        env.reset()
        self._env, self._about = env, {"env": self.id, "scenario": scenario, "seed": seed}
        self._best = _best_known(env.snapshot())
        self._past: list[tuple[Snapshot, int, float, Mapping[str, Any]]] = []  # before each step; action, reward, info
        return self.moment()

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The ids of the library."""
        return with_library(self.id, self._library).library.ids

    @property
    def rewards(self) -> list[float]:
        """Those of the steps so far."""
        return [reward for _, _, reward, _ in self._past]

    def take(self, action: int | None = None) -> Moment:
        """Takes a legal action.

        Raises:
            ScenarioError: where it is not.
        """
        if type(action) is not int or action not in self._env.legal_actions:
            raise ScenarioError(f"{quote(action)} is not a legal action now.")
        before = self._env.snapshot()
        _, reward, _, info = self._env.step(action)
        self._past.append((before, action, reward, info))
        return self.moment()

    def undo(self) -> Moment:
        """Takes the last step back; nothing happens at the first moment."""
        if self._past:
            self._env.restore(self._past.pop()[0])
        return self.moment()

    def moment(self) -> Moment:
        """What is there to see and to do."""
        now = self._env.snapshot()
        _, _, reward, info = self._past[-1] if self._past else (None, None, None, {})
        drawn = svg.elements(now.picture.drawn())
        parts = info.get("reward_parts", {})
        return {
            **self._about,
            "purpose": now.situation.purpose,
            "step": len(self._past),
            "reward": reward,
            "parts": {spaced(name): part for name, part in parts.items() if part},
            "total": now.total,
            "end": next((name for name, value in now.situation.ends.items() if value), ""),
            "success": info.get("success"),
            "best": self._best,
            "has_hints": now.situation.codec.env.num_agents == 1,
            "picture": f"<svg {svg.root(now.picture.size)}>{''.join(drawn)}</svg>",
            "text": now.picture.text,
            "groups": self._groups(now),
        }

    def hint(self) -> dict[str, Any]:
        """What actions are worth, the best of them, and what the policy would do: `{}` once the episode is over.

        Raises:
            ScenarioError: where there are several agents.
        """
        if self._env.is_over:
            return {}
        situation = self._env.snapshot().situation
        env, params, state = situation.codec.env, situation.codec.params, situation.state
        found = self._credit.values(env, params, state)
        name, policy = policy_of(env)
        carry, act = in_state(policy, env)
        choice, _ = act(jax.random.key(0), state, params, carry)
        values = {action: float(found.of_actions[action]) for action in situation.legal}
        return {"best": found.best, "is_exact": found.is_exact, "policy": name, "choice": int(choice), "values": values}

    def record(self) -> Episode:
        """The episode so far, as `replay` reads it."""
        now, actions = self._env.snapshot(), [action for _, action, *_ in self._past]
        bank = now.situation.codec.params.bank.fingerprint(floats=False)
        return {**self._about, "bank": bank, "actions": actions, "return": now.total}

    def _groups(self, now: Snapshot) -> list[dict[str, Any]]:
        """The legal actions by verb, in the order of the catalogue."""
        groups: dict[str, list[Any]] = {}
        for index, action in now.situation.legal.items():
            verb = spaced(str(next(iter(action.values()))))
            groups.setdefault(verb, []).append([index, now.situation.phrases[index]])
        return [{"verb": verb, "actions": actions} for verb, actions in groups.items()]


def _best_known(now: Snapshot) -> float | None:
    """The best return that is known of a scenario of the library."""
    library, state = now.situation.codec.library, now.situation.state
    known = library.returns(now.situation.codec.env.name)
    return known.get(library.ids[int(state.scenario)], {}).get("best")


def replay(episode: Mapping[str, Any] | Path, library: Library | None = None) -> Game:
    """The end of a recorded episode, which is played again.

    Args:
        episode: of `Game.record`, or the file that the page saved it to.
        library: of `scenarios.load`, where it was played with one; the shipped one by default.

    Raises:
        ScenarioError: for what is no record, of scenarios that are others now, or of another return.
    """
    if isinstance(episode, Path):
        episode = _read(episode)
    missing = {"env", "scenario", "seed", "bank", "actions", "return"} - set(episode)
    if missing or not isinstance(episode["actions"], Sequence):
        raise ScenarioError(f"not a recorded episode: {', '.join(sorted(missing)) or 'actions'} is missing.")
    game = Game(episode["env"], library)
    game.begin(episode["scenario"], episode["seed"])
    for action in episode["actions"]:
        game.take(action)
    found = game.record()
    for name in ("bank", "return"):
        if found[name] != episode[name]:
            raise ScenarioError(f"the {name} of the episode is {quote(found[name])} now, recorded was {episode[name]}.")
    return game


def _read(path: Path) -> Episode:
    """The JSON object of a file."""
    try:
        found = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: not a recorded episode: {error}") from None
    if not isinstance(found, dict):
        raise ScenarioError(f"{path}: not a recorded episode, expected a JSON object.")
    return found
