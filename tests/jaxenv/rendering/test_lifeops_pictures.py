"""A day as a picture and as text: what is shown must be what the engine counts."""

import functools

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv import rendering
from jaxenv.envs.lifeops import dynamics
from jaxenv.envs.lifeops.types import ABSENT
from jaxenv.envs.lifeops.view import panels, snapshot
from jaxenv.rendering.views import describe_action
from strategies.ink import written
from strategies.lifeops import documents

ENV, PARAMS = jaxenv.make("LifeOps-Shaped-v0")
LIBRARY = scenarios.load("lifeops")
STEPS = 8
travel_issues = jax.jit(dynamics.travel_issues)
CASCADE = """\
edge_cascade_1 · Wednesday · step 3 of 8
focus 9:00–10:00: −0.78
  overlap penalty −6.00, focus reward +4.62, task progress bonus +0.60
return +0.02.

Meetings preferably 9:00–16:30, none after 17:30
Calendar
      9:00–10:00  Read the incident report           Office  focus     importance 2
  +   9:00–10:00  focus                              Office  focus     importance 1
  +  10:00–10:30  Chat about the new coffee machine  Office  meeting   importance 1
  +  10:00–10:30  Incident review                    Office  meeting   importance 3
     12:00–12:30  Architecture meeting               Office  meeting   importance 2
     17:00–17:30  Walk with a friend                 Office  personal  importance 1
Conflicts: 2
  9:00–10:00  Read the incident report × focus
  10:00–10:30  Chat about the new coffee machine × Incident review
Too little time on the way: 0
Requests
  10:30–11:00  Call with the affected customer  Office  meeting  importance 3  inflexible  from Ravi (customer success)
Work
  ░░░░░░░░░░  0 of 60 min  Write the post-mortem  priority 3  due tomorrow
Travel in minutes, from row to column; the day begins at Home
          Home  Office
  Home    0     25
  Office  25    0"""


def event(event_id, start, end, location="Office", **fields):
    return {"event_id": event_id, "start_min": start, "end_min": end, "location": location} | fields


def replay(*actions):
    remaining = iter(actions)
    return lambda key, observation, params: next(remaining)


@functools.cache
def player():
    """(params, action keys) -> the states of one episode, [STEPS + 1], illegal actions and what follows an end too."""

    def play(params, key):
        def step(state, key):
            action = jax.random.randint(key, (), 0, ENV.num_actions)
            return ENV.transition(key, state, action, params)[0], state

        start = ENV.init(key, params, 0)
        last, states = jax.lax.scan(step, start, jax.random.split(key, STEPS))
        return jax.tree.map(lambda rows, row: jnp.concatenate([rows, row[None]]), states, last)

    return jax.jit(play)


def check_against_the_engine(bank, seed, departure_min):
    """Every conflict and every leg shown is one that the engine counts, and there are no others."""
    params = PARAMS.replace(bank=bank, departure_min=jnp.int32(departure_min))
    scenario = jax.device_get(bank[0])
    states = jax.device_get(player()(params, jax.random.key(seed)))
    for number in range(STEPS + 1):
        state = jax.tree.map(lambda leaf, n=number: leaf[n], states)
        shown = snapshot.read(state, scenario, departure_min, snapshot.names_of(scenario, {}))
        assert len(shown.conflicts) == state.overlaps
        issues = travel_issues(state.calendar, state.tight_legs, scenario, jnp.int32(departure_min))
        assert sum(leg.tight for leg in shown.legs) == issues
        assert sum(work.left for work in shown.tasks) == state.minutes_left.sum()
        assert len(shown.queue) + shown.hidden == scenario.num_requests - state.handled
        assert sum(not event.added for event in shown.calendar) == (scenario.calendar.start != ABSENT).sum()


def test_conflicts_and_legs_agree_with_the_engine_on_generated_days():
    drawn = jax.jit(jax.vmap(ENV.generate, in_axes=(0, None)))(jax.random.split(jax.random.key(0), 16), 1.0)
    for number in range(16):
        one = jax.tree.map(lambda leaf, n=number: leaf[n : n + 1], drawn)
        check_against_the_engine(jaxenv.ScenarioBank(one), number, 0)


@hypothesis.given(documents(), st.integers(0, 1000), st.sampled_from([0, 480, 600]))
@hypothesis.settings(max_examples=25)
def test_conflicts_and_legs_agree_with_the_engine_at_the_edges_of_the_rules(document, seed, departure_min):
    check_against_the_engine(scenarios.parse("lifeops", document).bank, seed, departure_min)


def test_a_day_as_text():
    index = LIBRARY.index("edge_cascade_1")
    episode = rendering.record(ENV, PARAMS, replay(0, 0, 35, 1, 1, 1, 1, 1), jax.random.key(0), index, names=LIBRARY)
    assert str(episode[3]) == CASCADE
    assert str(episode[0]).splitlines()[0] == "edge_cascade_1 · Wednesday · step 0 of 8"
    assert max(len(str(picture).splitlines()) for picture in episode) <= 40


