"""Worked cases of docs/rules/lifestack.md, sections 1 and 2: facts, conditions and knowledge."""

import pytest

from strategies.lifestack_game import FAMILY, UNKNOWN, Game, event, members, milestone, route, win


def met_after(place, condition, document=None):
    """Whether a condition in one of the four places is met by what an event brings about at step 1."""
    said = {"key": "x", **condition}
    key, op, value = said["key"], said.get("op", "eq"), said["value"]
    document = dict(document or {})
    if place == "success_conditions":
        game = Game(**document, success_conditions=[said])
    elif place == "failure_conditions":
        game = Game(**document, failure_conditions=[said])
    elif place == "milestones":
        game = Game(**document, milestones=[milestone("m", key, value, op)])
    else:
        game = Game(**document, viable_routes=[win("execute", preconditions={key: {"op": op, "value": value}})])
    assert game.act("wait").ends == []
    step = game.act("execute", "win") if place == "preconditions" else game.act("wait")
    outcomes = {
        "success_conditions": step.ends == ["success"],
        "failure_conditions": step.ends == ["condition"],
        "milestones": step.parts.get("milestones") == 1,
        "preconditions": step.ends == ["success"],
    }
    return outcomes[place]


PLACES = ("success_conditions", "failure_conditions", "milestones", "preconditions")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("op", "value", "before", "after", "holds"),
    [
        (None, 3, None, 3, True),
        (None, 3, None, 4, False),
        ("eq", 1, None, 1.0, True),
        ("eq", 1, None, True, False),
        ("eq", 1, None, "1", False),
        ("eq", None, 3, None, True),
        ("ne", 3, 3, 4, True),
        ("ne", 3, 3, None, True),
        ("ne", 3, 3, 3.0, False),
        ("gt", 3, None, 3.5, True),
        ("gt", 3, None, 3, False),
        ("ge", 3, None, 3, True),
        ("ge", 3, None, 2.9, False),
        ("lt", 3, None, 2.9, True),
        ("lt", 3, None, 3, False),
        ("le", 3, None, 3, True),
        ("le", 3, None, 3.1, False),
        ("lt", 3, 7, None, False),
        ("gt", 0, None, True, False),
        ("le", 3, None, "2", False),
    ],
)
def test_each_operator_holds_in_all_four_places(place, op, value, before, after, holds):
    condition = {"value": value} if op is None else {"value": value, "op": op}
    document = {"mutable_world": {"x": before}, "event_schedule": [event(world_mutation={"x": after})]}
    assert met_after(place, condition, document) == holds


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("op", "value", "delta", "holds"),
    [
        ("lt", 65, -5, False),
        ("lt", 65, -5.00001, True),
        ("le", 65, -5, True),
        ("le", 65, -4.99999, False),
        ("gt", 75, 5, False),
        ("gt", 75, 5.00001, True),
        ("ge", 75, 5, True),
        ("ge", 75, 4.99999, False),
    ],
)
def test_a_metric_is_compared_exactly_in_all_four_places(place, op, value, delta, holds):
    document = {"event_schedule": [event(effects={FAMILY: delta})]}
    assert met_after(place, {"key": FAMILY, "op": op, "value": value}, document) == holds


def test_any_member_of_any_is_enough_for_success():
    any_of = {"any": [{"key": "a", "value": 1}, {"key": "b", "value": 1}]}
    for key, ends in (("a", ["success"]), ("b", ["success"]), ("c", [])):
        ways = [route("way", "execute", consequences={key: 1}), route("other", "plan")]
        assert Game(success_conditions=[any_of], viable_routes=ways).act("execute", "way").ends == ends


def test_any_member_of_any_is_enough_for_failure():
    any_of = {"any": [{"key": "a", "value": 1}, {"key": FAMILY, "op": "lt", "value": 60}]}
    failure = [{"key": "z", "value": 1}, any_of]
    for brings, ends in (({"consequences": {"a": 1}}, ["condition"]), ({"effects": {FAMILY: -11}}, ["condition"])):
        ways = [route("way", "execute", **brings), win("plan")]
        assert Game(failure_conditions=failure, viable_routes=ways).act("execute", "way").ends == ends


def test_success_needs_all_members():
    members = [{"key": "a", "value": 1}, {"key": "b", "value": 1}]
    ways = [route("first", "execute", consequences={"a": 1}), route("second", "plan", consequences={"b": 1})]
    game = Game(success_conditions=members, viable_routes=ways)
    assert game.act("execute", "first").ends == []
    assert game.act("plan", "second").ends == ["success"]


def test_one_failure_condition_is_enough():
    failure = [{"key": "a", "value": 1}, {"key": "b", "value": 1}]
    game = Game(failure_conditions=failure, viable_routes=[win("plan"), route("way", consequences={"b": 1})])
    step = game.act("execute", "way")
    assert (step.ends, step.parts["failure"], step.terminated) == (["condition"], -8, True)


def test_an_empty_list_of_success_conditions_never_holds():
    game = Game(success_conditions=[], viable_routes=[route("way", "plan")])
    assert [game.acts("plan way").ends, game.act("wait").ends] == [[], []]


# ------------------------------------------------------------------------------------------ knowledge


def test_hidden_state_is_unknown_until_inspected():
    game = Game(hidden_state={"h": "here"})
    assert game.known("h") == UNKNOWN
    game.act("inspect", "h")
    assert game.known("h") == "here"


def test_mutable_world_is_known_from_the_start_unless_an_event_writes_it():
    writes_w = event(step=9, world_mutation={"w": 2})
    game = Game(mutable_world={"m": 1, "w": 1}, event_schedule=[writes_w])
    assert (game.known("m"), game.known("w"), game.known("won")) == (1, UNKNOWN, None)
    game.act("inspect", "w")
    assert game.known("w") == 1


