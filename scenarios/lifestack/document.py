"""The LifeStack document: the types of its fields, and a task with its facts, routes, milestones and events."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, WrapValidator
from pydantic_core import PydanticCustomError

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECT, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, UNIT
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_AMOUNT, MAX_ENERGY, MAX_REWARD, NEVER
from scenarios.text.errors import Path
from scenarios.text.input_budget import RefusedInput, plain
from scenarios.text.records import ListOf, Name, NotEmpty, Record, expect, name_among, number_from, one_of

OPERATORS = ("eq", "ne", "gt", "lt", "ge", "le")
ORDERING = ("gt", "lt", "ge", "le")  # which hold between numbers alone
LAST_STEP = NEVER - 1


def is_number(value: Any) -> bool:
    """Whether a value compares as a number, which true and false do not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain_value(value: Any) -> Any:
    """A value that a file could hold."""
    try:
        return plain(value)
    except RefusedInput as error:
        raise PydanticCustomError("value", "{problem}", {"problem": str(error)}) from None


ACTION_TYPES = (*VERBS, INSPECT)

Verb = Annotated[actions.Verb, one_of(VERBS)]
Operator = Annotated[Literal["eq", "ne", "gt", "lt", "ge", "le"], one_of(OPERATORS)]
Value = Annotated[Any, AfterValidator(_plain_value)]
Amount = Annotated[float, *number_from(0, MAX_AMOUNT // CENTS)]
Energy = Annotated[float, *number_from(0, MAX_ENERGY // CENTS)]
Reward = Annotated[float, *number_from(-MAX_REWARD, MAX_REWARD)]
Probability = Annotated[float, *number_from(0, 1)]
Change = Annotated[float, *number_from(-HIGHEST // UNIT, HIGHEST // UNIT)]
Steps = Annotated[int, Field(ge=1, le=LAST_STEP), expect(f"a number of steps: an integer from 1 to {LAST_STEP}")]
EventStep = Annotated[
    int,
    Field(ge=EVERY_STEP, le=LAST_STEP),
    expect(f"a step: an integer from 0 to {LAST_STEP}, or {EVERY_STEP} for any step"),
]
Difficulty = Annotated[int, Field(ge=1, le=5), expect("an integer from 1 to 5 (the hardest)")]
Facts = dict[str, Value]
Changes = Annotated[dict[str, Change], Field(json_schema_extra={"propertyNames": {"enum": [*METRICS]}})]
Names = ListOf[str]


class Comparison(Record):
    """What a precondition asks of its key, where it is not to equal a value."""

    op: Operator
    """eq, ne, gt, lt, ge or le; the last four hold between numbers alone."""
    value: Value
    """What the key is compared with; null for absent."""


class Condition(Record):
    """One condition on a fact or a metric."""

    key: Name
    """A fact, or a metric path such as mental_wellbeing.stress_level."""
    value: Value
    """What it is compared with; null for absent, a number for a metric."""
    op: Operator = "eq"
    """eq, ne, gt, lt, ge or le; the last four between numbers, and for metrics alone."""

    @property
    def alternatives(self) -> "tuple[Condition, ...]":
        """The conditions of which one must hold: this one."""
        return (self,)


class AnyOf(Record):
    """Several conditions of which one is enough."""

    any: NotEmpty[Condition]
    """True as soon as one of them holds."""

    @property
    def alternatives(self) -> tuple[Condition, ...]:
        """The conditions of which one must hold."""
        return self.any


def _member(member: Any, validate: Any) -> Condition | AnyOf:
    """A condition, or several under `any`."""
    if isinstance(member, Condition | AnyOf):
        return member
    return (AnyOf if isinstance(member, Mapping) and "any" in member else Condition).model_validate(member)


def _precondition(wanted: Any, validate: Any) -> Any:
    """A comparison if a mapping has `op`; anything else is a value to equal."""
    if isinstance(wanted, Mapping) and "op" in wanted:
        return Comparison.model_validate(wanted)
    return validate(wanted)


class _OrValue:
    """Tells editors that a mapping with `op` is a comparison, and anything else a value."""

    def __get_pydantic_json_schema__(self, core_schema: Any, inner: Any) -> dict[str, Any]:
        comparison, _ = inner(core_schema)["anyOf"]
        return {"anyOf": [comparison, {"not": {"type": "object", "required": ["op"]}}]}


Members = ListOf[Annotated[Condition | AnyOf, WrapValidator(_member)]]
Preconditions = dict[str, Annotated[Comparison | Value, WrapValidator(_precondition), _OrValue()]]

Write = tuple[Path, str, Any]
"""Where a document gives a key a value, the key, the value."""


class Action(Record):
    """What to do next."""

    action_type: Annotated[str, *name_among(ACTION_TYPES)]
    target: str | None = None  # a route; for inspect a key; null for upkeep and wait


class Cost(Record):
    """What a route costs beside what its verbs cost."""

    time: Amount = 0
    """Hours, spread equally over its verbs, each part rounded up to 0.01."""
    money: Amount = 0
    """Paid once: with its spend, or on completion where it has no spend."""
    energy: Amount = 0
    """Spread equally over its verbs, each part rounded up to 0.01."""


class Route(Record):
    """A way out, or a part of one."""

    id: Name
    """Its name; no two routes share one."""
    name: str = ""
    """What to call it, for people; changes nothing."""
    description: str = ""
    """What it is, for people; changes nothing."""
    required_action_types: ListOf[Verb] = ()
    """The verbs to be done on it, in any order, each once; none means execute."""
    preconditions: Preconditions = Field(default={})
    """What must hold when the last verb is done: key to value, or to {op, value}.
    Those from the first down to the one that fails become known."""
    consequences: Facts = Field(default={})
    """Facts of the world that completing it sets; null removes one."""
    closes_routes: Names = ()
    """Routes that completing it closes for good."""
    milestones_unlocked: Names = ()
    """Milestones that cannot be reached before it completes."""
    final_reward: Reward = 0
    """Paid when it completes, once."""
    cost: Cost = Cost()
    """Beside what its verbs cost."""
    effects: Changes = Field(default={})
    """What completing it does to metrics: path to change, which spreads to others."""

    @property
    def verbs(self) -> tuple[str, ...]:
        """What it requires."""
        return self.required_action_types or ("execute",)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Its preconditions in document order."""
        return tuple(
            Condition.model_construct(key=key, **(wanted if isinstance(wanted, Comparison) else {"value": wanted}))
            for key, wanted in self.preconditions.items()
        )


class Milestone(Record):
    """Something worth having reached."""

    id: Name
    """Its name; no two milestones share one."""
    description: str = ""
    """What it is, for people; changes nothing."""
    condition_key: Name
    """The fact, or metric path, that it rests on."""
    condition_value: Value
    """What that is compared with; null for absent."""
    condition_op: Operator = "eq"
    """How it is compared; a metric by gt, lt, ge or le."""
    reward: Reward = 0
    """Paid when it is first reached."""

    @property
    def condition(self) -> Condition:
        """The condition for reaching it."""
        return Condition.model_construct(key=self.condition_key, value=self.condition_value, op=self.condition_op)


class ExoEvent(Record):
    """Something that happens from outside."""

    id: Name
    """Its name; no two events share one."""
    step: EventStep
    """The step at which it may fire, or -1: at any from 1 on, at most once."""
    probability: Probability = 1
    """How likely it fires when its step comes."""
    description: str = ""
    """What it is, for people; changes nothing."""
    world_mutation: Facts = Field(default={})
    """Facts of the world that it sets; null removes one."""
    hidden_state_mutation: Facts = Field(default={})
    """Hidden facts that it sets; null removes one."""
    closes_routes: Names = ()
    """Routes that it closes for good."""
    effects: Changes = Field(default={})
    """What it does to metrics: path to change, which spreads to others."""
    silent: bool = False
    """Whether nobody is told that it has fired."""


class Constraints(Record):
    """What limits the whole task."""

    budget_max: Amount | None = None
    """The money there is; null for 100 a step."""
    deadline_step: Steps | None = None
    """The last step that can still succeed; null: none."""


class Resources(Record):
    """What there is to begin with."""

    time: Amount | None = None
    """Hours; null for one a step."""
    money: Amount | None = None
    """Beside a budget_max, the smaller counts; null: the budget."""
    energy: Energy | None = None
    """0 to 100, never more; null for 100."""


class Task(Record):
    """A scenario: one crisis before its first step."""

    model_config = ConfigDict(title="A task of LifeStack")

    environment: Annotated[Literal["lifestack"], one_of(["lifestack"])] = "lifestack"
    """Which environment plays it."""
    id: str = ""
    """What the task is called; without one, as its file."""
    domain: str = ""
    """What sort of crisis it is, for people; changes nothing."""
    goal: str = ""
    """What is to be achieved, for people; changes nothing."""
    constraints: Constraints = Constraints()
    """The budget and the deadline."""
    hidden_state: Facts = Field(default={})
    """Facts that are unknown until looked at, and first values."""
    mutable_world: Facts = Field(default={})
    """Facts of the world and first values; known from the start if no event writes them."""
    visible_world: Facts = Field(default={})
    """Facts of the world whose current value always shows."""
    success_conditions: Members = ()
    """All must hold; of none, never."""
    failure_conditions: Members = ()
    """One is enough to fail."""
    event_schedule: ListOf[ExoEvent] = ()
    """What happens from outside; where two write a fact at once, the later one counts."""
    viable_routes: ListOf[Route] = ()
    """The ways out, and the parts of one."""
    milestones: ListOf[Milestone] = ()
    """What is worth having reached on the way."""
    horizon: Steps
    """The time limit in steps."""
    difficulty: Difficulty = 1
    """1 to 5 (the hardest), for people; changes nothing."""
    domain_metadata: Facts = Field(default={})
    """Whatever else there is to say, such as {story: ...}; changes nothing."""
    disruption: Changes = Field(default={})
    """What has happened to metrics: path to change, which spreads to others."""
    resources: Resources = Resources()
    """Time, money and energy to begin with."""

    @property
    def last_step(self) -> int:
        """The last step: the deadline or the horizon."""
        return min(self.horizon, self.constraints.deadline_step or self.horizon)

    def states(self) -> Iterator[Write]:
        """The first values."""
        for field in ("hidden_state", "mutable_world", "visible_world"):
            yield from (((field, key), key, value) for key, value in self[field].items())

    def consequences(self) -> Iterator[Write]:
        """What completing routes writes."""
        for n, route in enumerate(self.viable_routes):
            yield from ((("viable_routes", n, "consequences", k), k, v) for k, v in route.consequences.items())

    def mutations(self) -> Iterator[Write]:
        """What events write."""
        for n, event in enumerate(self.event_schedule):
            for field in ("world_mutation", "hidden_state_mutation"):
                yield from ((("event_schedule", n, field, k), k, v) for k, v in event[field].items())

    def conditions(self) -> Iterator[tuple[Path, Condition]]:
        """Every condition and its path: preconditions, milestones, success, failure."""
        for n, route in enumerate(self.viable_routes):
            yield from ((("viable_routes", n, "preconditions", each.key), each) for each in route.conditions)
        for n, milestone in enumerate(self.milestones):
            yield ("milestones", n, "condition_value"), milestone.condition
        for field in ("success_conditions", "failure_conditions"):
            for n, member in enumerate(self[field]):
                for m, condition in enumerate(member.alternatives):
                    yield (field, n, *(("any", m) if isinstance(member, AnyOf) else ()), "value"), condition
