"""Tasks for the planner: tiny ones, ones in which the order of what is done matters, and drawn ones that are tight."""

from hypothesis import strategies as st

from jaxenv.envs.lifestack import Scenario
from scenarios.lifestack import Task, compile

STRESS, LIQUIDITY = "mental_wellbeing.stress_level", "finances.liquidity"
NETWORK = "relationships.professional_network"


def arrays(document: dict) -> Scenario:
    return compile(Task.model_validate({"id": "t", **document}))


def route(id: str, *verbs: str, **fields) -> dict:
    return {"id": id, "required_action_types": list(verbs), **fields}


WIN = [{"key": "won", "value": True}]
LAST = route("win", "execute", consequences={"won": True}, final_reward=1.0)
TINY = {
    "one verb": {"horizon": 3, "viable_routes": [LAST], "success_conditions": WIN},
    "no way": {"horizon": 3, "viable_routes": [route("r", "plan", final_reward=1.0)], "success_conditions": WIN},
    "a side route first": {
        "horizon": 4,
        "constraints": {"deadline_step": 3},
        "viable_routes": [LAST, route("side", "plan", final_reward=0.7), route("poor", "wait", final_reward=0.01)],
        "success_conditions": WIN,
    },
    "a hidden fact turns": {
        "horizon": 3,
        "constraints": {"deadline_step": 3},
        "hidden_state": {"open": True},
        "viable_routes": [
            route("win", "plan", "execute", preconditions={"open": True}, consequences={"won": True}, final_reward=2.0),
            route("other", "plan", "wait", consequences={"won": True}),
        ],
        "event_schedule": [
            {"id": "e", "step": 1, "probability": 0.3, "hidden_state_mutation": {"open": False}},
            {"id": "f", "step": 0, "probability": 0.5, "hidden_state_mutation": {"open": None}, "silent": True},
        ],
        "success_conditions": WIN,
    },
    "waiting for luck": {
        "horizon": 4,
        "visible_world": {"luck": False},
        "viable_routes": [
            route("win", "wait", preconditions={"luck": True}, consequences={"won": True}, final_reward=0.5)
        ],
        "event_schedule": [{"id": "e", "step": -1, "probability": 0.4, "world_mutation": {"luck": True}}],
        "success_conditions": WIN,
    },
    "a metric to be met": {
        "horizon": 4,
        "constraints": {"deadline_step": 4},
        "viable_routes": [LAST],
        "success_conditions": [*WIN, {"key": STRESS, "op": "le", "value": 55}],
        "disruption": {STRESS: 35},
        "event_schedule": [{"id": "e", "step": 2, "probability": 0.5, "effects": {STRESS: -5}}],
    },
    "not enough energy": {
        "horizon": 4,
        "resources": {"energy": 4},
        "viable_routes": [LAST],
        "success_conditions": WIN,
    },
    "a collapse to be averted": {
        "horizon": 3,
        "viable_routes": [route("win", "wait", "plan", consequences={"won": True}, effects={STRESS: 10})],
        "success_conditions": WIN,
        "disruption": {STRESS: 28},
        "event_schedule": [{"id": "e", "step": 1, "probability": 0.8, "effects": {STRESS: 10}}],
    },
    "an event that would burn out": {
        "horizon": 4,
        "constraints": {"deadline_step": 4},
        "viable_routes": [route("win", "wait", "plan", consequences={"won": True}, final_reward=1.0)],
        "success_conditions": WIN,
        "disruption": {STRESS: 50},
        "event_schedule": [{"id": "e", "step": 1, "effects": {STRESS: 15}}],
    },
    "money for one": {
        "horizon": 4,
        "constraints": {"deadline_step": 4, "budget_max": 100},
        "viable_routes": [
            route("dear", "spend", final_reward=1.0, cost={"money": 60}),
            route("win", "spend", "plan", consequences={"won": True}, final_reward=0.5, cost={"money": 50}),
        ],
        "milestones": [
            {"id": "m", "condition_key": LIQUIDITY, "condition_op": "lt", "condition_value": 60, "reward": 1}
        ],
        "event_schedule": [{"id": "e", "step": 2, "probability": 0.5, "effects": {LIQUIDITY: -15}}],
        "success_conditions": WIN,
    },
    "better not to finish": {
        "horizon": 3,
        "viable_routes": [route("end", "plan", final_reward=0.5, consequences={"lost": True})],
        "success_conditions": WIN,
        "failure_conditions": [{"key": "lost", "value": True}],
    },
    "a verb that meets the precondition": {
        "horizon": 2,
        "viable_routes": [
            route("win", "negotiate", preconditions={STRESS: {"op": "le", "value": 36}}, consequences={"won": True})
        ],
        "success_conditions": WIN,
    },
    "a verb that breaks the precondition": {
        "horizon": 2,
        "constraints": {"deadline_step": 2},
        "viable_routes": [
            route(
                "win",
                "negotiate",
                "wait",
                preconditions={STRESS: {"op": "gt", "value": 36}},
                consequences={"won": True},
            )
        ],
        "success_conditions": WIN,
        "event_schedule": [{"id": "e", "step": 1, "probability": 0.25, "effects": {STRESS: 5}}],
    },
}


