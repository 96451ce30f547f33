"""A workspace without chance, and players of scripts in it, for the tests of its pictures."""

import functools

import jax
import numpy as np

import scenarios
from jaxenv import rendering
from jaxenv.envs import teamsclone
from jaxenv.envs.teamsclone import actions

STAY = {"available": [1, 0, 0, 0], "busy": [0, 1, 0, 0], "offline": [0, 0, 0, 1]}
DESK = {
    "id": "desk",
    "teams": [
        {"id": "front", "name": "Front desk", "channels": [{"id": "hall", "name": "Hall"}, {"id": "back"}]},
        {"id": "phones", "channels": [{"id": "phone", "name": "Phone", "call_rate": 1}]},
    ],
    "users": [
        {"id": "ada", "name": "Ada", "post_rate": 0, "presence_transition": STAY},
        {"id": "ben", "name": "Ben", "status": "offline", "post_rate": 0, "presence_transition": STAY},
    ],
    "messages": [
        {"channel": "hall", "user": "ben", "kind": "greeting", "text": "Good night."},
        {"channel": "hall", "user": "ada", "kind": "mention", "text": "Is the door open?"},
        {"channel": "back", "user": "ben", "kind": "question", "text": "Where is the ladder?"},
        {"channel": "back", "user": "ada", "kind": "mention", "text": "Hello @agent, have you seen it?"},
    ],
    "mention_window": 4,
    "call_length": 2,
    "texts": {"reply": ["On my way."], "invitation": ["Ring ring."], "thanks": ["Much obliged."]},
}
HALL, BACK, PHONE = range(3)
ENV = teamsclone.classic()
FIRST = ENV.catalogue.first
IDLE, EMPTY, UNKNOWN, MALFORMED = (FIRST(verb) for verb in range(actions.IDLE, actions.MALFORMED + 1))
GREET, REPLY, ASK, STATUS, THANK, CHAT = range(FIRST(actions.TEXT), FIRST(actions.TEXT) + 6)


def answer(channel):
    """Answers a mention of another channel."""
    return FIRST(actions.ANSWER) + channel


def go(channel):
    """Goes to a channel."""
    return FIRST(actions.SWITCH) + channel


def react(slot, emoji):
    """Reacts to a message of the window."""
    return FIRST(actions.REACT) + 8 * slot + emoji


def join(channel):
    """Joins the call of a channel."""
    return FIRST(actions.JOIN) + channel


def play(*chosen, env=ENV, document=DESK, agent=0, named=True, **changes):
    """An episode in which these actions are taken, agent by agent in each step, and then nothing."""
    library = scenarios.parse("teamsclone", document)
    params = env.params_for(library.bank).replace(**changes)
    steps = -(-len(chosen) // env.num_agents)
    params = params.replace(max_steps_in_episode=np.int32(max(steps, 1)))
    remaining = iter(chosen)

    def policy(key, observation, params):
        return np.int32(next(remaining, IDLE))

    return rendering.record(env, params, policy, jax.random.key(0), 0, names=library if named else None, agent=agent)


@functools.cache
def visit():
    """Reacts and answers in the hall, joins a call from afar, and comes too late to the back."""
    return play(react(0, 0), REPLY, join(PHONE), IDLE, go(BACK), THANK)


def discs(picture):
    """(x, y, radius, fill, edge) of each circle, in points of its canvas."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import Circle

    found = picture.figure().findobj(Circle)
    return [
        (*disc.center, disc.radius, to_hex(disc.get_facecolor(), True), to_hex(disc.get_edgecolor(), True))
        for disc in found
    ]
