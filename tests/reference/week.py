"""Week in slow, plain Python: the executable form of docs/rules/week.md, and the oracle of the tests.

`Episode` is an episode (its course is told in `week_turn`, the records of a scenario in `week_rules`) with the mask,
the state and the observation. A scenario is a nested dictionary of plain lists with the names of the page.

What is easily missed:

- An absent job has zeros in its fields, so it names group 0 and reaches its length at once: it counts as no job.
- News that scrolled out of the notebook is written anew, as the last line, as long as its channel shows it.
- A job that scrolled by unseen stays unknown, although its post counts as read.
- An event that is promised in its last slot is over in the same turn, and missed.
- Kinds of messages are numbered: chat 0, news 1, job 2, question 3, request 4.
- Points of an observation are hundredths, those of a reward are whole.
- An index outside the catalogue, and a step after the end, raise ValueError.
"""

from __future__ import annotations

from typing import Any

from reference.week_rules import NEWS, QUESTION, REQUEST, SHOWN, Event, Post
from reference.week_turn import Course
from reference.week_turn import Step as Step

Shown = dict[str, Any]

NO_JOB = {
    **dict.fromkeys(("exists", "begun"), False),
    **dict.fromkeys(("left", "place", "opens", "closes", "first", "due", "points"), 0),
    **dict.fromkeys(("group", "needs", "value"), -1),
}
NO_EVENT = {"exists": False, **dict.fromkeys(("start", "length", "place", "points", "attended"), 0)}
NO_MESSAGE = {"exists": False, "kind": 0, "fact": -1, "value": -1, "waits": False, "until": 0}
NO_HEAD = {
    **dict.fromkeys(("kind", "points", "until", "start", "length", "place"), 0),
    "fact": -1,
    "overlaps": False,
}


class Episode(Course):
    """One episode of a scenario; `sees_truth` is for `Week-Open-v0`."""

    def mask(self) -> list[bool]:
        """Which actions are legal."""
        return [self.legal(verb, index) for verb, index in self.catalogue]

    def step(self, action: int) -> Step:
        """Play an action of the catalogue; an illegal one plays REST."""
        return self.turn(action)

    def state(self) -> dict[str, Any]:
        """The whole state, as a copy."""
        return {
            "clock": self.t,
            "place": self.place,
            "travel_left": self.travel_left,
            "channel": self.channel,
            "posted": [self.so_far(channel) for channel in range(len(self.posts))],
            "read": list(self.read),
            "handled": list(self.handled),
            "answered": self.answered,
            "promised": list(self.promised),
            "attended": list(self.attended),
            "known": list(self.known),
            "progress": list(self.progress),
            "stage": [self.stage(group) for group in range(len(self.sound))],
            "noted": list(self.noted),
            "as_of": list(self.as_of),
        }

    def observation(self) -> dict[str, Any]:
        """What is seen of the state."""
        told = [self._told(fact) for fact in range(len(self.facts))]
        return {
            "clock": self.t,
            "place": self.place,
            "travel_left": self.travel_left,
            "distance": [self.travel_left + way for way in self.travel[self.place]],
            "channel": self.channel,
            "unread": [self.so_far(channel) - read for channel, read in enumerate(self.read)],
            "events": _columns([self._event(e) for e in range(len(self.events))], NO_EVENT),
            "jobs": _columns([self._job(j) for j in range(len(self.jobs))], NO_JOB),
            "messages": _columns(self._messages(), NO_MESSAGE),
            "head": self._head(),
            "told": [value for value, _ in told],
            "age": [age for _, age in told],
            "action_mask": self.mask(),
        }

    def _event(self, e: int) -> Shown:
        event = self.events[e]
        if not self.promised[e] or self.t >= event.end:
            return NO_EVENT
        return {
            "exists": True,
            "start": event.start,
            "length": event.length,
            "place": event.place,
            "points": event.points,
            "attended": self.attended[e],
        }

    def _job(self, j: int) -> Shown:
        job = self.jobs[j]
        if not self.known[j] or self.over(j) or self.barred(j) or self.t >= job.due:
            return NO_JOB
        return {
            "exists": True,
            "left": job.length - self.progress[j],
            "place": job.place,
            "opens": job.opens,
            "closes": job.closes,
            "first": job.first,
            "due": job.due,
            "points": job.points,
            "group": job.group,
            "needs": job.needs if job.needs >= 0 and not self.group_done(job.needs) else -1,
            "value": job.value,
            "begun": self.progress[j] > 0,
        }

    def _messages(self) -> list[Shown]:
        newest_first = [self._message(number, post) for number, post in reversed(self.shown())]
        return newest_first + [NO_MESSAGE] * (SHOWN - len(newest_first))

    def _message(self, number: int, post: Post) -> Shown:
        waits = number >= self.handled[self.channel] and post.waits(self.t)
        return {
            "exists": True,
            "kind": post.kind,
            "fact": post.ref if post.kind in (NEWS, QUESTION) else -1,
            "value": self.facts[post.ref].at(post.time) if post.kind == NEWS else -1,
            "waits": waits,
            "until": post.until if waits else 0,
        }

    def _head(self) -> Shown:
        head = self.head()
        if head is None:
            return dict(NO_HEAD)
        post = head.post
        shown = {**NO_HEAD, "kind": post.kind, "until": post.until}
        if post.kind == REQUEST:
            event = self.events[post.ref]
            shown |= {"points": event.points, "start": event.start, "length": event.length, "place": event.place}
            return shown | {"overlaps": self._overlaps(post.ref, event)}
        return shown | {"fact": post.ref, "points": post.points}

    def _overlaps(self, asked: int, event: Event) -> bool:
        others = (other for e, other in enumerate(self.events) if e != asked and self.promised[e])
        return any(event.overlaps(other) for other in others)

    def _told(self, fact: int) -> tuple[int, int]:
        """The value that is seen of a fact, and its age in slots."""
        if self.sees_truth:
            return self.facts[fact].at(self.t), 0
        if self.noted[fact] < 0:
            return -1, 0
        return self.facts[fact].at(self.as_of[fact]), self.t - self.as_of[fact]


def _columns(rows: list[Shown], names: Shown) -> Shown:
    return {name: [row[name] for row in rows] for name in names}
