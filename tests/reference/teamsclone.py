"""TeamsClone in slow, plain Python: the executable form of docs/rules/teamsclone.md, and the oracle of the tests.

`Episode` is an episode (its course is told in `teamsclone_episode`, the world's part in `teamsclone_world`) with
the mask, the observation and the statistics.

What is easily missed:

- Success: in the variant of mentions, every mention was answered, initial ones of the document included (they pend,
  are paid and hold the end off like those of the schedule); in the variant of many agents, the quotas are reached.
  Elsewhere it stays False. An episode may terminate and be truncated at once.
- The quotas of the variant of many agents count for one agent, too; any variant takes any number of agents.
- A mention that another agent than the named one answers is in neither's missed and in the answerer's answered.
- Two agents that write into a quiet channel in one step are both paid for engagement, and of two that write there
  after one message neither is spam: both are judged by the state before the step.
- The run of agents' messages is counted without a limit, beyond the ten messages kept.
- Weights replace the variant's own amounts; in the variant of many tasks they are multiplied by the tasks' weights,
  and a weight of send or presence has no effect there.
- An index outside the catalogue, and a step after the end, raise ValueError. So does a document that breaks a
  capacity, has no text of a kind, or mentions an agent that is not there.
"""

from __future__ import annotations

from typing import NamedTuple

from reference.teamsclone_episode import Course
from reference.teamsclone_episode import Step as Step
from reference.teamsclone_rules import ACT_STEPS, SEND_STEPS, TEAMMATES
from reference.teamsclone_rules import Draws as Draws
from reference.teamsclone_workspace import Workspace as Workspace
from reference.teamsclone_world import Message


class Shown(NamedTuple):
    """A message of the window as an agent is shown it."""

    id: str
    author: int | str  # a teammate's index, or "agent k"
    kind: str
    mentions_me: bool
    pending: bool
    age: int
    own_reaction: int | None
    text: str


class Observation(NamedTuple):
    """What an agent is shown; lists by channel and teammate are filled up to the capacities."""

    window: list[Shown]  # newest first, at most ten
    team: int
    channel: int
    exists: list[bool]
    unread: list[int]
    running: list[bool]
    joined: list[bool]
    present: list[bool]  # teammates available or busy
    available: bool  # the agent's own status; else it is away
    clock: int
    own_sends: int  # in the nine steps before
    run: list[int]  # agents' messages since a teammate's last one


class Episode(Course):
    """One episode of a document, with what agents are shown of it."""

    @property
    def unread(self) -> list[list[int]]:
        """By agent and channel."""
        return [agent.unread for agent in self.agents]

    @property
    def paid(self) -> list[list[int | None]]:
        """The clock of the last paid entry, by agent and channel."""
        return [agent.paid for agent in self.agents]

    @property
    def joined(self) -> list[list[bool]]:
        """Whether an agent is in the call of a channel, by agent and channel."""
        return [agent.joined for agent in self.agents]

    @property
    def running_calls(self) -> list[bool]:
        """Whether a call runs, by channel."""
        return [self.running(place) for place in range(len(self.channels))]

    def available(self, agent: int) -> bool:
        """Whether an agent's status is available, not away."""
        return self.clock <= ACT_STEPS or self.recent(self.agents[agent].acts, ACT_STEPS) > 0

    def observation(self, agent: int) -> Observation:
        """What an agent is shown of the state."""
        own, padding = self.agents[agent], self.capacity - len(self.channels)
        present = self.present_teammates()
        return Observation(
            window=[self._shown(agent, message) for message in self.channels[own.channel].messages[::-1]],
            team=self.workspace.team_of[own.channel],
            channel=own.channel,
            exists=[True] * len(self.channels) + [False] * padding,
            unread=own.unread + [0] * padding,
            running=self.running_calls + [False] * padding,
            joined=own.joined + [False] * padding,
            present=[number in present for number in range(TEAMMATES)],
            available=self.available(agent),
            clock=self.clock,
            own_sends=self.recent(own.sends, SEND_STEPS),
            run=[channel.run for channel in self.channels] + [0] * padding,
        )

    def _shown(self, agent: int, message: Message) -> Shown:
        return Shown(
            id=f"msg-{self.workspace.channel_ids[self.agents[agent].channel]}-{message.serial}",
            author=message.author,
            kind=message.kind,
            mentions_me=message.mentioned == agent,
            pending=message.pending,
            age=self.clock - message.posted,
            own_reaction=message.reactions[agent],
            text=message.text,
        )

    def statistics(self, agent: int) -> dict[str, float]:
        """The statistics of the episode so far, for one agent."""
        own = self.agents[agent]
        answered = len(own.answer_ages)
        return {
            "steps": self.clock,
            "total_reward": float(self.returns[agent]),
            "messages_sent": len(own.sends),
            "channels_switched": own.switches,
            "channels_visited": len(own.visited),
            "mentions_received": own.received,
            "mentions_answered": answered,
            "mentions_missed": own.missed,
            "mean_response_time": _ratio(sum(own.answer_ages), answered),
            "response_rate": _ratio(answered, answered + own.missed),
            "valid_action_share": _ratio(own.legal_actions, self.clock),
            "coverage": len(own.visited) / len(self.channels),
            "reactions_per_message": _ratio(own.reactions, self.teammates_messages),
        }


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
