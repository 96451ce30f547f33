"""A week seen: its text, its calendar and board, what actions and steps are called, and the banks of words."""

import collections
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv import baselines, rendering
from jaxenv.core import ScenarioBank
from jaxenv.envs.week import Week
from jaxenv.envs.week.types import REQUEST, VALUES
from jaxenv.envs.week.view import shown, snapshot
from jaxenv.envs.week.view.words import banks
from jaxenv.rendering import theme
from scenarios import week
from strategies.ink import overlapping, texts, written


@functools.cache
def played(name="Rule-based"):
    """A whole week of a baseline, drawn at difficulty 0.5."""
    env = Week()
    weeks = jax.jit(jax.vmap(env.generate))(jax.random.split(jax.random.key(5), 2), jnp.full(2, 0.5))
    policy = jax.jit(baselines.for_environment(env)[name])
    return rendering.record(env, env.params_for(ScenarioBank(weeks)), policy, jax.random.key(0), scenario=1)


def test_an_episode_is_told():
    lines = played().transcript()
    assert lines.startswith("A week with the ")
    assert "the week is over" in lines
    assert lines.count("\n200. ") == 1
    for words in ("noted: ", ": done", "attended 2 of 2 quarters", "go to ", "work on ", "reply ", "open "):
        assert words in lines
    assert "exist" not in lines  # no action that names nothing
    ends = [step for step in played().steps if any(" quarters" in line for line in step.effects)]
    attended = [step for step in ends if step.description.startswith("attend ")]
    assert len(attended) > 8
    for step in attended:  # the meeting by name, which the effect says as well
        name = step.description.removeprefix("attend ")
        assert any(line.startswith(f"{name}: attended ") for line in step.effects)


def test_the_text_of_a_state_says_where_when_and_what():
    text = played()[60].text
    for words in (
        "Tue 13:00",
        "Meetings",
        "Project: ",
        "? ",
        "Errands",
        "Notebook",
        " as of ",
        "Unread: ",
        "Points · ",
    ):
        assert words in text
    assert text.index("Project: ") < text.index("Errands") < text.index("Notebook")


def test_the_text_lists_the_meetings_and_jobs_that_are_observed_and_no_others():
    """In an episode of chance, which leaves requests unanswered, closes their channel, and drops jobs."""
    episode, num_requests = played("Random"), 0
    observe = jax.jit(episode.env.observe)
    states = jax.device_get(episode.states[:-1])
    for state in states:
        seen, now = observe(state, episode.params), snapshot.observed(shown(episode.env, state, episode.params, {}))
        events = [(int(seen.events.start[n]), "promised") for n in np.flatnonzero(seen.events.exists)]
        events += [(int(seen.head.start), "asked")] * (int(seen.head.kind) == REQUEST)
        assert [(meeting.start, meeting.status) for meeting in now.meetings] == sorted(events)
        left = seen.jobs.left[seen.jobs.exists].tolist()
        assert [job.length - job.progress for job in now.jobs] == left
        num_requests += int(seen.head.kind) == REQUEST
        text = rendering.render(episode.env, state, episode.params).text
        assert not any(mark in text for mark in ("missed", "done", "failed", "too late", "another way"))
    assert num_requests


@pytest.mark.parametrize("number", [0, 37, 90, 199, 200])
def test_nothing_overlaps_in_the_picture(number):
    assert overlapping(played()[number]) == []


def test_the_calendar_shows_what_was_promised_attended_and_done():
    drawn = written(played()[100])
    assert {"Mon", "Tue", "Wed", "Thu", "Fri", "promised", "missed", "working", "Notebook"} <= set(drawn)
    now = [words for words in texts(played()[100]) if words.get_color() == theme.ALARM and "now at" in words.get_text()]
    assert len(now) <= 1
    assert any(name in drawn for name in banks("usual")["meetings"])


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"meetings": [{"id": "walk", "at": "Mon 8:15", "minutes": 15, "place": "home", "points": 1}]},
        {"errands": [{"id": "nap", "minutes": 15}]},
        {"projects": [{"id": "p", "steps": [{"id": "s", "ways": [{"id": "w", "minutes": 15, "points": 1}]}]}]},
        {"posts": [{"channel": "chat", "at": "Mon 8:15"}]},
    ],
)
def test_the_smallest_weeks_are_shown_and_told(parts):
    document = week.Week(places=[{"id": "home"}], channels=[{"id": "chat"}], **parts)
    env = Week(sees_truth=True)
    params = env.params_for(ScenarioBank.stack([week.compile(document)]))
    _, state = env.reset(jax.random.key(0), params, 0)
    assert rendering.render(env, state, params, names=week.names(document)).text.startswith("Mon 8:00")
    picture = rendering.render(env, state, params)
    assert "Mon 8:00" in picture.text
    assert {"Mon", "Notebook"} <= set(written(picture))
    assert rendering.views.describe_action(env, state, 0, params) == "go to home, not legal"


def test_the_overview_is_the_whole_week_and_lists_what_pays_and_costs():
    drawn = written(played().overview())
    assert {"Mon", "Fri", "steps"} <= set(drawn)
    paying = [str(n) for n, step in enumerate(played().steps, 1) if round(step.reward, 2)]
    first = drawn.index("steps") + 1
    assert [number for number in drawn[first:] if number.isdigit()] == paying
    assert f"and {len(played().steps) - len(paying)} more" in drawn


def test_the_bars_are_what_the_sources_have_paid():
    """Of a whole week; points are hundredths, and wrong answers cost beside their bar."""
    paid = collections.Counter()
    for step in played().steps:
        paid.update(step.parts)
    episode = played()
    last = shown(episode.env, jax.device_get(episode.states[-1]), episode.params, {})
    found = {source: points for source, (points, _) in last.points.items()}
    sources = {name: paid[name] for name in ("projects", "errands", "answers")}
    assert found == pytest.approx({"meetings": paid["meetings"] + paid["missed"], **sources}, abs=0.005)
    assert all(found.values())
    assert round(sum(offered for _, offered in last.points.values())) == 100
    for source, points in found.items():
        assert any(words.startswith(f"{source} {points:.1f} of ") for words in written(episode[200]))


def test_a_slot_in_which_one_replies_is_shown_as_such():
    done = dict(snapshot.trail(played().states))
    replies = [n for n, step in enumerate(played().steps) if step.description.startswith("reply ")]
    assert replies == [slot for slot, what in done.items() if what == "reply"] != []


@pytest.mark.parametrize("wording", ["usual", "held_out"])
def test_no_name_of_a_bank_is_said_twice(wording):
    found = banks(wording)
    for kind in ("places", "people", "channels", "meetings", "errands", "chat"):
        assert len(set(found[kind])) == len(found[kind])
    assert len({project["name"] for project in found["projects"]}) >= 8
    questions = [*found["facts"], *(step for project in found["projects"] for step in project["steps"])]
    assert len({question["asks"] for question in questions}) == len(questions)
    assert all(len(set(question["answers"])) == VALUES for question in questions)
