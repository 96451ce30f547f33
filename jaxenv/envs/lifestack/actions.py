"""The catalogue of actions: the meaning, cost and effects of each index, and the entries that are legal now.

Order: each verb on each route slot (verb by verb), inspecting each key slot, the five kinds of upkeep, waiting. The
effects of an entry that do not depend on its route or key form an activity, a row of `ACTIVITIES`.
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionCatalogue, ActionMask
from jaxenv.envs.lifestack.metrics import spread
from jaxenv.envs.lifestack.types import CENTS, Routes, Scenario, State
from jaxenv.lowering import bitsets
from jaxenv.lowering.lookup import read
from jaxenv.lowering.materialize import materialize


class Activity(NamedTuple):
    """The costs of a verb and its effects on the metrics."""

    time: float  # hours
    energy: float
    effects: Mapping[str, float]  # metric path -> change, before it spreads


_STRESS = "mental_wellbeing.stress_level"
_CLARITY = {"mental_wellbeing.clarity": 2}
_CARE = {_STRESS: -6, "mental_wellbeing.motivation": 4}
_ON_ROUTE = {  # in the order of the catalogue
    "communicate": Activity(0.5, 5, {}),
    "spend": Activity(0.5, 2, {_STRESS: -2}),
    "negotiate": Activity(1.5, 15, {"career.workload": -5, _STRESS: -2}),
    "delegate": Activity(1, 8, {}),
    "reschedule": Activity(1, 5, {"time.free_hours_per_week": 3}),
    "deprioritize": Activity(0.5, 3, {}),
    "rest": Activity(1, -15, {_STRESS: -8}),
    "plan": Activity(0.5, 3, _CLARITY),
    "prepare": Activity(0.5, 3, _CLARITY),
    "self_care": Activity(1, -5, _CARE),
    "execute": Activity(1, 8, {}),
    "wait": Activity(0, 0, {}),
}
_AS_UPKEEP = {
    "rest": {_STRESS: -12},
    "self_care": _CARE,
    "delegate": {"career.workload": -10, "relationships.professional_network": -5},
    "deprioritize": {"time.free_hours_per_week": 15, "relationships.social": -10},
    "communicate": {"relationships.romantic": 10, _STRESS: -5},
}
VERBS, UPKEEP = tuple(_ON_ROUTE), tuple(_AS_UPKEEP)
INSPECT, WAIT = "inspect", "wait"
SPEND = VERBS.index("spend")
NUM_VERBS = len(VERBS)  # at most 15, the bits of an int16: `Routes.required` and `State.marks`

Verb: TypeAlias = Literal[VERBS]  # pyright: ignore[reportInvalidTypeForm]
"""The type of a verb in documents."""

ACTIVITIES = (
    *_ON_ROUTE.values(),
    *(_ON_ROUTE[verb]._replace(effects=effects) for verb, effects in _AS_UPKEEP.items()),
    Activity(0.5, 0, {}),
    Activity(0, 0, {}),
)
"""A row for each verb on a route, each kind of upkeep, inspecting, and doing nothing."""

FIRST_UPKEEP = NUM_VERBS
INSPECTING = FIRST_UPKEEP + len(UPKEEP)
WAITING = INSPECTING + 1

TIME = np.array([activity.time * CENTS for activity in ACTIVITIES], np.int32)  # [activities] hundredths of an hour
ENERGY = np.array([activity.energy * CENTS for activity in ACTIVITIES], np.int32)  # [activities] hundredths
EFFECTS = np.stack([spread(activity.effects) for activity in ACTIVITIES])  # [activities, 23] int32, spread


@dataclasses.dataclass(frozen=True)
class Catalogue(ActionCatalogue):
    """The meaning of the indices, 118 with the default capacities; `table` has the columns activity, route and key."""

    routes: int
    keys: int

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 3] int32: the row of `ACTIVITIES`, the route, and the key that it inspects; 0 where it has none."""
        rows = [(verb, route, 0) for verb in range(NUM_VERBS) for route in range(self.routes)]
        rows += [(INSPECTING, 0, key) for key in range(self.keys)]
        rows += [(activity, 0, 0) for activity in (*range(FIRST_UPKEEP, INSPECTING), WAITING)]
        return np.array(rows, np.int32)


class Move(struct.PyTreeNode):
    """A decoded action; one that is not legal is a wait."""

    legal: jax.Array  # [] bool
    activity: jax.Array  # [] int32, row of `ACTIVITIES`
    route: jax.Array  # [] int32, 0 where on none
    key: jax.Array  # [] int32, 0 where it inspects none

    @property
    def on_route(self) -> jax.Array:
        """[] bool: the activity is a verb on the route."""
        return self.activity < NUM_VERBS


def find(catalogue: Catalogue, action: jax.Array) -> Move:
    """The entry of an index, taken to be legal where it is within the catalogue."""
    index = jnp.clip(action, 0, catalogue.size - 1)
    return Move(
        legal=index == action,
        activity=read(catalogue.table[:, 0], index),
        route=jax.lax.rem(index, np.int32(catalogue.routes)),
        key=read(catalogue.table[:, 2], index),
    )


