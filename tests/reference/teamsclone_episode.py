"""The course of a TeamsClone episode in slow, plain Python: actions, reward and ends.

Everything here is written to be read next to docs/rules/teamsclone.md. The clock counts steps taken; rewards are exact
fractions until they are given out. Chance comes in as the draws of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from reference.teamsclone_rules import (
    ACT_STEPS,
    ACTS_NEEDED,
    ENTRY_STEPS,
    PARTS,
    PENALTIES,
    QUIET_STEPS,
    RUN_LIMIT,
    SEND_LIMIT,
    SEND_STEPS,
    TEMPLATES,
    TIMELY_AGE,
    VARIANTS,
    Draws,
    Entry,
    Record,
    amounts,
    catalogue,
)
from reference.teamsclone_world import Agent, Appointment, Message, World, agent_name


class Step(NamedTuple):
    """What one step gives back; the lists go by agent."""

    rewards: list[float]
    parts: list[dict[str, float]]
    terminated: bool
    truncated: bool
    success: bool
    invalid: list[bool]


class Judged(NamedTuple):
    """An agent's action against the state before the step."""

    entry: Entry
    legal: bool
    place: int  # the channel of a message, or the agent's
    answered: Message | None  # the mention that a message is for
    earned: list[str]  # parts, without those of an answer


