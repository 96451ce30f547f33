"""A crisis as a picture and as text: what is told must be what the agent knows and what the engine does."""

import functools
import itertools

import hypothesis
import jax
import numpy as np
import pytest

import scenarios
from jaxenv import baselines, rendering
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import UPKEEP, VERBS
from jaxenv.envs.lifestack.metrics import METRICS
from jaxenv.rendering import canvas
from jaxenv.rendering.lifestack import layout, names, reading
from scenarios.lifestack.facts import Facts
from strategies.lifestack import documents

ENV = LifeStack()
LIBRARY = scenarios.load("lifestack")
RANDOM = jax.jit(baselines.random_policy)
MOVE = {
    "id": "move",
    "domain": "housing",
    "goal": "Be out of the flat by Friday.",
    "horizon": 8,
    "constraints": {"budget_max": 300, "deadline_step": 6},
    "hidden_state": {"lift": "broken"},
    "visible_world": {"weather": "dry"},
    "mutable_world": {"boxes": False, "moved": False},
    "success_conditions": [{"key": "moved", "value": True}],
    "failure_conditions": [{"key": "mental_wellbeing.stress_level", "op": "gt", "value": 90}],
    "disruption": {"mental_wellbeing.stress_level": 45},
    "viable_routes": [
        {
            "id": "pack",
            "name": "Pack",
            "required_action_types": ["plan", "execute"],
            "consequences": {"boxes": True},
            "final_reward": 0.5,
        },
        {
            "id": "van",
            "name": "Hire a van",
            "required_action_types": ["spend", "execute"],
            "preconditions": {"boxes": True, "lift": {"op": "ne", "value": "broken"}},
            "consequences": {"moved": True},
            "closes_routes": ["friends"],
            "milestones_unlocked": ["out"],
            "final_reward": 2,
            "cost": {"money": 250},
        },
        {
            "id": "friends",
            "required_action_types": ["communicate"],
            "preconditions": {"boxes": True, "weather": "dry"},
            "consequences": {"moved": True},
            "closes_routes": ["van"],
            "final_reward": 1.5,
        },
    ],
    "milestones": [
        {"id": "out", "description": "It is empty.", "condition_key": "moved", "condition_value": True, "reward": 1}
    ],
    "event_schedule": [
        {"id": "mended", "step": 0, "silent": True, "hidden_state_mutation": {"lift": "works"}},
        {
            "id": "rain",
            "step": 2,
            "description": "It rains.",
            "world_mutation": {"weather": "wet"},
            "effects": {"mental_wellbeing.stress_level": 2},
        },
    ],
}
PACK, VAN, FRIENDS = range(3)
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
Events that were told
  rain
Metrics, turned so that more is better (↓ is 100 minus the value)
  career            satisfaction 59.3, ↓ workload 55.0, stability 70.0, growth trajectory 66.3
  finances          liquidity 70.0, ↓ debt pressure 70.0, monthly runway 70.0, long term health 70.0
  relationships     romantic 70.0, family 70.0, social 70.0, professional network 70.0
  physical health   energy 65.1, fitness 69.2, sleep quality 54.3, nutrition 70.0
  mental wellbeing  ↓ stress level 12.9!, clarity 66.4, motivation 54.4, emotional stability 55.9
  time              free hours per week 70.0, ↓ commute burden 65.0, ↓ admin overhead 65.0"""
TRANSCRIPT = """\
  1. plan: Pack: −0.08
       wellbeing 0.00, step cost −0.08
       moved most: clarity +2.0 to 66.7, growth trajectory +0.5 to 66.5
  2. execute: Pack: +0.41
       routes +0.50, wellbeing −0.01, step cost −0.08
       completed: Pack
       now: boxes = true, weather = wet
       event: rain (It rains.)
       moved most: ↓ stress level −2.0 to 12.9, sleep quality −0.7 to 54.3, motivation −0.7 to 54.4
  3. communicate: friends: −0.28
       step cost −0.08, failed attempt −0.20
       failed attempt: friends
  4. spend: Hire a van: −0.07
       wellbeing +0.01, step cost −0.08
       moved most: ↓ stress level +2.0 to 14.9, sleep quality +0.7 to 55.0, motivation +0.7 to 55.1
  5. execute: Hire a van: +10.92
       milestones +1.00, routes +2.00, success +8.00, step cost −0.08
       completed: Hire a van
       closed: friends
       learned: lift = works
       now: moved = true
       milestone: It is empty. (+1)
       end: success
