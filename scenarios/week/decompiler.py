"""Arrays to weeks: compiled or generated scenarios as Week documents, in words from `jaxenv.envs.week.view.words`."""

import itertools
from typing import Any

import numpy as np

from jaxenv.envs.week.types import CHAT, KINDS, NEVER, NONE, Scenario
from jaxenv.envs.week.view.names import Names, names_of, num_channels, num_places, words_of
from scenarios.text.errors import ScenarioError
from scenarios.week.document import SLOT, Week
from scenarios.words import USUAL


def decompile(scenario: Scenario, scenario_id: str = "", wording: str = USUAL) -> Week:
    """A week in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays; ids are p1, p2, … of places, c1, … of channels, m1, … of meetings, j1, … of jobs and
    f1, … of facts and steps, and words come from banks. Compiled again, it gives the same arrays.

    Raises:
        ScenarioError: where no document compiles to the arrays.
    """
    return Week.model_validate(_Words(scenario, wording).week(scenario_id))


class _Words:
    """The parts of one scenario in words."""

    def __init__(self, scenario: Scenario, wording: str) -> None:
        self.scenario: Any = scenario
        self.names: Names = names_of(scenario, {}, wording)
        jobs, posts = scenario.jobs, scenario.posts
        self.groups = np.asarray(jobs.group)[np.asarray(jobs.length) > 0].tolist()
        self.num_groups = max(self.groups, default=-1) + 1
        is_about_a_fact = np.isin(posts.kind, (KINDS.index("news"), KINDS.index("question")))
        used = [self.num_groups - 1, *jobs.tells.tolist(), *posts.ref[is_about_a_fact].tolist()]
        self.num_facts = max(used) + 1

    def week(self, scenario_id: str) -> dict[str, Any]:
        """The whole document."""
        names, groups = self.names, self.groups
        errands = [n for n, group in enumerate(groups) if group == NONE and not self._is_scout(n)]
        in_order = [n for n in range(len(groups)) if n not in errands] + errands
        if in_order != list(range(len(groups))):
            raise ScenarioError("no document has errands before the parts of projects.")
        return {
            "id": scenario_id,
            "title": names.title,
            "places": [self._place(n) for n in range(num_places(self.scenario))],
            "channels": [
                {"id": _id("c", n), "name": names.channels[n]} for n in range(max(num_channels(self.scenario), 1))
            ],
            "meetings": [self._meeting(n) for n in range(len(names.events))],
            "projects": self._projects(errands[0] if errands else len(groups)),
            "errands": [self._job(n) | {"known": bool(self.scenario.jobs.known[n])} for n in errands],
            "facts": [self._fact(n) for n in range(self.num_groups, self.num_facts)],
            "posts": self._posts(),
        }

    def _is_scout(self, job: int) -> bool:
        return int(self.scenario.jobs.tells[job]) != NONE

    def _place(self, number: int) -> dict[str, Any]:
        """A place, with the ways that the other ones do not tell."""
        travel = np.asarray(self.scenario.travel).tolist()
        ways = {
            _id("p", other): SLOT * travel[number][other]
            for other in range(num_places(self.scenario))
            if other > number or travel[number][other] != travel[other][number]
        }
        return {"id": _id("p", number), "name": self.names.places[number], "ways": ways}

    def _work(self, table: Any, number: int) -> dict[str, Any]:
        """What meetings and jobs have alike."""
        minutes, points = SLOT * int(table.length[number]), int(table.points[number]) / 100
        return {"minutes": minutes, "place": _id("p", table.place[number]), "points": points}

    def _meeting(self, number: int) -> dict[str, Any]:
        events = self.scenario.events
        named = {"id": _id("m", number), "name": self.names.events[number], **self._work(events, number)}
        return {**named, "at": int(events.start[number]), "promised": bool(events.promised[number])}

    def _job(self, number: int) -> dict[str, Any]:
        jobs = self.scenario.jobs
        named = {"id": _id("j", number), "name": self.names.jobs[number], **self._work(jobs, number)}
        opens, closes, begins, due = (int(column[number]) for column in (jobs.opens, jobs.closes, jobs.first, jobs.due))
        return {**named, "hours": (opens, closes), "begins": begins, "due": due}

    def _projects(self, end: int) -> list[dict[str, Any]]:
        """The projects of the jobs before the errands, which are neighbours where they have the same name."""
        names, projects = self.names.projects, []
        for number, (name, rows) in enumerate(itertools.groupby(range(end), key=names.__getitem__)):
            rows = list(rows)
            scouts = [n for n in rows if self._is_scout(n)]
            steps = itertools.groupby(rows[len(scouts) :], key=self.groups.__getitem__)
            told = [self._job(n) | {"tells": _id("f", self.scenario.jobs.tells[n])} for n in scouts]
            made = [self._step(group, list(ways)) for group, ways in steps]
            projects.append({"id": f"project-{number + 1}", "name": name, "scouts": told, "steps": made})
        return projects

    def _step(self, group: int, ways: list[int]) -> dict[str, Any]:
        fact, jobs = self._fact(group), self.scenario.jobs
        values = [int(jobs.value[n]) for n in ways]
        answers = [None if value == NONE else fact["answers"][value] for value in values]
        after = _id("f", jobs.needs[ways[0]])
        jobs_of = [self._job(n) | {"answer": answer} for n, answer in zip(ways, answers, strict=True)]
        hangs = fact if any(answers) else {"id": fact["id"], "asks": fact["asks"]}
        return {**hangs, "after": after, "ways": jobs_of}

    def _fact(self, number: int) -> dict[str, Any]:
        facts, answers = self.scenario.facts, self.names.answers[number]
        flip = int(facts.flip[number])
        changes = {} if flip == NEVER else {"changes": flip, "then": answers[int(facts.then[number])]}
        first = answers[int(facts.first[number])]
        return {"id": _id("f", number), "asks": self.names.facts[number], "answers": answers, "first": first, **changes}

    def _posts(self) -> list[dict[str, Any]]:
        """The posts of all channels by time."""
        letter = {"news": "f", "question": "f", "job": "j", "request": "m"}
        posts = self.scenario.posts
        found = []
        for channel, place in np.argwhere(np.asarray(posts.time) != NEVER).tolist():
            time, kind, ref, until, points = (
                int(getattr(posts, name)[channel, place]) for name in ("time", "kind", "ref", "until", "points")
            )
            by, says = words_of(self.scenario, self.names, channel, place)
            post = {"channel": _id("c", channel), "at": time, "by": by, "says": says}
            if kind != CHAT:
                post |= {KINDS[kind]: _id(letter[KINDS[kind]], ref)}
            waits = {"until": until, "points": points / 100} if KINDS[kind] in ("question", "request") else {}
            found.append(post | waits)
        return sorted(found, key=lambda post: (post["at"], post["channel"]))


def _id(letter: str, number: Any) -> str | None:
    """The id of the part with a number, None for NONE."""
    return None if int(number) == NONE else f"{letter}{int(number) + 1}"
