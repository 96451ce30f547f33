"""Worked cases of docs/rules/lifestack.md, section 3: what actions cost and do, and when they are legal."""

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv.envs.lifestack.metrics import METRICS
from reference.lifestack_rules import METRICS as FIRST_VALUES
from reference.lifestack_rules import spread
from strategies.lifestack_game import STRESS, Game, event, route, win

WORKLOAD, FREE_HOURS, CLARITY = "career.workload", "time.free_hours_per_week", "mental_wellbeing.clarity"
MOTIVATION, NETWORK = "mental_wellbeing.motivation", "relationships.professional_network"
CARE = {STRESS: -6, MOTIVATION: 4}


def metrics_after(changes):
    """The 23 metrics in units after changes of the first values, by the other engine."""
    moved = spread(changes)
    return [FIRST_VALUES[path] * 100_000 + moved[path] for path in METRICS]


@pytest.mark.parametrize(
    ("verb", "hours", "energy", "changes"),
    [
        ("communicate", 0.5, 5, {}),
        ("spend", 0.5, 2, {STRESS: -2}),
        ("negotiate", 1.5, 15, {WORKLOAD: -5, STRESS: -2}),
        ("delegate", 1, 8, {}),
        ("reschedule", 1, 5, {FREE_HOURS: 3}),
        ("deprioritize", 0.5, 3, {}),
        ("rest", 1, -15, {STRESS: -8}),
        ("plan", 0.5, 3, {CLARITY: 2}),
        ("prepare", 0.5, 3, {CLARITY: 2}),
        ("self_care", 1, -5, CARE),
        ("execute", 1, 8, {}),
        ("wait", 0, 0, {}),
    ],
)
def test_each_verb_on_a_route(verb, hours, energy, changes):
    game = Game(viable_routes=[win(verb)], resources={"energy": 50})
    step = game.act(verb, "win")
    assert step.ends == ["success"]
    assert game.resources == (20 - hours, 2000, 50 - energy)
    assert game.state.metrics.tolist() == metrics_after(changes)


@pytest.mark.parametrize(
    ("verb", "hours", "energy", "changes"),
    [
        ("rest", 1, -15, {STRESS: -12}),
        ("self_care", 1, -5, CARE),
        ("delegate", 1, 8, {WORKLOAD: -10, NETWORK: -5}),
        ("deprioritize", 0.5, 3, {FREE_HOURS: 15, "relationships.social": -10}),
        ("communicate", 0.5, 5, {"relationships.romantic": 10, STRESS: -5}),
        ("wait", 0, 0, {}),
    ],
)
def test_each_kind_of_upkeep(verb, hours, energy, changes):
    game = Game(resources={"energy": 50})
    step = game.act(verb)
    assert (step.ends, game.resources) == ([], (20 - hours, 2000, 50 - energy))
    assert game.state.metrics.tolist() == metrics_after(changes)
    assert "invalid_action" not in step.parts


def test_inspecting_costs_half_an_hour_and_may_be_repeated():
    game = Game(hidden_state={"h": 1}, resources={"time": 1.2})
    game.acts("inspect h", "inspect h")
    assert game.resources == (0.2, 2000, 100)
    assert not game.legal("inspect", "h")


def test_resources_by_default_are_an_hour_and_a_hundred_a_step_and_full_energy():
    assert Game(horizon=7).resources == (7, 700, 100)


def test_resources_apart():
    given = {"resources": {"time": 3.25}, "constraints": {"budget_max": 75.5}}
    assert Game(**given).resources == (3.25, 75.5, 100)
    assert Game(resources={"energy": 12, "money": 4}).resources == (20, 4, 12)


@pytest.mark.parametrize(("money", "budget", "expected"), [(80, 75, 75), (60, 75, 60), (0, 75, 0)])
def test_of_money_and_budget_the_smaller_counts(money, budget, expected):
    game = Game(resources={"money": money}, constraints={"budget_max": budget})
    assert game.resources[1] == expected


# ------------------------------------------------------------------------------------ cost of a route


def test_time_and_energy_of_a_route_are_shared_and_rounded_up():
    game = Game(viable_routes=[win("plan", "spend", "wait", cost={"time": 1, "energy": 10})])
    game.act("wait", "win")
    assert game.resources == (19.66, 2000, 96.66)  # 0.34 of 1 hour, 3.34 of 10
    game.act("plan", "win")
    assert game.resources == (18.82, 2000, 90.32)


