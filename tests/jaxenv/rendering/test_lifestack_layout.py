"""The pictures of many crises: names as they are compiled, steps as they were taken, boxes and labels apart."""

import functools
import itertools

import hypothesis
import jax
import pytest

import scenarios
from jaxenv import baselines, rendering
from jaxenv.rendering.lifestack import layout, names, reading
from scenarios.lifestack.facts import Facts
from strategies.ink import overlapping, written
from strategies.lifestack import documents
from strategies.lifestack_moving import ENV, MOVE, started

LIBRARY = scenarios.load("lifestack")
RANDOM = jax.jit(baselines.random_policy)
OBSERVE = jax.jit(ENV.observe)


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
    said = set(written(picture))
    assert {f"Way {n}" for n in range(8)} <= said
    assert {f"fact_{n}" for n in range(16)} <= said


def test_boxes_do_not_overlap_and_keep_to_the_canvas():
    for document in (MOVE, full(), MOVE | {"viable_routes": [], "milestones": []}):
        state, params, _ = started(document)
        task = jax.device_get(params.bank[0])
        shown = reading.read(OBSERVE(state, params), jax.device_get(state), task, names.names_of(task))
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
    shown = reading.read(OBSERVE(state, params), jax.device_get(state), task, names.names_of(task))
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