def closing(name: str, step: int) -> dict:
    """An event that closes a route, or does not."""
    return {"id": f"no {name}", "step": step, "probability": 0.5, "closes_routes": [name]}


def hasty(steps: int, *ways: dict, **fields) -> dict:
    """A task without a step to spare."""
    task = {"horizon": steps, "constraints": {"deadline_step": steps}, "viable_routes": list(ways)}
    return {**task, "success_conditions": WIN, **fields}


ORDER = {
    "luck breaks a route off": hasty(
        2, route("win", "plan", "reschedule", consequences={"won": True}), event_schedule=[closing("win", 1)]
    ),
    "luck leaves time for another route": hasty(
        2,
        route("long", "rest", "plan", consequences={"won": True}, final_reward=2.0),
        route("short", "execute", consequences={"won": True}),
        resources={"time": 1.5},
        event_schedule=[closing("long", 1)],
    ),
    "luck decides between routes": hasty(
        4,
        route("left", "plan", "prepare", "wait", consequences={"won": True}),
        route("right", "plan", "prepare", "wait", consequences={"won": True}),
        event_schedule=[closing("left", 2), closing("right", 2)],
    ),
    "a rest while waiting": hasty(
        3,
        route("first", "execute", preconditions={"open": True}, consequences={"half": True}),
        route("win", "execute", preconditions={"half": True}, consequences={"won": True}),
        resources={"energy": 10},
        event_schedule=[{"id": "e", "step": 1, "world_mutation": {"open": True}}],
    ),
    "energy from a route that has to wait": hasty(
        3,
        route("first", "execute", consequences={"half": True}),
        route("win", "rest", "plan", preconditions={"half": True}, consequences={"won": True}),
        resources={"energy": 5},
    ),
    "a metric at its top": hasty(
        1,
        {**LAST, "effects": {LIQUIDITY: 60}},
        success_conditions=[*WIN, {"key": LIQUIDITY, "op": "ge", "value": 90}],
    ),
    "an event brings a milestone to who fails": hasty(
        3,
        route("r", "plan", preconditions={"never": 1}),
        disruption={NETWORK: -69.9},
        milestones=[{"id": "m", "condition_key": "k", "condition_value": True, "reward": 1.0}],
        event_schedule=[{"id": "e", "step": 1, "world_mutation": {"k": True}}],
    ),
    "an event wins": hasty(
        2,
        route("side", "plan", "execute", final_reward=1.0),
        event_schedule=[{"id": "e", "step": 1, "world_mutation": {"won": True}}],
    ),
    "an event averts a failure": hasty(
        3,
        route("first", "plan", consequences={"half": True}, effects={LIQUIDITY: 30}),
        {**LAST, "preconditions": {"half": True}},
        failure_conditions=[{"key": LIQUIDITY, "op": "gt", "value": 90}],
        event_schedule=[{"id": "e", "step": 1, "effects": {LIQUIDITY: -30}}],
    ),
}
"""What a bound must not overlook that lets routes be worked on in one order only."""


