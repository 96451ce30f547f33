"""A crisis about moving house, and players of scripts in it, for the tests of its pictures."""

import functools

import jax
import numpy as np

import scenarios
from jaxenv import rendering
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECTING, UPKEEP, VERBS

ENV = LifeStack()
MOVE = {
    "id": "move",
    "domain": "housing",
    "goal": "Be out of the flat by Friday.",
    "horizon": 8,
    "constraints": {"budget_max": 300, "deadline_step": 6},
    "hidden_state": {"lift": "broken"},
    "visible_world": {"weather": "dry"},
    "mutable_world": {"boxes": False, "moved": False},
    "success_conditions": [{"key": "moved", "value": True}],
    "failure_conditions": [{"key": "mental_wellbeing.stress_level", "op": "gt", "value": 90}],
    "disruption": {"mental_wellbeing.stress_level": 45},
    "viable_routes": [
        {
            "id": "pack",
            "name": "Pack",
            "required_action_types": ["plan", "execute"],
            "consequences": {"boxes": True},
            "final_reward": 0.5,
        },
        {
            "id": "van",
            "name": "Hire a van",
            "required_action_types": ["spend", "execute"],
            "preconditions": {"boxes": True, "lift": {"op": "ne", "value": "broken"}},
            "consequences": {"moved": True},
            "closes_routes": ["friends"],
            "milestones_unlocked": ["out"],
            "final_reward": 2,
            "cost": {"money": 250},
        },
        {
            "id": "friends",
            "required_action_types": ["communicate"],
            "preconditions": {"boxes": True, "weather": "dry"},
            "consequences": {"moved": True},
            "closes_routes": ["van"],
            "final_reward": 1.5,
        },
    ],
    "milestones": [
        {"id": "out", "description": "It is empty.", "condition_key": "moved", "condition_value": True, "reward": 1}
    ],
    "event_schedule": [
        {"id": "mended", "step": 0, "silent": True, "hidden_state_mutation": {"lift": "works"}},
        {
            "id": "rain",
            "step": 2,
            "description": "It rains.",
            "world_mutation": {"weather": "wet"},
            "effects": {"mental_wellbeing.stress_level": 2},
        },
    ],
}
PACK, VAN, FRIENDS = range(3)


def on(verb, route):
    """A verb on a route."""
    return VERBS.index(verb) * ENV.limits.routes + route


def look(key):
    """Inspecting a key."""
    return ENV.catalogue.first(INSPECTING) + key


def upkeep(verb):
    """A kind of upkeep."""
    return ENV.catalogue.first(FIRST_UPKEEP + UPKEEP.index(verb))


WAY_OUT = (on("plan", PACK), on("execute", PACK), on("communicate", FRIENDS), on("spend", VAN), on("execute", VAN))


def replay(*actions):
    """A policy that takes these actions in turn."""
    remaining = iter(actions)
    return lambda key, observation, params: np.int32(next(remaining))


def play(document, *actions, library=None):
    """An episode in which these actions are taken."""
    library = library or scenarios.parse("lifestack", document)
    params = ENV.params_for(library.bank)
    return rendering.record(ENV, params, replay(*actions), jax.random.key(0), 0, names=library)


@functools.cache
def moved():
    """The way out of the flat, with a failed attempt on it."""
    return play(MOVE, *WAY_OUT)


def started(document=MOVE, **changes):
    """(state, params, library) of the first step."""
    library = scenarios.parse("lifestack", document | changes)
    params = ENV.params_for(library.bank)
    return ENV.reset(jax.random.key(0), params, 0)[1], params, library