def test_money_is_paid_with_spend():
    game = Game(viable_routes=[win("plan", "spend", "wait", cost={"money": 99.99})], resources={"money": 100})
    assert game.acts("plan win").ends == []
    assert game.resources[1] == 100
    game.act("spend", "win")
    assert game.resources[1] == 0.01
    game.act("wait", "win")
    assert game.resources[1] == 0.01


def test_money_without_spend_is_paid_on_completion():
    game = Game(viable_routes=[win("plan", "prepare", cost={"money": 50})])
    game.act("plan", "win")
    assert game.resources[1] == 2000
    game.act("prepare", "win")
    assert game.resources[1] == 1950


def test_a_failed_attempt_pays_time_and_energy_but_no_money_and_takes_its_mark_back():
    for verbs in (("plan", "spend"), ("spend", "plan"), ("execute", "plan")):
        game = Game(hidden_state={"h": 1}, viable_routes=[win(*verbs, preconditions={"h": 2}, cost={"money": 50})])
        game.act(verbs[0], "win")
        before = game.resources[1]
        step = game.act(verbs[1], "win")
        assert (step.parts["failed_attempt"], game.resources[1]) == (-0.2, before)
        assert game.legal(verbs[1], "win")
        assert not game.legal(verbs[0], "win")
    assert game.resources == (18.5, 2000, 89)
    assert game.metric(CLARITY) == 72  # what the verb does, it does all the same


def test_what_spend_has_paid_stays_paid_when_a_later_verb_fails():
    game = Game(hidden_state={"h": 1}, viable_routes=[win("spend", "plan", preconditions={"h": 2}, cost={"money": 9})])
    game.acts("spend win", "plan win", "plan win")
    assert game.resources[1] == 1991


def test_only_the_entry_that_pays_needs_the_money():
    for verbs, pays in ((("plan", "spend"), "spend"), (("plan", "prepare"), "prepare")):
        game = Game(viable_routes=[win(*verbs, cost={"money": 50})], resources={"money": 49.99})
        assert game.legal("plan", "win")
        game.act("plan", "win")
        assert not game.legal(pays, "win")
    exact = Game(viable_routes=[win("plan", cost={"money": 50})], resources={"money": 50})
    assert exact.act("plan", "win").ends == ["success"]


@pytest.mark.parametrize(
    ("resources", "is_legal"),
    [({"time": 1.5}, True), ({"time": 1.49}, False), ({"energy": 11}, True), ({"energy": 10.99}, False)],
)
def test_a_route_needs_the_time_and_energy_of_the_entry(resources, is_legal):
    game = Game(viable_routes=[win("execute", cost={"time": 0.5, "energy": 3})], resources=resources)
    assert game.legal("execute", "win") == is_legal


# ---------------------------------------------------------------------------------------------- legal


def test_required_action_types_are_done_once_each_in_any_order():
    for order in (("plan", "rest", "execute"), ("execute", "rest", "plan")):
        game = Game(viable_routes=[win("plan", "rest", "execute")])
        assert not game.legal("spend", "win")
        assert game.act(order[0], "win").ends == []
        assert not game.legal(order[0], "win")
        assert game.act(order[1], "win").ends == []
        assert game.act(order[2], "win").ends == ["success"]


def test_no_required_action_types_mean_execute():
    game = Game(viable_routes=[win()])
    assert np.flatnonzero(game.observation.action_mask)[0] == game.index("execute", "win") == 80
    assert game.act("execute", "win").ends == ["success"]


def test_legality_does_not_depend_on_hidden_facts():
    for value in (1, 2):
        game = Game(hidden_state={"h": value}, viable_routes=[win("plan", preconditions={"h": 1})])
        assert game.legal("plan", "win")


def test_the_catalogue_is_in_order():
    game = Game(hidden_state={"h": 1})
    actions = [("communicate", "win"), ("spend", "win"), ("wait", "win"), ("inspect", "h"), ("rest", None)]
    assert [game.index(*action) for action in actions] == [0, 8, 88, 96, 112]
    assert [game.index(verb) for verb in ("self_care", "delegate", "deprioritize", "communicate", "wait")] == [
        113,
        114,
        115,
        116,
        117,
    ]
    legal = np.flatnonzero(game.observation.action_mask).tolist()
    assert legal == [80, 96, 97, 112, 113, 114, 115, 116, 117]  # execute, both keys, upkeep, wait


