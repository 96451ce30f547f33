"""From a state to what one agent is shown of it.

Of messages only those of the agent's channel are read, and of other channels what a chat shows: how much is unread and
who is in a call. Rates, schedules and where other agents are stand in no picture of a state and in none of its lines.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from jaxenv.envs.teamsclone import Scenario, State, Statistics, actions, messages
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, PRESENCE, WINDOW
from jaxenv.rendering.teamsclone.chat import ANSWERED, OVER, PENDING, Channel, Chat, Message, Person
from jaxenv.rendering.teamsclone.history import History
from jaxenv.rendering.teamsclone.names import Names


class Sight(NamedTuple):
    """What the engine says of a state, on the host; axes of agents are always there."""

    statistics: Statistics  # [N]
    is_away: np.ndarray  # [N] bool
    time_limit: int
    outcome: str  # how the episode has ended, empty while it goes on


def read(state: State, scenario: Scenario, sight: Sight, history: History, names: Names, agent: int) -> Chat:
    """What an agent sees of a state; the records are on the host."""
    here = int(state.channel[agent])
    count = int(state.messages.count[here])
    return Chat(
        workspace=names.workspace,
        me=names.agent(agent),
        num_agents=len(names.agents),
        clock=int(state.clock),
        time_limit=sight.time_limit,
        channels=tuple(_channels(state, names, agent)),
        messages=tuple(
            _message(state, scenario, history, names, agent, serial) for serial in range(max(count - WINDOW, 0), count)
        ),
        earlier=max(count - WINDOW, 0),
        people=tuple(_people(state, sight, names, agent)),
        statistics=_of_agent(sight.statistics, agent),
        outcome=sight.outcome,
    )


def _of_agent(statistics: Statistics, agent: int) -> Statistics:
    """Those of one agent."""
    fields = {name: getattr(statistics, name)[agent] for name in Statistics.__dataclass_fields__}
    return Statistics(**fields)


def _channels(state: State, names: Names, agent: int) -> list[Channel]:
    """The channels as the list of a chat shows them; of calls also which agents are in."""
    running = actions.is_running(state)
    return [
        Channel(
            number=number,
            name=name,
            team=names.teams[names.team_of[number]],
            unread=int(state.unread[agent, number]),
            is_current=bool(state.channel[agent] == number),
            has_call=bool(running[number]),
            in_call=tuple(names.agent(other) for other in np.flatnonzero(state.in_call[:, number]).tolist()),
        )
        for number, name in enumerate(names.channels)
    ]


def _message(state: State, scenario: Scenario, history: History, names: Names, agent: int, serial: int) -> Message:
    """A message of the agent's channel."""
    here, place = int(state.channel[agent]), serial % WINDOW
    word, posted = state.messages.words[place, here], int(state.messages.posted[place, here])
    author, named = int(messages.author(word)), int(messages.named(word))
    age = int(state.clock) - posted
    fate = ""
    if named >= 0:
        ended = history.fate((here, serial), int(state.clock))
        known = ANSWERED if age <= scenario.mention_window else OVER
        fate = PENDING if messages.is_pending(word) else ended.how if ended else known
    return Message(
        author=names.author(author),
        by=author,
        is_agent=author >= names.room,
        is_own=author == names.room + agent,
        kind=KINDS[int(messages.kind(word))],
        content=names.content(int(messages.text(word)), named),
        step=posted + 1,
        age=age,
        mention=names.mention(named) if named >= 0 else "",
        is_for_me=named == agent,
        fate=fate,
        reactions=_reactions(state.messages.reactions[place, here], len(names.agents)),
    )


def _reactions(packed: Any, num_agents: int) -> tuple[tuple[str, int], ...]:
    """The emoji of a message and how many agents gave each, in the order of EMOJI."""
    given = Counter(int(packed) >> 4 * agent & 15 for agent in range(num_agents))
    return tuple((emoji, given[code]) for code, emoji in enumerate(EMOJI, 1) if given[code])


def _people(state: State, sight: Sight, names: Names, agent: int) -> list[Person]:
    """The teammates, then the agents."""
    presence = state.presence.tolist()
    teammates = [Person(name, n, PRESENCE[presence[n]], False, False) for n, name in enumerate(names.users)]
    agents = range(len(names.agents))
    status = ["away" if away else "available" for away in sight.is_away.tolist()]
    return teammates + [Person(names.agent(n), names.room + n, status[n], True, n == agent) for n in agents]