def test_actions_in_words():
    index = LIBRARY.index("s3_focus_vs_meeting")
    _, state = ENV.reset(jax.random.key(0), PARAMS, index)
    state = jax.device_get(state)
    described = [describe_action(ENV, state, np.int32(action), PARAMS, LIBRARY) for action in (0, 1, 2, 3, 34, 45, 46)]
    assert described == [
        "accept Chat about swag",
        "reject Chat about swag",
        "move Chat about swag to 12:00",
        "propose 12:00 for Chat about swag",
        "focus 9:00–9:30",
        "focus 21:00–22:00",
        "action 46, which does not exist",
    ]
    done = state.replace(handled=np.int8(1))
    assert describe_action(ENV, done, np.int32(0), PARAMS, LIBRARY) == "accept no request, not legal"
    assert describe_action(ENV, state, np.int32(1), PARAMS) == "reject request 1"


def test_the_ways_from_home_and_from_place_to_place():
    document = {
        "persona": "early_bird_engineer",
        "calendar": [event("e1", 20, 50), event("e2", 60, 90, "Gym"), event("e3", 120, 150, "Gym", title="Swim")],
        "pending_requests": [event("r1", 600, 630)],
        "travel_times": {"Home": {"Office": 25}, "Office": {"Gym": 10}},
    }
    library = scenarios.parse("lifeops", document)
    params = PARAMS.replace(bank=library.bank)
    _, state = ENV.reset(jax.random.key(0), params, 0)
    text = str(rendering.render(ENV, state, params, names=library))
    assert "Too little time on the way: 1\n  Home → Office: 25 min needed, 20 there before 0:20\n" in text
    assert "2:00–2:30  Swim  Gym" in text
    later = params.replace(departure_min=jnp.int32(15))
    some = {"places": {int(library.bank.scenarios.calendar.place[0, 0]): "Office"}}
    text = str(rendering.render(ENV, state, later, names=some))
    assert "home → Office: 25 min needed, 5 there before 0:20" in text


def test_without_names_places_and_people_are_numbered():
    _, state = ENV.reset(jax.random.key(0), PARAMS, LIBRARY.index("edge_deadline_1"))
    text = str(rendering.render(ENV, state, PARAMS))
    assert text.startswith("Thursday · step 0 of 8\n")
    assert "8:30–9:00   event 1  place 5  obligation  importance 3" in text
    assert "11:00–11:30  request 1  work  meeting  importance 2" in text
    assert "180 of 180 min  task 1  priority 3  due today" in text


def test_names_of_another_day_are_refused():
    _, state = ENV.reset(jax.random.key(0), PARAMS, LIBRARY.index("edge_deadline_1"))
    other = LIBRARY.names(LIBRARY.index("s4_parent_pickup"))
    with pytest.raises(ValueError, match=r"events has 2 entries and the scenario 6.*another scenario"):
        rendering.render(ENV, state, PARAMS, names=other)


def test_events_that_share_time_share_the_width():
    def event(start, end):
        return snapshot.ShownEvent(f"{start}", "Office", "meeting", start, end, 1)

    long, nested, touching, short = event(540, 900), event(600, 630), event(630, 700), event(900, 900)
    placed = panels._lanes([short, touching, nested, long], 100.0, shortest=20.0)
    assert placed == [(long, 0, 50), (nested, 50, 50), (touching, 50, 50), (short, 0, 100)]
    assert panels._lanes([], 100.0, shortest=20.0) == []


def test_a_day_full_of_odd_events_can_be_drawn():
    document = {
        "scenario_id": "$odd^",  # no mathematics to matplotlib
        "persona": "night_owl_creator",
        "calendar": [
            event("e1", 0, 0, title="At midnight"),
            event("e2", 540, 900, "Gym", title="Long " * 40),
            event("e3", 600, 600),
            event("e4", 1380, 1440, "School"),
        ],
        "pending_requests": [event(f"r{n}", 1440, 1440, "Nowhere", importance=3, flexible=False) for n in range(6)],
        "tasks": [{"task_id": f"t{n}", "remaining_minutes": 30 * n} for n in range(8)],
    }
    library = scenarios.parse("lifeops", document)
    params = PARAMS.replace(bank=library.bank)
    episode = rendering.record(ENV, params, replay(*[0, 36] * 6), jax.random.key(0), names=library)
    assert "and 3 more, hidden" in str(episode[0])
    assert {"Requests", "Work left", "and 3 more, hidden"} <= set(written(episode[0]))
    assert "Conflicts: 1\n  10:00–10:00  " + "Long " * 39 + "Long × e3" in str(episode[0]).replace("Long  ×", "Long ×")
    for picture in (episode[0], episode[-1], episode.overview()):
        assert picture.png(dpi=50).startswith(b"\x89PNG")
