"""Calls that no agent should make of the clients that play in words: each is answered, in a few plain words.

A mutant is an episode: legal calls, then a junk one, which is made of the actions that are legal by then.
"""

import functools
import importlib.util
import json
import pathlib
import random
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

import scenarios
from lab.fuzz import server
from lab.fuzz.judging import Fault, stopped
from lab.fuzz.junk import KINDS, LEAVES
from scenarios.teamsclone import TeamsEnvClient

SECONDS = 2.0  # of computing, for one call
MAX_MESSAGE = 10_000  # characters of the reason why a call is refused
MAX_ANSWER = 60_000  # characters of an answer as JSON: ten messages of an agent are 10,000 of them
TEAMS = "TeamsEnvClient"
TARGETS = (TEAMS, "LifeOps-v0", "LifeStack-v0", "TeamsClone-v0", "Week-v0")
LONG = ("TeamsClone-v0", "Week-v0")  # whose episodes take seconds in words
BEGINNINGS: list[Any] = [*LEAVES, "LifeOps-v0", "LifeOp-v0", "easy_1", "é\udcff", "x" * 10**6]
IDLE = {"action_type": "wait", "type": "idle"}


class Call(NamedTuple):
    """A junk call."""

    kind: str  # the class of mutants
    target: str  # the id that a `TextEnv` plays, or TEAMS
    before: int  # legal calls before it
    seed: str  # of all that is drawn


def judge(call: Call, folder: pathlib.Path) -> str:
    """The reason that a junk call is answered with; "" for one that is taken as it is.

    Raises:
        Fault: for whatever else comes of it.
    """
    with stopped():
        dice = random.Random(call.seed)
        if call.kind == "server":
            return server.request(dice, call.before)
        _warm(call.target)
        if call.kind == "beginnings":
            return _begun(dice, call.target)
        game = _game(call.target, dice.randrange(1000))
        if call.kind == "order":
            return _out_of_order(dice, game)
        _play(dice, game, call.before)
        return game.call(KINDS[call.kind](dice, game.legal(dice)))


class Game:
    """A client that is watched; the two classes below say how each is called."""

    env: Any

    def reset(self) -> None:
        """Begins an episode."""
        _check_answer(self.env.reset(), MAX_ANSWER)

    def legal(self, dice: random.Random) -> Mapping[str, Any]:
        """A legal action; after the end, something like one."""
        return dice.choice(self.actions() or [IDLE])

    def call(self, junk: Any) -> str:
        """The reason that a call is answered with, "" for none; a Fault where the answer is not as it should be."""
        before, start = _watched(self.env), time.process_time()
        answer = self.env.step(junk)
        if (seconds := time.process_time() - start) > SECONDS:
            raise Fault(f"answered after {seconds:.1f} s")
        _check_answer(answer, MAX_ANSWER)
        error, is_step = self.read(answer)
        after = _watched(self.env)
        if is_step != (_clock(after) == _clock(before) + 1):
            raise Fault(f"{'no ' * (not is_step)}step by the answer, and the clock goes on from {_clock(before)}")
        if not is_step and not _same(before, after):
            raise Fault("a call that takes no step has changed the state")
        if not (is_step or error):
            raise Fault("a call that takes no step, and no reason")
        _check_reason(error)
        self.look()
        return error

    def actions(self) -> list[Mapping[str, Any]]:
        """The legal actions."""
        raise NotImplementedError

    def read(self, answer: Any) -> tuple[str, bool]:
        """(the reason why it is refused or "", whether a step was taken) of an answer."""
        raise NotImplementedError

    def look(self) -> None:
        """Makes all calls that are allowed at any time."""
        raise NotImplementedError


class TextGame(Game):
    """A `TextEnv`."""

    def __init__(self, id: str, seed: int) -> None:
        self.env = scenarios.TextEnv(id, seed=seed)

    def actions(self) -> list[Mapping[str, Any]]:
        return list(self.env.legal_actions.values())

    def read(self, answer: Any) -> tuple[str, bool]:
        text, _, is_over, info = answer
        if is_over != self.env.is_over or not text.startswith(info["error"] or ""):
            raise Fault("the answer does not hold together")
        return info["error"] or "", info["step_taken"]

    def look(self) -> None:
        _check_answer([self.env.legal_actions, self.env.is_over], MAX_ANSWER)


