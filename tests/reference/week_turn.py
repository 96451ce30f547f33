"""The course of a week: its state, what follows from it, which actions are legal, and the phases of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from reference.week_rules import (
    GROUPS,
    HUNDREDTHS,
    JOB,
    NEWS,
    NOTEBOOK,
    PARTS,
    QUESTION,
    SHOWN,
    SLOTS,
    TURNS,
    VALUES,
    Post,
    read_scenario,
    read_weights,
)


class Step(NamedTuple):
    """What a turn brought."""

    legal: bool
    parts: dict[str, float]  # in points, times their weights
    reward: float
    terminated: bool


class Head(NamedTuple):
    """The message that REPLY answers."""

    number: int  # of the post in its channel
    post: Post


class Course:
    """A week in its course; `notebook` is the number of lines that are kept."""

    def __init__(
        self,
        scenario: Mapping[str, Any],
        notebook: int = NOTEBOOK,
        sees_truth: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self.travel, self.jobs, self.events, self.facts, self.posts = read_scenario(scenario)
        self.notebook, self.sees_truth, self.weights = notebook, sees_truth, read_weights(weights)
        self.t = self.place = self.travel_left = 0
        self.channel = -1
        self.read = [0] * len(self.posts)
        self.handled = [0] * len(self.posts)
        self.answered = 0  # hundredths, with the truth
        self.promised = [event.promised for event in self.events]
        self.attended = [0] * len(self.events)
        self.known = [job.known for job in self.jobs]
        self.progress = [0] * len(self.jobs)
        self.sound = [False] * GROUPS
        self.noted = [-1] * len(self.facts)
        self.as_of = [0] * len(self.facts)
        self.paid = dict.fromkeys(PARTS, 0.0)  # in this turn
        self.told: list[int] = []  # facts that jobs told in this turn
        sizes = [("go", len(self.travel)), ("work", len(self.jobs)), ("open", len(self.posts)), ("reply", VALUES)]
        self.catalogue = [(verb, index) for verb, size in [*sizes, ("attend", 1), ("rest", 1)] for index in range(size)]

    # -------------------------------------------------------------------------------------- derived

    def over(self, j: int) -> bool:
        """Whether the work of a job is over; no job is never over."""
        return 0 < self.jobs[j].length <= self.progress[j]

    def barred(self, j: int) -> bool:
        """Whether another job of the group was begun."""
        group = self.jobs[j].group
        others = (i for i, job in enumerate(self.jobs) if i != j and group >= 0 and job.group == group)
        return any(self.progress[i] > 0 for i in others)

    def done(self, j: int) -> bool:
        """Whether a job is over and has not failed."""
        group = self.jobs[j].group
        return self.over(j) and (group < 0 or self.sound[group])

    def stage(self, group: int) -> int:
        """0 where no job of the group was begun, else 1 without and 2 with the right value, 3 where it is done."""
        begun = any(self.progress[j] > 0 for j, job in enumerate(self.jobs) if job.group == group)
        return 3 if self.group_done(group) else begun * (1 + self.sound[group])

    def group_done(self, group: int) -> bool:
        """Whether a job of the group is done."""
        return any(self.done(j) for j, job in enumerate(self.jobs) if job.group == group)

    def so_far(self, channel: int) -> int:
        """The number of posts that a channel has had."""
        return sum(post.time <= self.t for post in self.posts[channel])

    def shown(self) -> list[tuple[int, Post]]:
        """The numbers and the posts that the open channel shows, oldest first."""
        if self.channel < 0:
            return []
        come = self.so_far(self.channel)
        return [(number, self.posts[self.channel][number]) for number in range(max(0, come - SHOWN), come)]

    def head(self) -> Head | None:
        """The oldest message shown that can be replied to."""
        for number, post in self.shown():
            if number >= self.handled[self.channel] and post.waits(self.t):
                return Head(number, post)
        return None

    def attendable(self) -> list[int]:
        """The events that ATTEND may be meant for."""
        return [e for e, event in enumerate(self.events) if self.promised[e] and self._can_attend(e, event.place)]

    def _can_attend(self, e: int, place: int) -> bool:
        here = place < 0 or (self.travel_left == 0 and place == self.place)
        return here and self.events[e].start <= self.t < self.events[e].end

    def can_work(self, j: int) -> bool:
        """Whether a slot of work can go into a job."""
        job = self.jobs[j]
        if self.travel_left > 0 or not self.known[j] or self.over(j) or self.barred(j):
            return False
        if job.needs >= 0 and not self.group_done(job.needs):
            return False
        in_hours = job.opens <= self.t % SLOTS < job.closes and job.first <= self.t < job.due
        return in_hours and job.place in (-1, self.place)

    def legal(self, verb: str, index: int) -> bool:
        """Whether the mask allows an action; after the end it allows every one."""
        if self.t >= TURNS:
            return True
        match verb:
            case "go":
                return self.travel_left == 0 and self.travel[self.place][index] > 0
            case "work":
                return self.can_work(index)
            case "open":
                return self.so_far(index) > 0
            case "reply":
                head = self.head()
                return head is not None and (head.post.kind == QUESTION or index <= 1)
            case "attend":
                return bool(self.attendable())
        return True

    # ---------------------------------------------------------------------------------------- a turn

    def turn(self, action: int) -> Step:
        """One turn, phase by phase."""
        if self.t >= TURNS:
            raise ValueError("the week is over")
        if not 0 <= action < len(self.catalogue):
            raise ValueError(f"no action {action}: there are {len(self.catalogue)}")
        verb, index = self.catalogue[action]
        legal = self.legal(verb, index)
        self.paid, self.told = dict.fromkeys(PARTS, 0.0), []
        self._act(*((verb, index) if legal else ("rest", 0)))
        self._clock()
        self._meetings()
        self._reading()
        parts = {part: self.weights[part] * amount for part, amount in self.paid.items()}
        return Step(legal, parts, sum(parts.values()), self.t >= TURNS)

    def _act(self, verb: str, index: int) -> None:
        match verb:
            case "go":
                self.place, self.travel_left = index, self.travel[self.place][index]
            case "work":
                self._work(index)
            case "open":
                self.channel = index
            case "reply":
                self._reply(index)
            case "attend":
                self._attend()
        if verb not in ("open", "reply"):
            self.channel = -1

    def _work(self, j: int) -> None:
        job = self.jobs[j]
        if self.progress[j] == 0 and job.group >= 0:
            self.sound[job.group] = job.value in (-1, self.facts[job.group].at(self.t))
        self.progress[j] += 1
        if self.done(j):
            self.paid[job.part] += job.points / HUNDREDTHS
        if self.over(j) and job.tells >= 0:
            self.told.append(job.tells)

    def _reply(self, value: int) -> None:
        head = self.head()
        assert head is not None
        if head.post.kind == QUESTION:
            right = value == self.facts[head.post.ref].at(self.t)
            self.paid["answers" if right else "wrong"] += head.post.points / HUNDREDTHS
            self.answered += head.post.points if right else 0
        elif value == 0:
            self.promised[head.post.ref] = True
        self.handled[self.channel] = head.number + 1

    def _attend(self) -> None:
        best, *others = self.attendable()
        for e in others:
            one, other = self.events[best], self.events[e]
            if other.points * one.length > one.points * other.length:  # points a slot, without division
                best = e
        self.attended[best] += 1

    def _clock(self) -> None:
        self.t += 1
        self.travel_left = max(0, self.travel_left - 1)
        if self.t % SLOTS == 0:
            self.place = self.travel_left = 0

    def _meetings(self) -> None:
        for e, event in enumerate(self.events):
            if self.promised[e] and event.end == self.t:
                self.paid["meetings"] += event.points * self.attended[e] / event.length / HUNDREDTHS
                if 2 * self.attended[e] < event.length:
                    self.paid["missed"] += event.points / HUNDREDTHS

    def _reading(self) -> None:
        shown = self.shown()
        if self.channel >= 0:
            self.read[self.channel] = self.so_far(self.channel)
        for _, post in shown:
            if post.kind == JOB:
                self.known[post.ref] = True
        number = self.t * (SHOWN + 1)
        for fact in self.told:
            self._note(fact, self.t - 1, number)
        for place, (_, post) in enumerate(shown, start=SHOWN - len(shown)):
            if post.kind == NEWS:
                self._note(post.ref, post.time, number + 1 + place)
        self._forget()

    def _note(self, fact: int, as_of: int, number: int) -> None:
        if self.noted[fact] < 0 or self.as_of[fact] < as_of:
            self.noted[fact], self.as_of[fact] = number, as_of

    def _forget(self) -> None:
        lines = sorted((number, fact) for fact, number in enumerate(self.noted) if number >= 0)
        for _, fact in lines[: max(0, len(lines) - self.notebook)]:
            self.noted[fact], self.as_of[fact] = -1, 0
