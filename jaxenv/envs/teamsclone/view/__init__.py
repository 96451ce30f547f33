"""TeamsClone shown: the chat as a person would read it, the whole workspace over an episode, and actions in words.

A state is shown as one agent sees it. Only the overview of an episode shows all channels as they are, and says so.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxenv.envs.teamsclone import Params, Scenario, State, TeamsClone
from jaxenv.envs.teamsclone.actions import decode
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.envs.teamsclone.types import each_agent
from jaxenv.envs.teamsclone.view import main_panel, side_panel, text, timeline
from jaxenv.envs.teamsclone.view.history import History, history_of
from jaxenv.envs.teamsclone.view.names import Names, names_of
from jaxenv.envs.teamsclone.view.snapshot import Chat, Report, read
from jaxenv.rendering.names import Given
from jaxenv.rendering.view import Scene, View, scenario_of, scenes_of

SIZE = (960.0, 600.0)  # points
SHARE = 0.72  # of the width for channels and messages


def scenes(env: TeamsClone, states: Sequence[State], params: Params, names: Given, agent: int = 0) -> list[Scene]:
    """The states of one episode as chat pages of one agent; see `View`."""
    called, history = names_of(scenario_of(params, states[0]), names, env.num_agents), history_of(states)
    chats = _chats(env, states, params, called, history, agent)
    whole = functools.partial(timeline.draw, history, called, agent)
    return scenes_of(chats, text, main_panel.draw, side_panel.draw, whole, size=SIZE, share=SHARE)


def describe_action(env: TeamsClone, state: State, action: Any, params: Params, names: Given, agent: int = 0) -> str:
    """The meaning of the actions of all agents in a state; see `View`."""
    actions = np.reshape(action, env.num_agents).astype(np.int32)
    scenario = scenario_of(params, state)
    legal = jax.device_get(_legal(env.catalogue, state, scenario, actions)).tolist()
    moment = text.Moment(env.catalogue, state, scenario, names_of(scenario, names, env.num_agents), agent)
    return text.describe_actions(moment, actions.tolist(), legal)


def describe_step(
    env: TeamsClone, before: State, after: State, action: Any, params: Params, names: Given, agent: int = 0
) -> list[str]:
    """The effects of a step that an agent sees; see `View`."""
    del action
    called, history = names_of(scenario_of(params, before), names, env.num_agents), history_of([before, after])
    was, now = _chats(env, [before, after], params, called, history, agent)
    return text.describe_step(was, now, history, called, agent)


def view_of(agent: int) -> View:
    """The view of one agent."""
    return View(
        scenes=functools.partial(scenes, agent=agent),
        describe_action=functools.partial(describe_action, agent=agent),
        describe_step=functools.partial(describe_step, agent=agent),
        of_agent=view_of,
    )


def _chats(
    env: TeamsClone, states: Sequence[State], params: Params, names: Names, history: History, agent: int
) -> list[Chat]:
    """The states as one agent sees them."""
    scenario = scenario_of(params, states[0])
    return [read(state, scenario, _report(env, state, params), history, names, agent) for state in states]


def _report(env: TeamsClone, state: State, params: Params) -> Report:
    """The engine's report on a state."""
    statistics, away, time_limit, is_terminated, is_truncated = jax.device_get(_query(env, state, params))
    outcome = "out of time" if is_truncated else ""
    if is_terminated and env.goal == "mentions":
        missed = int(np.sum(state.counts.missed))
        outcome = f"every mention is addressed, {missed} missed" if missed else "every mention is answered"
    elif is_terminated:
        outcome = "enough mentions are answered and calls joined"
    return Report(jax.tree.map(np.atleast_1d, statistics), away, int(time_limit), outcome)


@functools.partial(jax.jit, static_argnums=0)
def _query(env: TeamsClone, state: State, params: Params) -> tuple:
    ends = env.is_terminated(state, params), env.is_truncated(state, params)
    return env.statistics(state, params), is_away(state), params.max_steps_in_episode, *ends


@functools.partial(jax.jit, static_argnums=0)
def _legal(catalogue: Any, state: State, scenario: Scenario, action: jax.Array) -> jax.Array:
    def legal(agent: jax.Array, state: State, index: jax.Array) -> jax.Array:
        return decode(catalogue, state, scenario, agent, index).legal

    return each_agent(legal, state, action)


VIEW = view_of(0)
