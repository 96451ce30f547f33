"""What parts of a crisis of LifeStack ask for together: rival ways, doors, shortcuts and goals that cost something."""

import jax
import numpy as np

from jaxenv.envs.lifestack.actions import TIME, VERBS
from jaxenv.envs.lifestack.metrics import UNIT, better
from jaxenv.envs.lifestack.types import CENTS, IN_FAILURE, IN_PRECONDITION, IN_SUCCESS, NEVER, UNKNOWN, UNWRITTEN
from jaxenv.lowering import bitsets

NEAR = 6  # steps between two doors
MUCH = 3 * UNIT  # of what a route does to a metric
NO_WAY = 10**9


def combinations(found):
    """{feature: [N] bool} of N crises, as NumPy arrays."""
    return {**_of_rivals(found), **_of_doors(found), **_of_shortcuts(found), **_of_changes(found)}


def _exists(found):
    return np.arange(found.routes.required.shape[1]) < found.num_routes[:, None]


def _hidden(found):
    """[N, K] bool: keys that are hidden."""
    size = found.facts.shape[1]
    shown = bitsets.flags(found.shown, size) | ~bitsets.flags(found.links.inspectable, size)
    by_world_event = (found.events.writes != UNWRITTEN).any(1) & (found.routes.writes != UNWRITTEN).any(1)
    return (found.known == UNKNOWN) & ~shown & ~by_world_event


def _has(sets, codes):
    """bool: whether each code is in each set; absent tables have none."""
    return ((sets.astype(int) >> np.maximum(codes, 0)) & 1 != 0) & (codes >= 0)


def _gives(found):
    return found.links.gives != 0


# ---------------------------------------------------------------------------------------------- rival ways


def _of_rivals(found):
    """Routes that close each other, bring the same fact, and that no hidden fact decides between."""
    routes = found.routes
    closes = bitsets.flags(routes.closes, routes.required.shape[1])
    writes = routes.writes != UNWRITTEN
    rivals = closes & np.swapaxes(closes, 1, 2) & (writes[:, :, None] & writes[:, None]).any(3)
    rests = (routes.order > 0) & _hidden(found)[:, None]
    is_decided = rests.any(2) | (_gives(found) & rests.any(2)[:, None]).any(2)  # of itself, or of what follows
    rivals = rivals & ~is_decided[:, :, None] & ~is_decided[:, None]
    hours = np.where(_exists(found), _hours(routes), 0)
    costs = {"money": (routes.money, found.money), "hours": (hours, found.time)}
    allows = {name: _differs(found, rivals, cost, budget) for name, (cost, budget) in costs.items()}
    harms = _harms(found, rivals)
    alike = rivals.any((1, 2)) & ~allows["money"] & ~allows["hours"] & ~harms
    return {
        "rivals that no hidden fact decides between": rivals.any((1, 2)),
        "rivals of which either will do": alike,
        **{f"rivals of which {name} covers one": has for name, has in allows.items()},
        "rivals of which one harms what is bounded": harms,
    }


def _hours(routes):
    """[N, R] int: of all verbs."""
    required = bitsets.flags(routes.required, len(VERBS))
    return (required * (TIME[: len(VERBS)] + routes.time[..., None].astype(int))).sum(2)


def _differs(found, rivals, cost, budget):
    """[N] bool: of some pair of rivals one way can be paid to its end, and the other cannot."""
    some = np.flatnonzero(rivals.any((1, 2)))
    part, cost, budget = jax.tree.map(lambda leaf: leaf[some], (found, cost, budget))
    least = np.stack([_least(part, cost, n) for n in range(cost.shape[1])], 1)  # without rival n
    within = least <= budget[:, None]
    result = np.zeros(len(rivals), bool)
    result[some] = (rivals[some] & within[:, :, None] & ~within[:, None]).any((1, 2))
    return result


def _least(found, cost, left_out):
    """[N] int: the least that success costs without one of the routes; NO_WAY where there is none."""
    routes = found.routes
    usable = _exists(found) & (np.arange(cost.shape[1]) != left_out)
    total = np.where(usable, cost.astype(np.int64), NO_WAY)
    for _ in range(cost.shape[1]):
        needs = sum(
            np.where(routes.order[:, :, k] > 0, _cheapest(found, total, routes.preconditions[:, :, k], k), 0)
            for k in range(found.facts.shape[1])
        )
        total = np.where(usable, np.minimum(cost + needs, NO_WAY), NO_WAY)
    ways = np.stack(
        [_cheapest(found, total, found.success.facts[:, k], k) for k in range(found.facts.shape[1])], 2
    )  # [N, S, K]
    ways = np.where(np.swapaxes(found.success.facts, 1, 2) != 0, ways, NO_WAY).min(2)
    asked = (found.success.facts != 0).any(1) & (found.success.bounds == 0)
    return np.where(asked, ways, 0).sum(1)


def _cheapest(found, total, sets, key):
    """[N, C] int: the least that it costs to have the key in each of the sets ([N, C])."""
    holds = _has(sets, found.facts[:, None, key]) | _has(sets[:, None], found.events.writes[:, :, None, key]).any(1)
    brings = _has(sets[:, None], found.routes.writes[:, :, None, key])  # [N, R, C]
    return np.where(holds, 0, np.where(brings, total[:, :, None], NO_WAY).min(1))