CLOSED = [route("way", "plan", closes_routes=["win"]), win("execute"), route("third", "rest")]
ILLEGAL = {
    "an absent slot": ({}, [], 87),
    "a verb that is not required": ({}, [], "spend win"),
    "a verb that is marked": ({"viable_routes": [win("plan", "execute")]}, ["plan win"], "plan win"),
    "a closed route": ({"viable_routes": CLOSED}, ["plan way"], "execute win"),
    "a completed route": ({"viable_routes": CLOSED}, ["plan way"], "plan way"),
    "money that is lacking": ({"viable_routes": [win(cost={"money": 2001})]}, [], "execute win"),
    "upkeep without energy": ({"resources": {"energy": 4.99}}, [], "communicate"),
    "upkeep without time": ({"resources": {"time": 0.99}}, [], "rest"),
    "a look at what is always shown": ({"visible_world": {"v": 1}}, [], "inspect v"),
    "a look without time": ({"hidden_state": {"h": 1}, "resources": {"time": 0.49}}, [], "inspect h"),
    "an absent key": ({}, [], 101),
    "an index below": ({}, [], -1),
    "an index above": ({}, [], 118),
}


@pytest.mark.parametrize(("fields", "activities", "entry"), list(ILLEGAL.values()), ids=list(ILLEGAL))
def test_an_illegal_entry_waits_and_pays(fields, activities, entry):
    game = Game(**fields)
    if activities:
        game.acts(*activities)
    entry = game.index(*entry.split()) if isinstance(entry, str) else entry
    assert not (0 <= entry < 118 and game.observation.action_mask[entry])
    before = game.state
    step = game.step(entry)
    assert (step.parts, step.ends) == ({"invalid_action": -0.4, "step_cost": -0.08}, [])
    same = before.replace(clock=before.clock + before.clock.dtype.type(1))
    jax.tree.map(np.testing.assert_array_equal, game.state, same)


def test_waiting_is_always_legal_and_moves_only_the_clock():
    game = Game(resources={"time": 0, "energy": 0}, hidden_state={"h": 1})
    assert np.flatnonzero(game.observation.action_mask).tolist() == [117]
    step = game.act("wait")
    assert (step.parts, int(game.state.clock), game.resources) == ({"step_cost": -0.08}, 1, (0, 2000, 0))


def test_energy_stays_at_most_a_hundred():
    game = Game(resources={"energy": 90.5})
    game.act("rest")
    assert game.resources == (19, 2000, 100)


def test_a_gain_of_energy_can_always_be_paid():
    game = Game(resources={"energy": 0})
    assert [game.legal(verb) for verb in ("rest", "self_care", "deprioritize")] == [True, True, False]
    game.act("self_care")
    assert game.resources[2] == 5


@pytest.mark.parametrize(("energy", "is_legal"), [(14.99, False), (15, True)])
def test_energy_of_a_route_comes_on_top_of_what_rest_gives_back(energy, is_legal):
    game = Game(viable_routes=[win("rest", cost={"energy": 30})], resources={"energy": energy})
    assert game.legal("rest", "win") == is_legal


def test_a_verb_acts_before_the_preconditions_are_judged():
    needs = {STRESS: {"op": "le", "value": 32}}
    assert Game(viable_routes=[win("rest", preconditions=needs)]).act("rest", "win").ends == ["success"]


def test_every_entry_is_legal_once_it_is_over():
    won, out_of_time = Game(), Game(horizon=1)
    assert (won.act("execute", "win").terminated, out_of_time.act("wait").truncated) == (True, True)
    assert won.observation.action_mask.all()
    assert out_of_time.observation.action_mask.all()


def test_events_change_the_mask_before_it_is_seen():
    game = Game(event_schedule=[event(closes_routes=["win"]), event("later", 9, world_mutation={"won": False})])
    assert game.legal("execute", "win")
    game.act("wait")
    assert not game.legal("execute", "win")


def test_what_is_legal_is_so_on_every_platform(monkeypatch):
    env, params = jaxenv.make("LifeStack-v0")
    state = jax.jit(jax.vmap(lambda index: env.init(jax.random.key(0), params, index)))(np.arange(params.bank.size))

    def mask():
        return jax.jit(jax.vmap(lambda state: env.action_mask(state, params)))(state)

    here = mask()
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *arguments, default, **_: default(*arguments))
    np.testing.assert_array_equal(mask(), here)
    assert here.any()
    assert not here.all()