return +10.90.  The episode has ended."""


def on(verb, route):
    return VERBS.index(verb) * ENV.limits.routes + route


def look(key):
    return ENV.catalogue.first_inspect + key


def upkeep(verb):
    return ENV.catalogue.first_upkeep + UPKEEP.index(verb)


WAY_OUT = (on("plan", PACK), on("execute", PACK), on("communicate", FRIENDS), on("spend", VAN), on("execute", VAN))


def replay(*actions):
    remaining = iter(actions)
    return lambda key, observation, params: np.int32(next(remaining))


def play(document, *actions, library=None):
    library = library or scenarios.parse("lifestack", document)
    params = ENV.params_for(library.bank)
    return rendering.record(ENV, params, replay(*actions), jax.random.key(0), 0, names=library)


@functools.cache
def moved():
    return play(MOVE, *WAY_OUT)


def started(document=MOVE, **changes):
    """(state, params, library) of the first step."""
    library = scenarios.parse("lifestack", document | changes)
    params = ENV.params_for(library.bank)
    return ENV.reset(jax.random.key(0), params, 0)[1], params, library


def texts(picture):
    """What is written, and where."""
    from matplotlib.text import Text

    return [text for text in picture.figure().findobj(Text) if text.get_text()]


def text(picture, words):
    """The one text that says this."""
    (found,) = [text for text in texts(picture) if text.get_text() == words]
    return found


def is_struck(text):
    """Whether a line runs through it."""
    x, y = text.get_position()
    lines = [line.get_xydata() for line in text.axes.lines]
    return any(points[0, 0] <= x < points[-1, 0] and set(points[:, 1]) == {y} for points in lines)


def curves(picture):
    """(colour, whether dashed) of what connects facts and routes."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import PathPatch

    found = picture.figure().findobj(lambda artist: type(artist) is PathPatch)
    return sorted((to_hex(curve.get_edgecolor()), curve.get_linestyle() not in ("solid", "-")) for curve in found)