class TeamsGame(Game):
    """The specification's client."""

    def __init__(self, seed: int) -> None:
        self.env = TeamsEnvClient(seed=seed)

    def actions(self) -> list[Mapping[str, Any]]:
        return self.env.get_actions()["actions"]

    def read(self, answer: Any) -> tuple[str, bool]:
        error = answer.get("error", "")
        if answer["success"] != (not error) or answer["state"] != self.env.get_state()["state"]:
            raise Fault("the answer does not hold together")
        return error, bool(answer["info"]["invalid_action"] or answer["success"])

    def look(self) -> None:
        _check_answer([self.env.get_state(), self.env.get_actions(), self.env.get_stats()], MAX_ANSWER)


def _game(target: str, seed: int) -> Game:
    return TeamsGame(seed) if target == TEAMS else TextGame(target, seed)


@functools.cache
def _warm(target: str) -> None:
    """Compiles the programs that only the first call waits for."""
    game = _game(target, 0)
    game.env.reset()
    game.env.step(game.actions()[0])


def _play(dice: random.Random, game: Game, steps: int) -> None:
    """Begins an episode and takes legal actions, each of which must be taken."""
    game.reset()
    for _ in range(steps):
        if not game.actions():
            return
        if error := game.call(game.legal(dice)):
            raise Fault(f"a legal action is refused: {error}")


def _out_of_order(dice: random.Random, game: Game) -> str:
    """Calls before the first reset, after the end, and resets in the middle."""
    said = game.call(IDLE) if isinstance(game, TextGame) else ""
    game.look()
    _play(dice, game, dice.choice((0, 1, 5)))
    _play(dice, game, 10_000)
    for kind in dice.sample(list(KINDS), 3):
        said = game.call(KINDS[kind](dice, game.legal(dice)))
        if "reset begins" not in said:
            raise Fault(f"after the end: {said!r}")
    _play(dice, game, 1)
    return said


def _begun(dice: random.Random, target: str) -> str:
    """A game that begins with odd arguments: it is played, or there is a ScenarioError."""
    start = time.process_time()
    try:
        if target == TEAMS:
            game: Any = TeamsEnvClient(seed=dice.choice(BEGINNINGS))
        else:
            known: Any = (target, None, 0)
            game = scenarios.TextEnv(*(dice.choice(BEGINNINGS) if dice.random() < 0.5 else value for value in known))
        _check_answer(game.reset(), MAX_ANSWER)
    except scenarios.ScenarioError as error:
        _check_reason(str(error))
        return str(error)
    finally:
        if (seconds := time.process_time() - start) > SECONDS:
            raise Fault(f"begun after {seconds:.1f} s")
    return ""


def _watched(env: Any) -> dict[str, Any]:
    """All that a client keeps of an episode, as it is now."""
    kept = ("_state", "_key", "_total", "_text", "_contents")
    found = {name: vars(env)[name] for name in kept if name in vars(env)}
    if (now := vars(env).get("_now")) is not None:  # of `TextEnv`
        found |= {"_state": now.state, "_ends": dict(now.ends)}
    found["_key"] = jax.random.key_data(found["_key"])
    return jax.tree.map(np.array, found)


def _clock(watched: Mapping[str, Any]) -> int:
    return int(watched["_state"].clock) if "_state" in watched else 0


def _same(one: Any, other: Any) -> bool:
    is_alike = jax.tree.structure(one) == jax.tree.structure(other)
    return is_alike and all(map(np.array_equal, jax.tree.leaves(one), jax.tree.leaves(other)))


def _check_answer(answer: Any, most: int) -> None:
    """It is strict JSON in UTF-8, and of bounded length."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    text.encode()
    if len(text) > most:
        raise Fault(f"an answer of {len(text)} characters")


def _check_reason(reason: str) -> None:
    """It can be printed, is short and in plain words."""
    reason.encode()
    if len(reason) > MAX_MESSAGE:
        raise Fault(f"a reason of {len(reason)} characters")
    if odd := [sign for sign in reason if not sign.isprintable()]:
        raise Fault(f"the reason has {odd[0]!r}")
    if "Traceback" in reason or " object at 0x" in reason:
        raise Fault(f"not in plain words: {reason!r}")


def _call(dice: random.Random, kind: str) -> Call:
    """A junk call of a class."""
    target = dice.choice([name for name in TARGETS if kind != "order" or name not in LONG])
    return Call(kind, target, dice.choice((0, 0, 1, 2, 4, 8)), str(dice.random()))


DAMAGES: dict[str, Callable[[random.Random], Call]] = {
    kind: functools.partial(_call, kind=kind)
    for kind in (*KINDS, "order", "beginnings", *(["server"] if importlib.util.find_spec("openenv") else []))
}
