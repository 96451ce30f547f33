"""Hypothesis strategies for LifeStack documents that try the edges of the rules."""

from hypothesis import strategies as st

from reference.lifestack import Crisis
from reference.lifestack_document import condition, same
from reference.lifestack_rules import METRICS, VERBS

# The values of one key: numbers that are equal, numbers next to true, texts, and null, which is absent.
POOLS = (
    (False, True),
    (False, True),
    (False, True, 1),
    (None, 1, 1.0, 2.5, "1"),
    ("low", "high", "none"),
    (0, 10, 20, 30.5),
)
HOMES = ("hidden", "hidden", "late hidden", "mutable", "mutable", "visible", "both", "late", "late", "late")
WATCHED = (
    "mental_wellbeing.stress_level",
    "mental_wellbeing.motivation",
    "career.workload",
    "finances.liquidity",
    "relationships.romantic",
    "time.free_hours_per_week",
)
MILD = st.sampled_from([-20, -7.5, -3, -0.05, 0.125, 4, 9.75, 15])
HARSH = st.sampled_from([-70, -45, -20, -7.5, -0.05, 4, 12.5, 25, 35, 60])
# Of some verbs there are more, so that chance finds the way more often.
ROUTE_VERBS = st.sampled_from([*VERBS, "communicate", "spend", "rest", "plan", "wait"])
REWARDS = st.sampled_from([0.0, 0.5, 1.0, 2.5])


def chance(draw, percent):
    """True that often."""
    return draw(st.integers(0, 99)) < percent


def some(draw, options, most, least=0):
    """Some of the options, none twice."""
    if not options:
        return []
    return draw(st.lists(st.sampled_from(options), min_size=least, max_size=most, unique=True))


def effects(draw, percent, deltas=MILD):
    """Nothing, or up to three entries {metric path: delta}."""
    if not chance(draw, percent):
        return {}
    paths = st.sampled_from([*METRICS, *WATCHED, *WATCHED])
    return draw(st.dictionaries(paths, deltas, min_size=1, max_size=3))


class Facts:
    """The keys of one document: their homes, their values, and the conditions on them."""

    def __init__(self, draw):
        self.draw = draw
        names = [f"k{number}" for number in range(draw(st.integers(1, 8)))]
        self.home = {name: draw(st.sampled_from(HOMES)) for name in names}
        if not self.world():
            self.home[names[-1]] = "late"
        self.pool = {name: draw(st.sampled_from(POOLS)) for name in names}
        self.first = {
            name: None if home.startswith("late") else draw(st.sampled_from(self.pool[name]))
            for name, home in self.home.items()
        }
        # Few, so that no more than four distinct bounds come together.
        self.bounds = [self.bound() for _ in range(draw(st.sampled_from([2, 4, 1, 2, 0])))]

    def world(self):
        """The keys that consequences and world mutations may write."""
        return [name for name, home in self.home.items() if "hidden" not in home]

    def hidden(self):
        """The keys that hidden mutations may write."""
        return [name for name, home in self.home.items() if "hidden" in home]

    def values(self, names, most, least=0):
        """A mapping of new values, as consequences and mutations have it."""
        return {name: self.draw(st.sampled_from(self.pool[name])) for name in some(self.draw, names, most, least)}

    def section(self, *homes):
        """A section of the document with first values."""
        return {name: self.first[name] for name, home in self.home.items() if home in homes}

    def bound(self):
        """A condition on a metric that no sum of deltas hits exactly."""
        metric = self.draw(st.sampled_from(WATCHED))
        offset = self.draw(st.sampled_from([-30, -12, -4, -1, 0, 1, 4, 12, 30]))
        value = round(min(METRICS[metric] + offset, 99) + self.draw(st.sampled_from([0.0005, 0.000505])), 6)
        return {"key": metric, "value": value, "op": self.draw(st.sampled_from(["gt", "ge", "lt", "le"]))}

    def condition(self):
        """A condition on a fact or, now and then, on a metric."""
        if self.bounds and chance(self.draw, 25):
            return dict(self.draw(st.sampled_from(self.bounds)))
        name = self.draw(st.sampled_from(list(self.home)))
        values = st.sampled_from(self.pool[name])
        op = self.draw(st.sampled_from([None, None, "eq", "eq", "ne", "gt", "lt", "ge", "le"]))
        if op in ("gt", "lt", "ge", "le"):
            values = st.sampled_from([0, 1, 2.5, 15])
        elif chance(self.draw, 5):
            values = st.sampled_from([True, 1, "other", None])
        value = self.draw(values)
        return {"key": name, "value": value} if op is None else {"key": name, "value": value, "op": op}

    def precondition(self):
        """A key with its value, or with {op, value}."""
        if chance(self.draw, 40):  # one that holds at first
            name = self.draw(st.sampled_from(list(self.home)))
            return name, self.first[name]
        found = self.condition()
        key, value, op = found["key"], found["value"], found.get("op")
        return key, value if op is None else {"op": op, "value": value}

    def member(self, routes, percent):
        """A member of success or failure; with that chance its conditions are what a route brings about."""
        brought = [pair for route in routes for pair in route["consequences"].items()]
        brought = [(key, value) for key, value in brought if value is not None]

        def one():
            if brought and chance(self.draw, percent):
                news = [(key, value) for key, value in brought if not same(value, self.first[key])]
                key, value = self.draw(st.sampled_from(news or brought))
                return {"key": key, "value": value}
            return self.condition()

        if chance(self.draw, 50):
            return one()
        return {"any": [one() for _ in range(self.draw(st.integers(1, 4)))]}


def neutral(draw, record):
    """A record that leaves out some of the fields that say nothing."""
    empty = [name for name, value in record.items() if value in ({}, [], None) or value is False]
    left_out = set(some(draw, empty, len(empty)))
    return {name: value for name, value in record.items() if name not in left_out and value is not None}