def test_visible_world_always_shows_its_current_value():
    changes = event(world_mutation={"v": 2, "both": 2})
    game = Game(visible_world={"v": 1, "both": 1}, mutable_world={"both": 1}, event_schedule=[changes])
    assert [game.known(key) for key in ("v", "both")] == [1, 1]
    game.act("wait")
    assert [game.known(key) for key in ("v", "both")] == [2, 2]
    assert not game.legal("inspect", "v")


def test_knowledge_is_as_of_the_last_look():
    game = Game(hidden_state={"h": 1}, event_schedule=[event(step=2, hidden_state_mutation={"h": 2})])
    game.acts("inspect h", "wait")
    assert (game.fact("h"), game.known("h")) == (2, 1)
    game.act("inspect", "h")
    assert game.known("h") == 2


def test_a_look_sees_the_fact_before_the_events_of_its_step():
    game = Game(hidden_state={"h": 1}, event_schedule=[event(hidden_state_mutation={"h": 2})])
    game.act("inspect", "h")
    assert (game.fact("h"), game.known("h")) == (2, 1)


def test_a_key_that_a_hidden_mutation_writes_is_hidden_and_starts_absent():
    game = Game(event_schedule=[event(step=2, hidden_state_mutation={"h": 2})])
    assert (game.fact("h"), game.known("h")) == (None, UNKNOWN)
    game.act("inspect", "h")
    assert game.known("h") is None


def test_completing_a_route_makes_its_preconditions_known():
    game = Game(hidden_state={"h": 1, "i": 2, "j": 3}, viable_routes=[win("plan", preconditions={"i": 2, "h": 1})])
    game.act("plan", "win")
    assert [game.known(key) for key in "hij"] == [1, 2, UNKNOWN]


def test_a_first_verb_tells_nothing():
    game = Game(hidden_state={"h": 1}, viable_routes=[win("plan", "execute", preconditions={"h": 2})])
    step = game.act("plan", "win")
    assert (game.known("h"), step.parts.get("failed_attempt")) == (UNKNOWN, None)


def test_a_failed_attempt_tells_its_preconditions_up_to_the_first_that_fails():
    hidden = {"c": 0, "b": 0, "a": 1}  # slots in another order than the preconditions
    needs = {"a": 1, "b": 1, "c": 1}
    game = Game(hidden_state=hidden, viable_routes=[win("plan", preconditions=needs)])
    game.act("plan", "win")
    assert [game.known(key) for key in "abc"] == [1, 0, UNKNOWN]


def test_a_metric_that_fails_ends_the_look_of_an_attempt():
    needs = {"a": 1, FAMILY: {"op": "gt", "value": 70}, "b": 1}
    game = Game(hidden_state={"a": 1, "b": 0}, viable_routes=[win("plan", preconditions=needs)])
    game.act("plan", "win")
    assert [game.known(key) for key in "ab"] == [1, UNKNOWN]


def test_a_consequence_of_ones_own_is_known():
    late = event(step=9, world_mutation={"w": 3})
    game = Game(viable_routes=[route("way", "plan", consequences={"w": 2})], event_schedule=[late])
    assert game.known("w") == UNKNOWN
    game.act("plan", "way")
    assert game.known("w") == 2


def test_a_milestone_makes_its_fact_known():
    game = Game(milestones=[milestone("m", "w", 2)], event_schedule=[event(world_mutation={"w": 2})])
    game.act("wait")
    assert game.known("w") == UNKNOWN
    game.act("wait")
    assert game.known("w") == 2


def test_success_makes_its_facts_known():
    members = [{"key": "h", "value": 2}, {"any": [{"key": "i", "value": 9}, {"key": "j", "value": 1}]}]
    turns = [event(hidden_state_mutation={"h": 2}), event("late", 9, hidden_state_mutation={"i": 9})]
    game = Game(hidden_state={"h": 1, "i": 5, "j": 1, "k": 1}, success_conditions=members, event_schedule=turns)
    game.act("wait")
    assert game.act("wait").ends == ["success"]
    assert [game.known(key) for key in "hijk"] == [2, 5, 1, UNKNOWN]


def test_metrics_are_always_known():
    game = Game(event_schedule=[event(effects={FAMILY: -5})])
    game.act("wait")
    assert game.observation.metrics.tolist() == game.state.metrics.tolist()
    assert game.metric(FAMILY) == 65


def test_an_observation_relates_routes_to_what_is_known():
    ways = [
        route("opens", "plan", consequences={"a": 1}, closes_routes=["other"]),
        win("execute", preconditions={"a": 1, "h": 1, "m": 1}),
        route("other", "rest", consequences={"a": 2}),
    ]
    game = Game(hidden_state={"h": 1}, mutable_world={"m": 1}, viable_routes=ways)
    assert [of["win"] for of in game.relations().values()] == [{"m"}, {"a"}, {"h"}]
    assert game.routes("serves") == {"opens": True, "win": True, "other": False}
    names = [way.id for way in game.task.viable_routes]
    enabled = dict(zip(names, game.routes("enables")["opens"], strict=False))
    assert [members(enabled[name], game.facts.keys) for name in ("opens", "win", "other")] == [set(), {"a"}, set()]
    assert members(game.routes("breaks")["other"], names) == {"win"}
    assert members(game.routes("closes")["opens"], names) == {"other"}


def test_fields_for_people_change_nothing():
    words = {"id": "x", "domain": "d", "goal": "g", "difficulty": 5, "domain_metadata": {"story": "s"}}
    told = [win("execute", name="n", description="d")]
    plain, worded = Game(), Game(viable_routes=told, **words)
    assert plain.act("execute", "win") == worded.act("execute", "win")
