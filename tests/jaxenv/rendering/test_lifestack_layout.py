"""The pictures of many crises: names as they are compiled, steps as they were taken, boxes and labels apart."""

import functools
import itertools

import jax
import pytest

import scenarios
from jaxenv import baselines, rendering
from jaxenv.envs.lifestack.view import layout, snapshot
from scenarios.lifestack.facts import Facts
from strategies.ink import overlapping, written
from strategies.lifestack_moving import ENV, MOVE, started

LIBRARY = scenarios.load("lifestack")
RANDOM = jax.jit(baselines.random_policy)
OBSERVE = jax.jit(ENV.observe)


@pytest.mark.parametrize("number", range(len(LIBRARY)))
def test_facts_and_values_are_named_as_they_are_compiled(number):
    found = snapshot.names_of(jax.device_get(LIBRARY.bank[number]), LIBRARY.names(number))
    facts = Facts.of(LIBRARY.documents[number])
    assert found.keys == facts.keys
    for slot, values in enumerate(facts.values.values()):
        shown = [found.value(slot, code) for code in range(len(values) + 1)]
        assert shown == ["none", *(str(value).lower() if isinstance(value, bool) else str(value) for value in values)]


def test_sets_of_values_as_conditions():
    some = snapshot.Names(("card", "count"), (("true", "false"), None), (), (), (), ())
    assert [some.set_of_values(0, codes) for codes in (0b010, 0b101, 0b110)] == [
        "card = true",
        "card is not true",
        "card is not none",
    ]
    assert [some.set_of_values(1, codes) for codes in (0b001, 0b110)] == ["count = none", "count is value 1 or value 2"]


@functools.cache
def library_episode(number):
    params = ENV.params_for(LIBRARY.bank)
    return rendering.record(ENV, params, RANDOM, jax.random.key(number), number, names=LIBRARY)


@pytest.mark.parametrize("number", range(0, len(LIBRARY), 3))
def test_the_effects_of_a_step_are_what_the_engine_did(number):
    episode = library_episode(number)
    for step, (was, now) in zip(episode.steps, itertools.pairwise(episode.states), strict=True):
        effects = [line.partition(":")[0] for line in step.effects]
        assert ("completed" in effects) == bool((now.completed & ~was.completed).any())
        assert ("closed" in effects) == bool((now.closed & ~was.closed & ~now.completed).any())
        assert effects.count("milestone") == (now.reached & ~was.reached).sum()
        assert ("failed attempt" in effects) == ("failed_attempt" in step.parts)
        assert ("end: success" in step.effects) == ("success" in step.parts)
        assert ("end" in effects) == bool(step.end)
        assert ("not legal" in step.description) == ("invalid_action" in step.parts)


SOME = [pytest.param(n, marks=[pytest.mark.slow] if n % 8 else []) for n in range(0, len(LIBRARY), 4)]


@pytest.mark.parametrize("number", SOME)
def test_labels_do_not_overlap(number):
    episode = library_episode(number)
    for picture in (episode[0], episode[-1], episode.overview()):
        assert overlapping(picture) == []


def test_a_full_crisis_can_be_read():
    state, params, library = started(full())
    picture = rendering.render(ENV, state, params, names=library)
    assert overlapping(picture) == []
    drawn = set(written(picture))
    assert {f"Way {n}" for n in range(8)} <= drawn
    assert {f"fact_{n}" for n in range(16)} <= drawn


def test_boxes_do_not_overlap_and_keep_to_the_canvas():
    for document in (MOVE, full(), MOVE | {"viable_routes": [], "milestones": []}):
        state, params, _ = started(document)
        task = jax.device_get(params.bank[0])
        shown = snapshot.read(OBSERVE(state, params), jax.device_get(state), task, snapshot.names_of(task, {}))
        for width, height in ((480, 400), (300, 200)):
            placed = list(layout.boxes(layout.layout_of(shown), width, height).values())
            assert all(box.x >= 0 and box.right <= width for box in placed)
            assert all(box.top >= 0 and box.top + box.height <= height + 1e-6 for box in placed)
            for a, b in itertools.combinations(placed, 2):
                assert a.right <= b.x or b.right <= a.x or a.top + a.height <= b.top or b.top + b.height <= a.top


def test_labels_keep_their_distance_and_their_order():
    assert layout.spread([50, 50, 50], 100, 10) == [40, 50, 60]
    assert layout.spread([10, None, 90], 100, 10) == [10, 20, 90]
    assert layout.spread([0, 0], 100, 10) == [5, 15]
    assert layout.spread([100, 100, 100], 20, 10) == pytest.approx([10 / 3, 10, 50 / 3])
    assert layout.spread([], 100, 10) == []


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
    shown = snapshot.read(OBSERVE(state, params), jax.device_get(state), task, snapshot.names_of(task, {}))
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
