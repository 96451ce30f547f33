"""One LifeStack task in the JAX engine, played by the names that stand in its document."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECTING, UPKEEP, VERBS, WAITING
from jaxenv.envs.lifestack.metrics import METRICS, UNIT
from jaxenv.envs.lifestack.types import UNKNOWN as UNKNOWN_CODE
from scenarios.lifestack.facts import Facts

UNKNOWN = "not known"
FIRES = 0.0  # a draw with which all that can fire does
NEVER_FIRES = 1 - 2**-16  # one that no probability below 1 reaches
FAMILY, STRESS, ROMANTIC = "relationships.family", "mental_wellbeing.stress_level", "relationships.romantic"
WON = [{"key": "won", "value": True}]


def route(name, /, *verbs, **fields):
    return {"id": name, "required_action_types": list(verbs), **fields}


def win(*verbs, **fields):
    """The route that brings success, unless its fields say otherwise."""
    return route("win", *verbs, **({"consequences": {"won": True}} | fields))


def event(name="e", step=1, **fields):
    return {"id": name, "step": step, **fields}


def milestone(name, key, value=True, op="eq", reward=1):
    return {"id": name, "condition_key": key, "condition_value": value, "condition_op": op, "reward": reward}


@functools.cache
def engine():
    """(env, params of one empty task, jitted reset, jitted turn by draws), compiled once for all tasks."""
    env = LifeStack()
    params = env.params_for(ScenarioBank.stack([env.empty_scenario]))

    @jax.jit
    def turn(state, action, draws, params):
        after, *told = env.turn(state, action, draws, params)
        return env.observe(after, params), after, *told, env.is_truncated(after, params)

    return env, params, jax.jit(env.reset_env), turn


@functools.cache
def generator():
    """Jitted: (keys, difficulty) -> drawn crises."""
    return jax.jit(jax.vmap(LifeStack().generate, in_axes=(0, None)))


def drawn(keys, difficulty):
    """A bank of crises, one for each key."""
    return ScenarioBank(generator()(keys, jnp.float32(difficulty)))


@dataclasses.dataclass(frozen=True)
class Step:
    """What a step told; of the reward the parts that are not zero, of the ends those that it came to."""

    reward: float
    parts: dict
    ends: list
    terminated: bool
    truncated: bool


def members(numbers, names):
    """The names whose numbers are in a set."""
    return {name for number, name in enumerate(names) if int(numbers) >> number & 1}


class Game:
    """An episode of 20 steps, won by the route `win`, with a document's fields in place of that."""

    def __init__(self, seed=0, weights=None, **fields):
        document = {"horizon": 20, "success_conditions": WON, "viable_routes": [win("execute")], **fields}
        library = scenarios.parse("lifestack", document)
        self.task, self.facts = library.documents[0], Facts.of(library.documents[0])
        self.env, params, reset, self.turn = engine()
        self.params = params.replace(bank=library.bank)
        if weights:
            found = params.weights.replace(**{name: jnp.float32(value) for name, value in weights.items()})
            self.params = self.params.replace(weights=found)
        self.observation, self.state = reset(jax.random.key(seed), self.params, 0)

    def index(self, verb, target=None):
        """The catalogue index of an action in its document form."""
        catalogue = self.env.catalogue
        if verb == "inspect":
            return catalogue.first(INSPECTING) + self.facts.slot(target)
        if target is not None:
            return VERBS.index(verb) * catalogue.routes + self.slot(target)
        return catalogue.first(WAITING if verb == "wait" else FIRST_UPKEEP + UPKEEP.index(verb))

    def slot(self, name):
        return [route.id for route in self.task.viable_routes].index(name)

    def act(self, verb, target=None, draws=FIRES):
        return self.step(self.index(verb, target), draws)

    def acts(self, *activities):
        """Several in turn; the last step."""
        return [self.act(*activity.split()) for activity in activities][-1]

    def step(self, index, draws=FIRES):
        numbers = jnp.broadcast_to(jnp.asarray(draws, jnp.float32), self.env.limits.events)
        self.observation, self.state, reward, terminated, info, truncated = self.turn(
            self.state, jnp.int32(index), numbers, self.params
        )
        parts = {name: round(float(value), 6) for name, value in vars(info["reward_parts"]).items() if value != 0}
        ends = [name for name, value in vars(info["ends"]).items() if value]
        return Step(float(reward), parts, ends, bool(terminated), bool(truncated))

    def legal(self, verb, target=None):
        return bool(self.observation.action_mask[self.index(verb, target)])

    def fact(self, key):
        """The truth."""
        return self.facts.value(key, int(self.state.facts[self.facts.slot(key)]))

    def known(self, key):
        """What the observation tells."""
        code = int(self.observation.keys.code[self.facts.slot(key)])
        return UNKNOWN if code == UNKNOWN_CODE else self.facts.value(key, code)

    def metric(self, path):
        return int(self.state.metrics[METRICS.index(path)]) / UNIT

    @property
    def resources(self):
        """(hours, money, energy) left."""
        return tuple(int(x) / 100 for x in (self.state.time, self.state.money, self.state.energy))

    def routes(self, field):
        """A field of the observed routes by name."""
        values = np.asarray(getattr(self.observation.routes, field)).tolist()
        return {route.id: values[n] for n, route in enumerate(self.task.viable_routes)}

    def relations(self):
        """How the preconditions on keys stand: {"holds", "fails" or "unknown": {route: keys}}."""
        sets = {name: self.routes(name) for name in ("holds", "fails", "unknown")}
        return {name: {way: members(keys, self.facts.keys) for way, keys in of.items()} for name, of in sets.items()}

    def reached(self):
        """The ids of the milestones that were reached."""
        return [m.id for m, is_reached in zip(self.task.milestones, self.state.reached, strict=False) if is_reached]

    def fired(self):
        """The ids of the events that have fired."""
        return [e.id for e, has_fired in zip(self.task.event_schedule, self.state.fired, strict=False) if has_fired]

    def told(self):
        """The ids of the events that the observation tells."""
        return [e.id for e, is_told in zip(self.task.event_schedule, self.observation.fired, strict=False) if is_told]
