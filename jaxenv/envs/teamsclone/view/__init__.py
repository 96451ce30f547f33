"""TeamsClone shown: the chat as a person would read it, the whole workspace over an episode, and actions in words.

A state is shown as one agent sees it. Only the overview of an episode shows all channels as they are, and says so.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxenv.envs.teamsclone import Params, State, TeamsClone
from jaxenv.envs.teamsclone.view import panels, text, timeline
from jaxenv.envs.teamsclone.view.history import History, history_of
from jaxenv.envs.teamsclone.view.snapshot import Chat, names_of, read, report
from jaxenv.envs.teamsclone.view.snapshot import Names as Names
from jaxenv.rendering.view import Given, Scene, View, legal_mask, scenario_of, scenes_of

SIZE = (960.0, 600.0)  # points
SHARE = 0.72  # of the width for channels and messages


def shown(
    env: TeamsClone, states: Sequence[State], params: Params, names: Given, agent: int
) -> tuple[History, list[Chat]]:
    """The history of some states, and each of them in plain Python, as one agent sees it."""
    scenario, history = scenario_of(params, states[0]), history_of(states)
    called = names_of(scenario, names, env.num_agents)
    return history, [read(state, scenario, report(env, state, params), history, called, agent) for state in states]


def scenes(env: TeamsClone, states: Sequence[State], params: Params, names: Given, agent: int = 0) -> list[Scene]:
    """The states of one episode as chat pages of one agent; see `View`."""
    history, chats = shown(env, states, params, names, agent)
    whole = functools.partial(timeline.draw, history)
    return scenes_of(chats, text, panels.draw_main, panels.draw_side, whole, size=SIZE, share=SHARE)


def describe_action(env: TeamsClone, state: State, action: Any, params: Params, names: Given, agent: int = 0) -> str:
    """The meaning of the actions of all agents in a state; see `View`."""
    legal = np.reshape(legal_mask(env, state, params), (env.num_agents, env.num_actions)).tolist()
    situation = _situation(env, state, params, names, agent)
    return text.describe_actions(situation, np.reshape(action, env.num_agents).tolist(), legal)


def describe_actions(env: TeamsClone, state: State, params: Params, names: Given, agent: int = 0) -> list[str]:
    """The meaning of each action of one agent in a state; see `View`."""
    return text.every_action(_situation(env, state, params, names, agent), agent)


def _situation(env: TeamsClone, state: State, params: Params, names: Given, agent: int) -> text.Situation:
    """What the phrases of actions need."""
    scenario = scenario_of(params, state)
    return text.Situation(env.catalogue, state, scenario, names_of(scenario, names, env.num_agents), agent)


def describe_step(
    env: TeamsClone, before: State, after: State, action: Any, params: Params, names: Given, agent: int = 0
) -> list[str]:
    """The effects of a step that an agent sees; see `View`."""
    history, (was, now) = shown(env, [before, after], params, names, agent)
    return text.describe_step(was, now, history)


def view_of(agent: int) -> View:
    """The view of one agent."""
    functions: list[Any] = [scenes, describe_action, describe_actions, describe_step]
    return View(*(functools.partial(each, agent=agent) for each in functions), of_agent=view_of)


VIEW = view_of(0)
