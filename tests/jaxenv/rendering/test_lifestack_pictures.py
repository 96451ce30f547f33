"""A crisis as a picture and as text: what is shown must be what the agent knows and what the engine does."""

import functools

import jax
import numpy as np
import pytest

from jaxenv import rendering
from jaxenv.envs.lifestack.actions import WAITING
from jaxenv.envs.lifestack.metrics import METRICS
from jaxenv.envs.lifestack.view import snapshot
from jaxenv.rendering import theme
from strategies.ink import beside, frames_of, text, texts, written
from strategies.lifestack_moving import ENV, MOVE, VAN, WAY_OUT, look, moved, on, play, started, upkeep

STEP_THREE = """\
move · housing · step 3 of 8, deadline 6
communicate: friends: −0.28
  step cost −0.08, failed attempt −0.20
  failed attempt: friends
return +0.06.

Be out of the flat by Friday.
time 6 of 8 h, money 300 of 300, energy 84 of 100
Succeeds when all hold
  ✗ moved = true
Fails when one holds
  ✗ stress level > 90 (now 87.1)
Routes
  Pack  [completed]  +0.5
      sets boxes = true
      helps Hire a van, friends
  Hire a van  [leads to success]  spend, execute  +2
      costs money 250
      needs ✓ boxes, ? lift
      sets moved = true
      closes friends
  friends  [leads to success]  communicate  +1.5
      needs ✓ boxes, ✗ weather
      sets moved = true
      closes Hire a van
Facts
  lift     ?                    wanted
  boxes    true                 wanted
  moved    false
  weather  wet    always shown  wanted
Milestones
  locked  +1  It is empty.
Events
  rain
Metrics, 0 to 100 (↓ lower is better)
  career            satisfaction 59.3, ↓ workload 45.0, stability 70.0, growth trajectory 66.3
  finances          liquidity 70.0, ↓ debt pressure 30.0, monthly runway 70.0, long term health 70.0
  relationships     romantic 70.0, family 70.0, social 70.0, professional network 70.0
  physical health   energy 65.1, fitness 69.2, sleep quality 54.3, nutrition 70.0
  mental wellbeing  ↓ stress level 87.1!, clarity 66.4, motivation 54.4, emotional stability 55.9
  time              free hours per week 70.0, ↓ commute burden 35.0, ↓ admin overhead 35.0"""
TRANSCRIPT = """\
  1. plan: Pack: −0.08
       wellbeing 0.00, step cost −0.08
       moved most: clarity +2.0 to 66.7, growth trajectory +0.5 to 66.5
  2. execute: Pack: +0.41
       routes +0.50, wellbeing −0.01, step cost −0.08
       completed: Pack
       now: boxes = true, weather = wet
       event: rain (It rains.)
       moved most: ↓ stress level +2.0 to 87.1, sleep quality −0.7 to 54.3, motivation −0.7 to 54.4
  3. communicate: friends: −0.28
       step cost −0.08, failed attempt −0.20
       failed attempt: friends
  4. spend: Hire a van: −0.07
       wellbeing +0.01, step cost −0.08
       moved most: ↓ stress level −2.0 to 85.1, sleep quality +0.7 to 55.0, motivation +0.7 to 55.1
  5. execute: Hire a van: +10.92
       milestones +1.00, routes +2.00, success +8.00, step cost −0.08
       completed: Hire a van
       closed: friends
       learned: lift = works
       now: moved = true
       milestone: It is empty. (+1)
       end: success
return +10.90.  The episode has ended."""


def is_struck(text):
    """Whether a line runs through it."""
    from matplotlib.lines import Line2D

    x, y = text.get_position()
    lines = [line.get_xydata() for line in beside(text, Line2D)]
    return any(points[0, 0] <= x < points[-1, 0] and set(points[:, 1]) == {y} for points in lines)