class Course(World):
    """One episode of a document, without what an observer is told of it."""

    def __init__(
        self,
        document: Record,
        num_agents: int = 1,
        variant: str = "classic",
        time_limit: int = 100,
        schedule: Sequence[Appointment] | None = None,
        weights: dict[str, float] | None = None,
        task_weights: Sequence[float] = (1, 1, 0.5),
        shared_reward: float = 0.0,
        quota_mentions: int | None = None,
        quota_calls: int | None = None,
        quota_share: float = 0.75,
        channels: int = 8,
    ) -> None:
        if variant not in VARIANTS or (variant == "mentions") != (schedule is not None):
            raise ValueError(f"no variant {variant!r} of this kind; mentions, and no other, has a schedule")
        steps = [step for step, _, _ in schedule or []]
        if len(set(steps)) < len(steps) or not all(0 <= step < time_limit // 2 for step in steps):
            raise ValueError("a schedule has distinct steps of the first half")
        super().__init__(document, num_agents, channels, schedule)
        self.variant, self.time_limit, self.capacity = variant, time_limit, channels
        self.entries = catalogue(channels)
        self.amounts = amounts(variant, weights, task_weights)
        self.shared_reward = Fraction(str(shared_reward))
        least = (0, 0) if variant == "multi_agent_v1" else (4, num_agents)
        self.quota_mentions = least[0] if quota_mentions is None else quota_mentions
        self.quota_calls = least[1] if quota_calls is None else quota_calls
        self.quota_share = Fraction(str(quota_share))
        self.returns = [Fraction(0)] * num_agents
        self.terminated = self.truncated = self.success = False

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    # ------------------------------------------------------------------------------------- actions

    def legal(self, agent: int) -> list[int]:
        """The entries that an agent may play; all of them once the episode is over."""
        return [index for index, entry in enumerate(self.entries) if self.over or self.allowed(agent, entry)]

    def allowed(self, number: int, entry: Entry) -> bool:
        """Whether an entry is legal for an agent in this state."""
        agent, exists = self.agents[number], 0 <= entry.target < len(self.channels)
        match entry.verb:
            case "text" | "idle":
                return True
            case "answer" | "switch":
                return exists and entry.target != agent.channel
            case "join":
                return exists and self.running(entry.target) and not agent.joined[entry.target]
            case "react":
                message = self.in_slot(agent, entry.target)
                return message is not None and message.by_teammate and message.reactions[number] is None
        return False

    def in_slot(self, agent: Agent, slot: int) -> Message | None:
        """The message in a slot of an agent's window, the newest in slot 0."""
        newest_first = self.channels[agent.channel].messages[::-1]
        return newest_first[slot] if slot < len(newest_first) else None

    def recent(self, clocks: list[int], steps: int) -> int:
        """How many of some clocks lie in the last steps before this one."""
        return sum(self.clock - steps <= each for each in clocks)

    def step(self, actions: Sequence[int], draws: Draws) -> Step:
        """Play a catalogue entry for each agent, and then the world's part of the step."""
        if self.over:
            raise ValueError("the episode is over")
        if len(actions) != len(self.agents) or not all(0 <= index < len(self.entries) for index in actions):
            raise ValueError(f"not one entry of the catalogue for each agent: {actions}")
        judged = [self._judge(number, self.entries[index]) for number, index in enumerate(actions)]
        earned = [list(each.earned) for each in judged]
        for number, each in enumerate(judged):
            earned[number] += self._apply(number, each)
        for number, each in enumerate(judged):
            if each.legal and each.entry.verb in ("text", "answer"):
                self._send(number, each)
        self.advance(draws)
        self._judge_ends()
        rewards, parts = self._pay(earned)
        invalid = [not each.legal for each in judged]
        return Step(rewards, parts, self.terminated, self.truncated, self.success, invalid)

    # -------------------------------------------------------------------------- the state before it

    def _judge(self, number: int, entry: Entry) -> Judged:
        agent = self.agents[number]
        legal = self.allowed(number, entry)
        place = entry.target if entry.verb == "answer" else agent.channel
        earned = ["presence"] if self.recent(agent.acts, ACT_STEPS) >= ACTS_NEEDED else []
        answered = None
        if not legal:
            earned.append(entry.verb if entry.verb in PENALTIES else "invalid_action")
        elif entry.verb in ("text", "answer"):
            earned += self._earned_by_message(agent, place)
            answered = self._oldest_seen_mention(number, place)
        elif entry.verb == "switch":
            paid = agent.paid[entry.target]
            earned += ["switch"] if paid is None or self.clock - paid >= ENTRY_STEPS else []
        elif entry.verb != "idle":
            earned.append({"react": "react", "join": "join_call"}[entry.verb])
        return Judged(entry, legal, place, answered, earned)

    def _earned_by_message(self, agent: Agent, place: int) -> list[str]:
        if self.channels[place].run >= RUN_LIMIT or self.recent(agent.sends, SEND_STEPS) >= SEND_LIMIT:
            return ["spam"]
        if self.quiet(place) >= QUIET_STEPS and agent.addressed[place]:
            return ["send", "channel_engagement"]
        return ["send"]

    def _oldest_seen_mention(self, number: int, place: int) -> Message | None:
        messages = self.channels[place].messages
        return next((message for message in messages if message.pending and message.seen[number]), None)

    # ------------------------------------------------------------------------------- what it changes

    def _apply(self, number: int, judged: Judged) -> list[str]:
        """Answer, react, join or switch; the parts that an answer earns."""
        agent, entry = self.agents[number], judged.entry
        agent.legal_actions += judged.legal
        if judged.legal and entry.verb in ("text", "answer", "react", "join"):
            agent.acts.append(self.clock)
        if judged.answered is not None and judged.answered.pending:  # a lower index may have answered it
            return self._answer(agent, judged.answered)
        if judged.legal and entry.verb == "react":
            message = self.in_slot(agent, entry.target)
            assert message is not None
            message.reactions[number] = entry.emoji
            agent.reactions += 1
        elif judged.legal and entry.verb == "join":
            agent.joined[entry.target] = True
            agent.joins += 1
        elif judged.legal and entry.verb == "switch":
            self._switch(agent, entry.target, paid="switch" in judged.earned)
        return []

    def _answer(self, agent: Agent, mention: Message) -> list[str]:
        age = self.clock - mention.posted
        mention.pending = False
        agent.answer_ages.append(age)
        return ["mention_response", "timely_response"] if age <= TIMELY_AGE else ["mention_response"]

    def _switch(self, agent: Agent, place: int, paid: bool) -> None:
        agent.channel = place
        agent.unread[place] = 0
        agent.visited.add(place)
        agent.switches += 1
        if paid:
            agent.paid[place] = self.clock

    def _send(self, number: int, judged: Judged) -> None:
        kind = TEMPLATES[judged.entry.target] if judged.entry.verb == "text" else "reply"
        self.agents[number].sends.append(self.clock)
        self.post(judged.place, agent_name(number), kind, self.workspace.texts[kind][0])

    # ----------------------------------------------------------------------------- reward and ends

    def _pay(self, earned: list[list[str]]) -> tuple[list[float], list[dict[str, float]]]:
        own = [{part: self.amounts[part] * names.count(part) for part in PARTS} for names in earned]
        for each in own:
            each["quota"] = self.amounts["quota"] * (self.time_limit - self.clock) * self.quota_met
        shared, count = self.shared_reward, len(own)
        mean = {part: sum(each[part] for each in own) / count for part in PARTS}
        blended = [{part: (1 - shared) * each[part] + shared * mean[part] for part in PARTS} for each in own]
        rewards = [sum(each.values(), Fraction(0)) for each in blended]
        self.returns = [total + reward for total, reward in zip(self.returns, rewards, strict=True)]
        parts = [{part: float(amount) for part, amount in each.items()} for each in blended]
        return [float(reward) for reward in rewards], parts

    @property
    def quota_met(self) -> bool:
        """Whether the agents have answered and joined enough; never in a variant without a quota."""
        answered = sum(len(agent.answer_ages) for agent in self.agents)
        joins = sum(agent.joins for agent in self.agents)
        enough = answered >= self.quota_mentions and joins >= self.quota_calls
        if self.variant != "multi_agent_v1":
            return self.variant == "multi_agent" and enough
        mentions = sum(agent.received for agent in self.agents)
        offered_joins = self.calls_begun * len(self.agents)
        has_share = answered >= self.quota_share * mentions and joins >= self.quota_share * offered_joins
        return enough and has_share and mentions + offered_joins > 0 and 2 * self.clock >= self.time_limit

    def _judge_ends(self) -> None:
        if self.variant == "mentions":
            assert self.schedule is not None
            posted = all(step < self.clock for step in self.schedule)
            self.terminated = posted and not self.pending()
            self.success = self.terminated and not any(agent.missed for agent in self.agents)
        elif self.variant in ("multi_agent", "multi_agent_v1"):
            self.terminated = self.success = self.quota_met
        self.truncated = self.clock >= self.time_limit