@st.composite
def routes(draw, facts, names, milestones):
    """The routes of a document."""
    found = []
    for name in names:
        others = [other for other in names if other != name]
        verbs = draw(st.lists(ROUTE_VERBS, max_size=draw(st.sampled_from([1, 1, 2, 3])), unique=True))
        needs = [facts.precondition() for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3])))]
        cost = {"time": st.sampled_from([0.5, 1, 1.01]), "energy": st.sampled_from([3, 10, 12.345])}
        cost["money"] = st.sampled_from([10, 49.99, 120, 250])
        found.append(
            {
                "id": name,
                "name": name,
                "description": "",
                "required_action_types": verbs,
                "preconditions": dict(needs),
                "consequences": facts.values(facts.world(), 3, least=draw(st.sampled_from([1, 1, 1, 0]))),
                "closes_routes": some(draw, others, 2) if chance(draw, 40) else [],
                "milestones_unlocked": some(draw, milestones, 2) if chance(draw, 40) else [],
                "final_reward": draw(REWARDS),
                "cost": draw(st.fixed_dictionaries({}, optional=cost)) if chance(draw, 40) else {},
                "effects": effects(draw, 30, HARSH),
            }
        )
    return found


@st.composite
def events(draw, facts, names):
    """The events of a document."""
    return [
        neutral(
            draw,
            {
                "step": draw(st.sampled_from([-1, -1, 0, 0, 1, 1, 2, 3, 5])),
                "probability": draw(st.sampled_from([None, 1, 0.75, 0.5, 0.25])),
                "id": f"e{number}",
                "description": "",
                "world_mutation": facts.values(facts.world(), 2),
                "hidden_state_mutation": facts.values(facts.hidden(), 2),
                "closes_routes": some(draw, names, 2) if chance(draw, 20) else [],
                "effects": effects(draw, 40, HARSH),
                "silent": chance(draw, 25),
            },
        )
        for number in range(draw(st.sampled_from([0, 1, 2, 3, 5])))
    ]


def limits(draw):
    """Horizon, constraints and resources."""
    horizon = draw(st.sampled_from([16, 25, 16, 10, 6, 3, 1]))
    constraints = {"budget_max": draw(st.sampled_from([None, None, 0, 100, 300.5, 1000]))}
    constraints["deadline_step"] = draw(st.sampled_from([None, None, None, 1, 4, 8, 12, 30]))
    amounts = {"time": st.sampled_from([0, 2, 5.25, 12]), "money": st.sampled_from([0, 49.99, 200, 600])}
    amounts["energy"] = st.sampled_from([0, 10, 25.5, 60, 100])
    resources = draw(st.fixed_dictionaries({}, optional=amounts)) if chance(draw, 40) else {}
    return {
        "horizon": horizon,
        "constraints": {name: value for name, value in constraints.items() if value is not None},
        "resources": resources,
    }


def quiet_at_reset(document):
    """The document without what would be over, or reached, before the first step."""
    bare = {**document, "event_schedule": []}
    if Crisis(bare, []).burnt_out():
        bare["disruption"] = document["disruption"] = {}
    start = Crisis(bare, [])
    document["milestones"] = [
        record
        for record, milestone in zip(document["milestones"], start.milestones, strict=True)
        if not (milestone.open and start.holds(milestone.condition))
    ]
    kept = {record["id"] for record in document["milestones"]}
    for route in document["viable_routes"]:
        route["milestones_unlocked"] = [name for name in route["milestones_unlocked"] if name in kept]
    document["failure_conditions"] = [
        record
        for record, alternatives in zip(document["failure_conditions"], start.failure, strict=True)
        if not any(map(start.holds, alternatives))
    ]
    if start.succeeded():
        # With what a route brings about besides, it does not hold; where no route brings news, nothing is success.
        news = [
            {"key": key, "value": value}
            for route in document["viable_routes"]
            for key, value in route["consequences"].items()
            if not start.holds(condition(key, value))
        ]
        document["success_conditions"] = [*document["success_conditions"][:3], news[0]] if news else []
    return document


@st.composite
def documents(draw):
    """A document that is not over before its first step."""
    facts = Facts(draw)
    names = [f"r{number}" for number in range(draw(st.sampled_from([2, 3, 3, 4, 4, 6, 1, 0])))]
    milestones = [f"m{number}" for number in range(draw(st.integers(0, 4)))]
    ways = draw(routes(facts, names, milestones))
    reached = []
    for name in milestones:
        found = facts.member(ways, 60)
        found = found["any"][0] if "any" in found else found
        fields = {"condition_key": found["key"], "condition_value": found["value"], "condition_op": found.get("op")}
        reached.append(neutral(draw, {"id": name, "description": "", **fields, "reward": draw(REWARDS)}))
        reached[-1].setdefault("condition_value", None)
    document = {
        "id": "drawn",
        "domain": "drawn",
        "goal": "",
        **limits(draw),
        "hidden_state": facts.section("hidden"),
        "mutable_world": facts.section("mutable", "both"),
        "visible_world": facts.section("visible", "both"),
        "success_conditions": [facts.member(ways, 85) for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2, 2, 3, 4])))],
        "failure_conditions": [facts.member(ways, 25) for _ in range(draw(st.sampled_from([0, 0, 1, 2, 4])))],
        "event_schedule": draw(events(facts, names)),
        "viable_routes": ways,
        "milestones": reached,
        "difficulty": draw(st.integers(1, 5)),
        "domain_metadata": {},
        "disruption": effects(draw, 50, HARSH),
    }
    document = quiet_at_reset(document)
    document["viable_routes"] = [neutral(draw, route) for route in document["viable_routes"]]
    return document