def curves(picture):
    """(color, whether dashed) of what connects facts and routes."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import PathPatch

    found = picture.figure().findobj(lambda artist: type(artist) is PathPatch)
    return sorted((to_hex(curve.get_edgecolor()), curve.get_linestyle() not in ("solid", "-")) for curve in found)


KNOWN, DONE = theme.tint(theme.BLUE, 0.16), theme.tint(theme.GREEN, 0.16)


def test_a_crisis_as_text():
    assert str(moved()[3]) == STEP_THREE


def test_an_episode_as_a_transcript():
    text = moved().transcript()
    assert text[text.index("  1. ") : text.index("\n\nmove · housing · step 5")] == TRANSCRIPT
    assert text.startswith("move · housing · step 0 of 8, deadline 6\n\nBe out of the flat by Friday.\n")


def test_known_facts_are_filled_and_unknown_ones_are_not():
    first = moved()[0]
    assert frames_of(text(first, "boxes"))[0] == (KNOWN, theme.BLUE)
    assert frames_of(text(first, "lift"))[0] == (theme.WASH, theme.MUTED)
    assert frames_of(text(moved()[5], "lift"))[0] == (KNOWN, theme.BLUE)
    assert [found.get_text() for found in texts(moved()[5]) if found.get_text() in ("works", "broken")] == ["works"]


def test_preconditions_are_coloured_by_how_they_stand():
    holds, fails, unknown = (theme.GREEN, False), (theme.ALARM, False), (theme.MUTED, True)
    consequence = (theme.INK, False)
    assert curves(moved()[0]) == sorted([fails, fails, unknown, holds, *[consequence] * 3])
    # Packed, and it rains; what a completed route has brought about is green too.
    assert curves(moved()[2]) == sorted([*[holds] * 2, unknown, fails, *[consequence] * 2, holds])


def test_closed_routes_are_struck_and_completed_ones_ticked():
    first, last = moved()[0], moved()[5]
    assert not any(is_struck(text(first, name)) for name in ("Pack", "Hire a van", "friends"))
    assert is_struck(text(last, "friends"))
    assert not is_struck(text(last, "Hire a van"))
    assert frames_of(text(last, "Hire a van"))[0] == (DONE, theme.GREEN)
    assert frames_of(text(last, "friends"))[0][0] == theme.WASH
    ticks = [
        found for found in texts(last) if found.get_text() == "✓" and frames_of(found)[:1] == [(DONE, theme.GREEN)]
    ]
    assert len(ticks) == 2  # Pack and the van


def test_verbs_that_are_done_are_ticked():
    drawn = written(moved()[1])
    assert {"✓ plan", "execute", "spend", "communicate"} <= set(drawn)
    assert "plan" not in drawn
    assert text(moved()[1], "✓ plan").get_color() == theme.GREEN


def test_success_and_milestones_are_marked():
    drawn = written(moved()[0])
    assert drawn.count("★") == drawn.count("⚑") == 2  # at the fact and in the legend
    assert {"✗ moved = true", "✗ stress level > 90 (now 85.1)", "It is empty.", "locked +1"} <= set(drawn)
    assert {"✓ moved = true", "reached +1", "end: success"} <= set(written(moved()[5]))


def test_what_failure_rests_on_is_an_alarm_only_where_it_holds():
    assert text(moved()[0], "✗ stress level > 90 (now 85.1)").get_color() == theme.INK
    assert text(moved()[0], "✗ moved = true").get_color() == theme.ALARM


def test_money_that_is_not_there_is_an_alarm():
    assert text(moved()[0], "money 250").get_color() == theme.MUTED
    state, params, library = started(constraints={"budget_max": 200})
    assert text(rendering.render(ENV, state, params, names=library), "money 250").get_color() == theme.ALARM


def test_what_is_hidden_is_in_no_picture():
    state, params, library = started()
    assert (lift := library.documents[0]["hidden_state"]["lift"]) == "broken"
    hidden = params.bank.scenarios.facts[0, 0]
    assert state.facts[0] != hidden  # mended, in silence
    other = state.replace(facts=state.facts.at[0].set(hidden), fired=state.fired.at[0].set(False))
    one, two = (rendering.render(ENV, crisis, params, names=library) for crisis in (state, other))
    assert one.svg() == two.svg()
    assert str(one) == str(two)
    assert not {lift, "works", "mended", "rain"} & set(str(one).replace(",", " ").split())


def test_metrics_are_shown_as_the_rules_state_them():
    state, params, library = started()
    shown = snapshot.read(
        jax.jit(ENV.observe)(state, params),
        jax.device_get(state),
        jax.device_get(params.bank[0]),
        snapshot.names_of(jax.device_get(params.bank[0]), {}),
    )
    assert shown.metrics[METRICS.index("mental_wellbeing.stress_level")] == 14.90377
    assert shown.metrics[METRICS.index("finances.liquidity")] == 70
    picture = rendering.render(ENV, state, params, names=library)
    assert "↓ stress level 85.1!" in str(picture)
    assert text(picture, "85").get_color() == theme.ALARM


def test_an_overview_shows_metrics_over_time_and_when_events_fired():
    from matplotlib.lines import Line2D

    picture = moved().overview()
    drawn = written(picture)
    assert "move · housing · step 5 of 8, deadline 6 · success" in drawn
    assert any(words.endswith("grey: rain (2)") for words in drawn)
    chart = text(picture, "mental wellbeing").figure
    ways = [line for line in chart.findobj(Line2D) if len(line.get_xdata()) == len(moved())]
    assert len(ways) == len(METRICS)


def test_an_episode_is_an_animation(tmp_path):
    from PIL import Image

    short = play(MOVE | {"horizon": 2, "constraints": {}}, upkeep("rest"), look(0))
    short.save(tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == len(short) == 3
    assert short.steps[-1].effects[-1] == "end: out of time"
    assert short.steps[-1].effects[0] == "learned: lift = works"


def test_a_failed_attempt_shows_what_was_learned():
    still_broken = MOVE | {"event_schedule": []}
    episode = play(still_broken, *WAY_OUT[:2], *WAY_OUT[3:], upkeep("rest"), ENV.catalogue.first(WAITING))
    assert episode.steps[3].effects[:2] == ("failed attempt: Hire a van", "learned: lift = broken")
    assert episode.steps[3].parts["failed_attempt"] == pytest.approx(-0.2)
    assert episode.steps[-1].effects[-1] == "end: the deadline has come"
    assert "lift     broken" in str(episode[4])


def test_actions_in_words():
    state, params, library = started()
    describe = functools.partial(rendering.views.describe_action, ENV, state, params=params, names=library)
    actions = [*WAY_OUT[:1], on("rest", VAN), look(0), look(9), upkeep("self_care"), ENV.catalogue.first(WAITING), 118]
    assert [describe(action=np.int32(action)) for action in actions] == [
        "plan: Pack",
        "rest: Hire a van, not legal",
        "inspect lift",
        "inspect no fact 10, not legal",
        "upkeep: self_care",
        "wait",
        "action 118, which does not exist",
    ]
    assert rendering.views.describe_action(ENV, state, np.int32(WAY_OUT[0]), params) == "plan: route 1"


def test_without_names_everything_is_numbered():
    state, params, _ = started()
    numbered = str(rendering.render(ENV, state, params))
    assert numbered.startswith("a crisis · step 0 of 8, deadline 6\n")
    assert "  route 2  [leads to success]  spend, execute  +2\n" in numbered
    assert "  ✗ fact 3 = value 2\n" in numbered
    assert rendering.render(ENV, state, params).png(dpi=30).startswith(b"\x89PNG")


def test_names_of_another_crisis_are_refused():
    state, params, library = started()
    given = dict(library.names(0))
    with pytest.raises(ValueError, match=r"routes has 2 entries and the scenario 3.*another scenario"):
        rendering.render(ENV, state, params, names=given | {"routes": given["routes"][:2]})
    with pytest.raises(ValueError, match=r"keys has 5 entries and the scenario 4"):
        rendering.render(ENV, state, params, names=given | {"keys": (*given["keys"], "cat")})