def frame_of(text):
    """(fill, edge) of the smallest box around it, if any."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import FancyBboxPatch

    x, y = text.get_position()
    boxes = [patch for patch in text.axes.patches if isinstance(patch, FancyBboxPatch)]
    around = [
        patch
        for patch in boxes
        if patch.get_x() <= x <= patch.get_x() + patch.get_width()
        and patch.get_y() <= y <= patch.get_y() + patch.get_height()
    ]
    if not around:
        return None
    box = min(around, key=lambda patch: patch.get_width() * patch.get_height())
    return to_hex(box.get_facecolor()), to_hex(box.get_edgecolor())


def overlapping(picture):
    """Pairs of texts that lie on one another by more than a point."""
    figure = picture.figure()
    from matplotlib.text import Text

    renderer = figure.canvas.get_renderer()
    boxes = [
        (text.get_text(), text.get_window_extent(renderer).padded(-figure.dpi / 72))
        for text in figure.findobj(Text)
        if text.get_text()
    ]
    return [(a[0], b[0]) for a, b in itertools.combinations(boxes, 2) if a[1].overlaps(b[1])]


KNOWN, DONE = canvas.tint(canvas.BLUE, 0.16), canvas.tint(canvas.GREEN, 0.16)


def test_a_crisis_as_text():
    assert str(moved()[3]) == STEP_THREE


def test_an_episode_as_a_transcript():
    told = moved().transcript()
    assert told[told.index("  1. ") : told.index("\n\nmove · housing · step 5")] == TRANSCRIPT
    assert told.startswith("move · housing · step 0 of 8, deadline 6\n\nBe out of the flat by Friday.\n")


def test_known_facts_are_filled_and_unknown_ones_are_not():
    first = moved()[0]
    assert frame_of(text(first, "boxes")) == (KNOWN, canvas.BLUE)
    assert frame_of(text(first, "lift")) == (canvas.WASH, canvas.MUTED)
    assert frame_of(text(moved()[5], "lift")) == (KNOWN, canvas.BLUE)
    assert [found.get_text() for found in texts(moved()[5]) if found.get_text() in ("works", "broken")] == ["works"]


def test_preconditions_are_coloured_by_how_they_stand():
    holds, fails, unknown = (canvas.GREEN, False), (canvas.ALARM, False), (canvas.MUTED, True)
    consequence = (canvas.INK, False)
    assert curves(moved()[0]) == sorted([fails, fails, unknown, holds, *[consequence] * 3])
    # Packed, and it rains; what a completed route has brought about is green too.
    assert curves(moved()[2]) == sorted([*[holds] * 2, unknown, fails, *[consequence] * 2, holds])


def test_closed_routes_are_struck_and_completed_ones_ticked():
    first, last = moved()[0], moved()[5]
    assert not any(is_struck(text(first, name)) for name in ("Pack", "Hire a van", "friends"))
    assert is_struck(text(last, "friends"))
    assert not is_struck(text(last, "Hire a van"))
    assert frame_of(text(last, "Hire a van")) == (DONE, canvas.GREEN)
    assert frame_of(text(last, "friends"))[0] == canvas.WASH
    ticks = [found for found in texts(last) if found.get_text() == "✓" and frame_of(found) == (DONE, canvas.GREEN)]
    assert len(ticks) == 2  # Pack and the van


def test_verbs_that_are_done_are_ticked():
    written = [found.get_text() for found in texts(moved()[1])]
    assert {"✓ plan", "execute", "spend", "communicate"} <= set(written)
    assert "plan" not in written
    assert text(moved()[1], "✓ plan").get_color() == canvas.GREEN


def test_success_and_milestones_are_marked():
    written = [found.get_text() for found in texts(moved()[0])]
    assert written.count("★") == written.count("⚑") == 2  # at the fact and in the legend
    assert {"✗ moved = true", "✗ stress level > 90 (now 85.1)", "It is empty.", "locked +1"} <= set(written)
    assert {"✓ moved = true", "reached +1", "end: success"} <= {found.get_text() for found in texts(moved()[5])}


def test_what_failure_rests_on_is_an_alarm_only_where_it_holds():
    assert text(moved()[0], "✗ stress level > 90 (now 85.1)").get_color() == canvas.INK
    assert text(moved()[0], "✗ moved = true").get_color() == canvas.ALARM


def test_money_that_is_not_there_is_an_alarm():
    assert text(moved()[0], "money 250").get_color() == canvas.MUTED
    state, params, library = started(constraints={"budget_max": 200})
    assert text(rendering.render(ENV, state, params, names=library), "money 250").get_color() == canvas.ALARM


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


def test_metrics_are_turned_so_that_more_is_better():
    state, params, library = started()
    shown = reading.read(ENV.observe(state, params), jax.device_get(state), jax.device_get(params.bank[0]), NAMES)
    assert shown.metrics[METRICS.index("mental_wellbeing.stress_level")] == 14.90377
    assert shown.metrics[METRICS.index("finances.liquidity")] == 70
    picture = rendering.render(ENV, state, params, names=library)
    assert "↓ stress level 14.9!" in str(picture)
    assert text(picture, "15").get_color() == canvas.ALARM


def test_an_overview_shows_metrics_over_time_and_when_events_fired():
    picture = moved().overview()
    written = {found.get_text() for found in texts(picture)}
    assert "move · housing · step 5 of 8, deadline 6 · success" in written
    assert any(words.endswith("grey: rain (2)") for words in written)
    chart = text(picture, "mental wellbeing").figure.axes
    ways = [line for axes in chart for line in axes.lines if len(line.get_xdata()) == len(moved())]
    assert len(ways) == len(METRICS)


def test_an_episode_is_an_animation(tmp_path):
    from PIL import Image

    short = play(MOVE | {"horizon": 2, "constraints": {}}, upkeep("rest"), look(0))
    short.save(tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == len(short) == 3
    assert short.steps[-1].told[-1] == "end: out of time"
    assert short.steps[-1].told[0] == "learned: lift = works"


def test_a_failed_attempt_tells_what_was_learned():
    still_broken = MOVE | {"event_schedule": []}
    episode = play(still_broken, *WAY_OUT[:2], *WAY_OUT[3:], upkeep("rest"), ENV.catalogue.wait)
    assert episode.steps[3].told[:2] == ("failed attempt: Hire a van", "learned: lift = broken")
    assert episode.steps[3].parts["failed_attempt"] == pytest.approx(-0.2)
    assert episode.steps[-1].told[-1] == "end: the deadline has come"
    assert "lift     broken" in str(episode[4])


def test_actions_in_words():
    state, params, library = started()
    said = functools.partial(rendering.views.words, ENV, state, params=params, names=library)
    actions = [*WAY_OUT[:1], on("rest", VAN), look(0), look(9), upkeep("self_care"), ENV.catalogue.wait, 118]
    assert [said(action=np.int32(action)) for action in actions] == [
        "plan: Pack",
        "rest: Hire a van, not legal",
        "inspect lift",
        "inspect no fact 10, not legal",
        "upkeep: self_care",
        "wait",
        "action 118, which does not exist",
    ]
    assert rendering.views.words(ENV, state, np.int32(WAY_OUT[0]), params) == "plan: route 1"


def test_without_names_everything_is_numbered():
    state, params, _ = started()
    numbered = str(rendering.render(ENV, state, params))
    assert numbered.startswith("a crisis · step 0 of 8, deadline 6\n")
    assert "  route 2  [leads to success]  spend, execute  +2\n" in numbered
    assert "  ✗ fact 3 = value 2\n" in numbered
    assert rendering.render(ENV, state, params).png(dpi=30).startswith(b"\x89PNG")


def test_names_of_another_crisis_are_refused():
    state, params, _ = started()
    with pytest.raises(ValueError, match=r"2 entries in viable_routes and the scenario 3.*another scenario"):
        rendering.render(ENV, state, params, names=MOVE | {"viable_routes": MOVE["viable_routes"][:2]})
    with pytest.raises(ValueError, match=r"tells of 5 facts and the scenario of 4"):
        rendering.render(ENV, state, params, names=MOVE | {"hidden_state": {"lift": "broken", "cat": "asleep"}})


NAMES = names.names_of(jax.device_get(scenarios.parse("lifestack", MOVE).bank[0]), MOVE)


def check_names(crisis, task, document):
    """The names of facts and values are those that the compiler gives codes."""
    facts = Facts.of(task)
    found = names.names_of(crisis, document)
    assert found.keys == facts.keys
    assert found.values == tuple(tuple(map(names._said, taken)) for taken in facts.values.values())
    for slot, taken in enumerate(facts.values.values()):
        said = [found.value(slot, code) for code in range(len(taken) + 1)]
        assert said == ["none", *map(names._said, taken)]


@pytest.mark.parametrize("number", range(len(LIBRARY)))
def test_facts_and_values_are_called_as_they_are_compiled(number):
    task = LIBRARY.documents[number]
    check_names(jax.device_get(LIBRARY.bank[number]), task, task)
    check_names(jax.device_get(LIBRARY.bank[number]), task, task.plain())


@hypothesis.given(documents())
@hypothesis.settings(max_examples=40)
def test_facts_and_values_are_called_as_they_are_compiled_at_the_edges(document):
    library = scenarios.parse("lifestack", document)
    check_names(jax.device_get(library.bank[0]), library.documents[0], document)


@functools.cache
def library_episode(number):
    params = ENV.params_for(LIBRARY.bank)
    return rendering.record(ENV, params, RANDOM, jax.random.key(number), number, names=LIBRARY)


@pytest.mark.parametrize("number", range(0, len(LIBRARY), 3))
def test_what_is_told_of_a_step_is_what_the_engine_did(number):
    episode = library_episode(number)
    for step, (was, now) in zip(episode.steps, itertools.pairwise(episode.states), strict=True):
        said = [line.partition(":")[0] for line in step.told]
        assert ("completed" in said) == bool((now.completed & ~was.completed).any())
        assert ("closed" in said) == bool((now.closed & ~was.closed & ~now.completed).any())
        assert said.count("milestone") == (now.reached & ~was.reached).sum()
        assert ("failed attempt" in said) == ("failed_attempt" in step.parts)
        assert ("end: success" in step.told) == ("success" in step.parts)
        assert ("end" in said) == bool(step.end)
        assert ("not legal" in step.words) == ("invalid_action" in step.parts)


@pytest.mark.parametrize("number", range(0, len(LIBRARY), 4))
def test_labels_do_not_overlap(number):
    episode = library_episode(number)
    for picture in (episode[0], episode[-1], episode.overview()):
        assert overlapping(picture) == []


def test_a_full_crisis_can_be_read():
    state, params, library = started(full())
    picture = rendering.render(ENV, state, params, names=library)
    assert overlapping(picture) == []
    written = {found.get_text() for found in texts(picture)}
    assert {f"Way {n}" for n in range(8)} <= written
    assert {f"fact_{n}" for n in range(16)} <= written


def test_boxes_do_not_overlap_and_keep_to_the_canvas():
    for document in (MOVE, full(), MOVE | {"viable_routes": [], "milestones": []}):
        state, params, _ = started(document)
        task = jax.device_get(params.bank[0])
        shown = reading.read(ENV.observe(state, params), jax.device_get(state), task, names.names_of(task))
        for width, height in ((480, 400), (300, 200)):
            placed = list(layout.boxes(layout.layout_of(shown), width, height).values())
            assert all(box.x >= 0 and box.right <= width for box in placed)
            assert all(box.top >= 0 and box.top + box.height <= height + 1e-6 for box in placed)
            for a, b in itertools.combinations(placed, 2):
                assert a.right <= b.x or b.right <= a.x or a.top + a.height <= b.top or b.top + b.height <= a.top


def test_labels_keep_their_distance_and_their_order():
    assert layout.heights([50, 50, 50], 100, 10) == [40, 50, 60]
    assert layout.heights([10, None, 90], 100, 10) == [10, 20, 90]
    assert layout.heights([0, 0], 100, 10) == [5, 15]
    assert layout.heights([100, 100, 100], 20, 10) == pytest.approx([10 / 3, 10, 50 / 3])
    assert layout.heights([], 100, 10) == []


def test_routes_are_ordered_so_that_few_edges_cross():
    crossed = MOVE | {
        "viable_routes": [
            {"id": "a", "preconditions": {"k1": True}, "consequences": {"moved": True}},
            {"id": "b", "preconditions": {"k2": True}, "consequences": {"other": True}},
            {"id": "c", "preconditions": {"k1": True}, "consequences": {"moved": True}},
        ],
        "milestones": [],
    }
    state, params, _ = started(crossed)
    task = jax.device_get(params.bank[0])
    shown = reading.read(ENV.observe(state, params), jax.device_get(state), task, names.names_of(task))
    order = [node.slot for node in layout.layout_of(shown).routes]
    assert abs(order.index(0) - order.index(2)) == 1


def full():
    """As many facts, routes and milestones as there may be."""
    routes = [
        {
            "id": f"Way {n}",
            "required_action_types": ["communicate", "spend", "plan", "negotiate"][: 1 + n % 4],
            "preconditions": {f"fact_{(3 * n + m) % 16}": True for m in range(4)},
            "consequences": {f"fact_{2 * n}": True, f"fact_{2 * n + 1}": "under review"},
            "closes_routes": [f"Way {(n + 3) % 8}"],
            "cost": {"money": 100 * n, "time": 1, "energy": 2},
        }
        for n in range(8)
    ]
    milestones = [
        {"id": f"m{n}", "condition_key": f"fact_{2 * n}", "condition_value": True, "reward": 0.5} for n in range(8)
    ]
    return {
        "id": "full",
        "horizon": 20,
        "mutable_world": {f"fact_{n}": False for n in range(16)},
        "success_conditions": [{"key": f"fact_{n}", "value": True} for n in (0, 4, 8, 14)],
        "failure_conditions": [{"key": "finances.liquidity", "op": "lt", "value": 10}],
        "viable_routes": routes,
        "milestones": milestones,
    }