def decode(entry: Move, state: State, scenario: Scenario, route: Routes) -> Move:
    """The move of an entry that was found, in a live state; `route` is the row of its route."""
    legal = materialize(entry.legal & is_legal(entry, state, scenario, route))
    return entry.replace(legal=legal, activity=jnp.where(legal, entry.activity, WAITING))


def is_legal(entry: Move, state: State, scenario: Scenario, route: Routes) -> jax.Array:
    """[] bool: the entry, which is within the catalogue, is in `legal_mask`."""
    time, energy = state.time - read(TIME, entry.activity), state.energy - read(ENERGY, entry.activity)
    here = jnp.arange(state.marks.shape[0], dtype=jnp.int32) == entry.route
    outstanding = jnp.where(open_routes(state, scenario), ~state.marks, 0)
    not_done = jnp.sum(jnp.where(here, outstanding, 0), dtype=state.marks.dtype)  # gathered, it would be dearer
    bit = jnp.left_shift(1, entry.activity)
    on_its_route = (payable(route, route.required & not_done, state.money) & bit) != 0
    on_its_route = on_its_route & (time >= route.time) & (energy >= route.energy)
    is_there = (entry.activity != INSPECTING) | (
        ((scenario.links.inspectable >> entry.key.astype(scenario.links.inspectable.dtype)) & 1) != 0
    )
    return jnp.where(entry.on_route, on_its_route, (time >= 0) & (energy >= 0) & is_there)


def open_routes(state: State, scenario: Scenario) -> jax.Array:
    """[R] bool: exist and are neither closed nor completed."""
    exists = jnp.arange(state.closed.shape[0], dtype=jnp.int8) < scenario.num_routes
    return exists & ~state.closed & ~state.completed


def outstanding_verbs(state: State, scenario: Scenario) -> jax.Array:
    """[R] int16, bit v: the route is open and requires verb v, which is still to be done."""
    return jnp.where(open_routes(state, scenario), scenario.routes.required & ~state.marks, 0)


def legal_mask(
    catalogue: Catalogue, state: State, scenario: Scenario, outstanding: jax.Array, has_ended: jax.Array
) -> ActionMask:
    """[A] bool: the legal actions of a live state, whatever the hidden facts are; all once it `has_ended` ([] bool).

    `outstanding` is [R] int16, `outstanding_verbs`.

    The requirements of an entry are complete before the entries are combined, so parts of them are words of bits.
    """
    others = legal_others(state)
    may_inspect = ((others >> INSPECTING) & 1) != 0
    keys = bitsets.flags(materialize(jnp.where(may_inspect, scenario.links.inspectable, 0)), catalogue.keys)
    rest = np.arange(FIRST_UPKEEP, INSPECTING, dtype=np.int32)
    on_routes = legal_on_routes(state, scenario, outstanding).ravel()
    parts = [on_routes, keys, ((others >> rest) & 1) != 0]
    return concatenate_masks(*parts, jnp.ones(1, bool)) | has_ended


def legal_on_routes(state: State, scenario: Scenario, outstanding: jax.Array) -> jax.Array:
    """[V, R] bool: the verb is outstanding on the route ([R] bits), and its cost is affordable.

    Money is paid with `spend`, or with the last verb of a route without it.
    """
    verb = np.arange(NUM_VERBS, dtype=np.int32)[:, None]
    bit = np.left_shift(1, verb)
    has_time = (state.time - scenario.routes.time)[None] >= TIME[:NUM_VERBS, None]
    has_energy = (state.energy - scenario.routes.energy)[None] >= ENERGY[:NUM_VERBS, None]
    verbs = payable(scenario.routes, outstanding, state.money)[None]

    def by_words(verbs: jax.Array, affordable: jax.Array) -> jax.Array:
        words = jnp.sum(jnp.where(affordable, verbs & bit, 0), axis=0, dtype=jnp.int32)
        return ((words[None] >> verb) & 1) != 0

    def directly(verbs: jax.Array, affordable: jax.Array) -> jax.Array:
        return affordable & ((verbs & bit) != 0)

    return jax.lax.platform_dependent(verbs, has_time & has_energy, cpu=by_words, default=directly)


def payable(routes: Routes, outstanding: jax.Array, money: jax.Array) -> jax.Array:
    """int32, bit v: verb v is outstanding and its money is there; of all routes ([R]) or of one ([])."""
    outstanding = outstanding.astype(jnp.int32)
    is_last = (outstanding & (outstanding - 1)) == 0
    spends = (routes.required & (1 << SPEND)) != 0
    paying = jnp.where(spends, 1 << SPEND, jnp.where(is_last, outstanding, 0))
    return outstanding & ~jnp.where(money < routes.money, paying, 0)


def legal_others(state: State) -> jax.Array:
    """[] int32, bit d: the time and energy of activity d are there, apart from any route."""
    bit = np.left_shift(1, np.arange(len(ACTIVITIES), dtype=np.int32))
    return jnp.sum(jnp.where((state.time >= TIME) & (state.energy >= ENERGY), bit, 0), dtype=jnp.int32)