# Drawn tasks -----------------------------------------------------------------------------------------

VERBS = ("communicate", "spend", "negotiate", "reschedule", "rest", "plan", "self_care", "execute", "wait")
EFFECTS = st.sampled_from([{}, {}, {LIQUIDITY: 40}, {LIQUIDITY: -25}, {STRESS: 20}])
NEEDS = st.sampled_from([{}, {}, {"a": True}, {"b": True}, {"a": None}, {LIQUIDITY: {"op": "ge", "value": 60}}])
COSTS = st.sampled_from([{}, {}, {"money": 50}, {"time": 0.5, "energy": 3}])
BOUNDS = st.sampled_from(
    [{"key": LIQUIDITY, "op": op, "value": value} for op, value in (("ge", 60), ("ge", 90), ("le", 55), ("lt", 90))]
)
FAILURES = st.sampled_from(
    [
        {"key": "b", "value": True},
        {"key": LIQUIDITY, "op": "gt", "value": 95},
        {"key": LIQUIDITY, "op": "lt", "value": 30},
    ]
)
RESOURCES = {
    "time": st.sampled_from([1.5, 2, 3, 4]),
    "money": st.sampled_from([0, 50]),
    "energy": st.sampled_from([0, 5, 10, 15]),
}


def some(options: list[str], most: int) -> st.SearchStrategy[list[str]]:
    """Some of the options, none twice."""
    return st.lists(st.sampled_from(options), max_size=most, unique=True) if options else st.just([])


@st.composite
def tight_routes(draw, names: list[str]) -> list[dict]:
    """Routes, of which the last one leads to success."""
    routes = [
        route(
            name,
            *draw(st.lists(st.sampled_from(VERBS), min_size=1, max_size=3, unique=True)),
            preconditions=draw(NEEDS),
            consequences=dict.fromkeys(draw(some(["a", "b", "won"], 2)), True),
            closes_routes=draw(some([other for other in names if other != name], 1)),
            final_reward=draw(st.sampled_from([0, 1.5, -0.5])),
            effects=draw(EFFECTS),
            cost=draw(COSTS),
        )
        for name in names
    ]
    routes[-1]["consequences"]["won"] = True
    return routes


@st.composite
def tight_events(draw, names: list[str]) -> list[dict]:
    """At most two events, which close routes rather than open them."""
    return [
        {
            "id": f"e{number}",
            "step": draw(st.sampled_from([-1, 1, 2, 3])),
            "probability": draw(st.sampled_from([1, 0.5, 0.3])),
            "world_mutation": draw(st.sampled_from([{}, {}, {}, {"a": True}, {"b": None}])),
            "closes_routes": draw(some(names, 2)),
            "effects": draw(EFFECTS),
        }
        for number in range(draw(st.integers(0, 2)))
    ]


@st.composite
def tight_tasks(draw) -> dict:
    """A task with few steps and little time, money or energy, which can be searched through and often be won."""
    horizon, names = draw(st.integers(1, 4)), ["r0", "r1", "r2"][: draw(st.integers(1, 3))]
    milestone = {"id": "m", "condition_key": draw(st.sampled_from("ab")), "condition_value": True}
    deadlines = st.fixed_dictionaries({"deadline_step": st.integers(1, horizon)})
    return {
        "horizon": horizon,
        "constraints": draw(st.one_of(st.just({}), deadlines, deadlines, deadlines)),
        "resources": draw(st.fixed_dictionaries({}, optional=RESOURCES)),
        "viable_routes": draw(tight_routes(names)),
        "event_schedule": draw(tight_events(names)),
        "success_conditions": [*WIN, *draw(st.lists(BOUNDS, max_size=1))],
        "failure_conditions": draw(st.lists(FAILURES, max_size=1)),
        "milestones": [{**milestone, "reward": draw(st.sampled_from([1, -1]))}],
        "disruption": draw(st.sampled_from([{}, {}, {NETWORK: -69.9}, {LIQUIDITY: -20}])),
    }
