"""Small LifeStack crises for the tests of the reference engine, and how to play them by name."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from reference.lifestack import Crisis, Step
from reference.lifestack_rules import Record

NEVER = 1 - 1e-9  # a draw that no probability below 1 reaches
WAIT = {"action_type": "wait", "target": None}


def route(name: str, *verbs: str, **more: Any) -> Record:
    """A route by its id and verbs."""
    return {"id": name, "required_action_types": list(verbs), **more}


def crisis(draws: Any = None, **more: Any) -> Crisis:
    """A crisis of 20 steps, won by `won`, which the route `win` brings about unless others are given."""
    document = {"horizon": 20, "success_conditions": [{"key": "won", "value": True}], **more}
    document.setdefault("viable_routes", [route("win", "execute", consequences={"won": True})])
    number = len(document.get("event_schedule", []))
    return Crisis(document, [0.0] * number if draws is None else draws)


def act(game: Crisis, verb: str, target: str | None = None, draws: Any = None) -> Step:
    """Play an action by its document form; without draws every event that is due fires."""
    index = game.index_of({"action_type": verb, "target": target})
    return game.step(index, [0.0] * len(game.events) if draws is None else draws)


def legal(game: Crisis, verb: str, target: str | None = None) -> bool:
    """Whether an action is legal now."""
    return game.index_of({"action_type": verb, "target": target}) in game.legal()


def nonzero(step: Step) -> dict[str, float]:
    """The parts of a reward that are not zero."""
    return {name: value for name, value in step.parts.items() if value != 0}


def ends(step: Step) -> list[str]:
    """The ends that a step tells."""
    return [name for name, value in step.ends.items() if value]


FLIGHT = {
    "horizon": 30,
    "constraints": {"budget_max": 800, "deadline_step": 20},
    "hidden_state": {"card_available": True},
    "mutable_world": {"lounge_access": True, "flight_rebooked": False, "caught_up": False},
    "visible_world": {"lounge_access": True},
    "success_conditions": [{"key": "flight_rebooked", "value": True}],
    "failure_conditions": [{"key": "missed_deadline", "value": True}],
    "event_schedule": [
        {"step": 5, "id": "price_surge", "hidden_state_mutation": {"card_available": False}},
        {"step": 8, "id": "full", "world_mutation": {"lounge_access": False}, "closes_routes": ["wait_lounge"]},
    ],
    "milestones": [
        {"id": "m1", "condition_key": "flight_rebooked", "condition_value": True, "reward": 1.0},
        {"id": "m2", "condition_key": "caught_up", "condition_value": True, "reward": 0.8},
    ],
    "viable_routes": [
        route(
            "rebook_premium",
            "communicate",
            "execute",
            preconditions={"card_available": True},
            consequences={"flight_rebooked": True},
            closes_routes=["wait_lounge"],
            milestones_unlocked=["m1"],
            final_reward=2.5,
            cost={"money": 600},
        ),
        route(
            "wait_lounge",
            "wait",
            "plan",
            preconditions={"lounge_access": True},
            consequences={"caught_up": True},
            closes_routes=["rebook_premium"],
            milestones_unlocked=["m2"],
            final_reward=1.8,
        ),
    ],
}


def play(document: Record, rng: random.Random, policy: Callable[[Crisis], int]) -> tuple[float, list[str]]:
    """The return and the ends of one episode."""

    def draws() -> list[float]:
        return [rng.random() for _ in document.get("event_schedule", [])]

    game, total = Crisis(document, draws()), 0.0
    while not (game.terminated or game.truncated):
        step = game.step(policy(game), draws())
        total += step.reward
    return total, ends(step)
