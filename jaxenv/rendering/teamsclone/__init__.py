"""TeamsClone shown: the chat as a person would read it, the whole workspace over an episode, and actions in words.

A state is shown as one agent sees it. Only the overview of an episode tells the truth about all channels, and says so.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.teamsclone import Params, Scenario, State, TeamsClone
from jaxenv.envs.teamsclone.actions import decode
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.rendering.teamsclone import people, phrases, room, story, text, timeline
from jaxenv.rendering.teamsclone.chat import Chat
from jaxenv.rendering.teamsclone.history import History, history_of
from jaxenv.rendering.teamsclone.names import Names, names_of
from jaxenv.rendering.teamsclone.reading import Sight, read
from jaxenv.rendering.view import Scene, View

SIZE = (960.0, 600.0)  # points
SHARE = 0.72  # of the width for channels and messages


def scenes(env: TeamsClone, states: Sequence[State], params: Params, document: Any, agent: int = 0) -> list[Scene]:
    """The states of one episode as chat pages of one agent; see `view.View`."""
    names = _names(env, states[0], params, document)
    history = history_of(states)
    return [
        Scene(
            title=text.title(chat),
            moment=text.moment(chat),
            text=text.body(chat),
            main=functools.partial(room.draw, chat),
            side=functools.partial(people.draw, chat),
            whole=functools.partial(timeline.draw, history, names, agent),
            size=SIZE,
            share=SHARE,
        )
        for chat in _chats(env, states, params, names, history, agent)
    ]


def words(env: TeamsClone, state: State, action: Any, params: Params, document: Any, agent: int = 0) -> str:
    """What the actions of all agents mean in a state; see `view.View`."""
    chosen = np.reshape(action, env.num_agents).astype(np.int32)
    scenario, names = _scenario(params, state), _names(env, state, params, document)
    legal = jax.device_get(_legal(env.catalogue, state, scenario, chosen)).tolist()
    moment = phrases.Moment(env.catalogue, state, scenario, names, agent)
    pairs = enumerate(zip(chosen.tolist(), legal, strict=True))
    said = [phrases.phrase(moment, n, number, is_legal) for n, (number, is_legal) in pairs]
    return phrases.together(names, said, agent)


def told(
    env: TeamsClone, before: State, after: State, action: Any, params: Params, document: Any, agent: int = 0
) -> list[str]:
    """What an agent sees of a step; see `view.View`."""
    del action
    names, history = _names(env, before, params, document), history_of([before, after])
    was, now = _chats(env, [before, after], params, names, history, agent)
    return story.told(was, now, history, names, agent)


def view_of(agent: int) -> View:
    """The view of one agent."""
    return View(
        scenes=functools.partial(scenes, agent=agent),
        words=functools.partial(words, agent=agent),
        told=functools.partial(told, agent=agent),
        of_agent=view_of,
    )


def _chats(
    env: TeamsClone, states: Sequence[State], params: Params, names: Names, history: History, agent: int
) -> list[Chat]:
    """The states as one agent sees them."""
    scenario = _scenario(params, states[0])
    return [read(state, scenario, _sight(env, state, params), history, names, agent) for state in states]


def _names(env: TeamsClone, state: State, params: Params, document: Any) -> Names:
    """What things are called."""
    return names_of(_scenario(params, state), document, env.num_agents)


def _sight(env: TeamsClone, state: State, params: Params) -> Sight:
    """What the engine says of a state."""
    told = jax.device_get(_ask(env, state, params))
    statistics, away, time_limit, is_terminated, is_truncated = told
    outcome = "out of time" if is_truncated else ""
    if is_terminated and env.goal == "mentions":
        missed = int(np.sum(state.counts.missed))
        outcome = f"every mention is addressed, {missed} missed" if missed else "every mention is answered"
    elif is_terminated:
        outcome = "enough mentions are answered and calls joined"
    return Sight(jax.tree.map(np.atleast_1d, statistics), away, int(time_limit), outcome)


@functools.partial(jax.jit, static_argnums=0)
def _ask(env: TeamsClone, state: State, params: Params) -> tuple:
    ends = env.is_terminated(state, params), env.is_truncated(state, params)
    return env.statistics(state, params), is_away(state), params.max_steps_in_episode, *ends


@functools.partial(jax.jit, static_argnums=0)
def _legal(catalogue: Any, state: State, scenario: Scenario, action: jax.Array) -> jax.Array:
    agents = jnp.arange(action.shape[0])
    return jax.vmap(lambda agent, index: decode(catalogue, state, scenario, agent, index).legal)(agents, action)


def _scenario(params: Params, state: State) -> Scenario:
    """The scenario of a state, on the host."""
    return jax.device_get(params.bank[state.scenario])


VIEW = view_of(0)