def _harms(found, rivals):
    """[N] bool: of some pair of rivals one alone does harm to a metric that success or failure bounds."""
    well = better(found.routes.effects) - better(np.zeros_like(found.routes.effects))
    metric = found.bounds.metric.astype(int)
    used = np.stack([bitsets.flags(found.links.bound_uses[:, n], metric.shape[1]) for n in (IN_SUCCESS, IN_FAILURE)])
    moved = np.take_along_axis(well, np.repeat(metric[:, None], well.shape[1], 1), 2)  # [N, R, B]
    harmed = (moved <= -MUCH) & used.any(0)[:, None]
    return (rivals & (harmed[:, :, None] & (moved >= 0)[:, None]).any(3)).any((1, 2))


# --------------------------------------------------------------------------------------------------- doors


def _later(found):
    return (found.events.step > 0) & (found.events.step != NEVER)


def _leads_to(found):
    """[N, R, R] bool: the row is needed by the column, at once or through others."""
    gives = _gives(found) & _exists(found)[:, :, None]
    reach = gives
    for _ in range(gives.shape[1]):
        reach = reach | (reach[:, :, :, None] & gives[:, None]).any(2)
    return reach


def _of_doors(found):
    """Hidden doors, windows, and doors on branches."""
    events, routes = found.events, found.routes
    asks = np.where(routes.order > 0, routes.preconditions, 0)  # [N, R, K]
    first = _has(asks, found.facts[:, None])
    writes = np.where(_later(found)[..., None], events.writes, UNWRITTEN)
    violates = (writes[:, :, None] != UNWRITTEN) & (asks != 0)[:, None] & ~_has(asks[:, None], writes[:, :, None])
    sure = (events.probability == 1)[..., None, None]
    hidden = _hidden(found)[:, None, None]
    satisfies = _has(asks[:, None], writes[:, :, None])  # [N, X, R, K]
    step = events.step.astype(int)
    after = step[:, :, None] > step[:, None]  # the row comes after the column
    ends = violates[:, :, None] & satisfies[:, None] & ~first[:, None, None]

    shuts = bitsets.flags(events.closes, asks.shape[1]) & _later(found)[..., None] | violates.any(3)  # [N, X, R]
    leads = _leads_to(found)
    apart = ~leads & ~np.swapaxes(leads, 1, 2) & ~np.eye(leads.shape[1], dtype=bool) & ~_same(found)
    branches = apart & (leads[:, :, None] & leads[:, None]).any(3)  # [N, R, R] needed by one route, not by each other
    near = (np.abs(step[:, :, None] - step[:, None]) <= NEAR) & ~np.eye(step.shape[1], dtype=bool)
    pairs = (shuts[:, :, None, :, None] & shuts[:, None, :, None] & near[..., None, None]).any((1, 2))
    return {
        "a hidden fact that is needed, true at first and surely false later": (
            violates & first[:, None] & sure & hidden
        ).any((1, 2, 3)),
        "a fact that is needed, which events turn on and off again": (ends & after[..., None, None]).any((1, 2, 3, 4)),
        "a door on one of two branches": (shuts.any(1)[:, :, None] & branches).any((1, 2)),
        "two doors near to each other on two branches": (pairs & branches).any((1, 2)),
    }


def _same(found):
    """[N, R, R] bool: both bring the same key, so that they are ways to one thing."""
    writes = found.routes.writes != UNWRITTEN
    return (writes[:, :, None] & writes[:, None]).any(3)


# ----------------------------------------------------------------------------------- shortcuts and changes


def _of_shortcuts(found):
    """Routes that bring good and harm at once."""
    writes = found.routes.writes
    fails = _has(found.failure.facts[:, None, :, 0], writes).any(2)
    effects = better(found.routes.effects) - better(np.zeros_like(found.routes.effects))
    size = found.bounds.metric.shape[1]
    moved = np.take_along_axis(effects, np.repeat(found.bounds.metric[:, None].astype(int), writes.shape[1], 1), 2)
    uses = [
        bitsets.flags(found.links.bound_uses[:, n], size)[:, None] for n in (IN_SUCCESS, IN_PRECONDITION, IN_FAILURE)
    ]
    helps, harms = (moved >= MUCH) & (uses[0] | uses[1]), (moved <= -MUCH) & uses[2]
    return {
        "a route that brings what is needed and what is failure": (fails & _gives(found).any(2)).any(1),
        "a route that helps what is asked for and harms what is feared": (helps.any(2) & harms.any(2)).any(1),
    }


def _of_changes(found):
    """Events that undo what a route brought, and little energy with them."""
    events, routes = found.events, found.routes
    asks = np.where(routes.order > 0, routes.preconditions, 0)
    brings = _has(asks[:, None], routes.writes[:, :, None]) & (routes.writes != UNWRITTEN)[:, :, None]  # [N, R, R, K]
    needed = brings.any(1)  # [N, R, K]
    writes = np.where(_later(found)[..., None], events.writes, UNWRITTEN)
    undoes = (writes[:, :, None] != UNWRITTEN) & needed[:, None] & ~_has(asks[:, None], writes[:, :, None])
    shown = bitsets.flags(found.shown, found.facts.shape[1])[:, None, None]
    perhaps = (events.probability < 1)[..., None, None]
    undone = (undoes & shown & perhaps).any((1, 2, 3))
    return {
        "an event that may undo what a route brought, and shows": undone,
        "an event that may undo what a route brought, and less energy than 60": undone & (found.energy < 60 * CENTS),
    }
