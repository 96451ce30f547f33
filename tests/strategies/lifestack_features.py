"""What a crisis of LifeStack makes use of, read from its arrays: of documents and of drawn ones alike."""

import numpy as np

from jaxenv.envs.lifestack.actions import ENERGY, VERBS
from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, HOPS, METRICS, UNIT, better, cascade
from jaxenv.envs.lifestack.types import ABSENT, EVERY_STEP, MAX_ENERGY, NEVER, UNKNOWN, UNWRITTEN
from jaxenv.lowering import bitsets
from strategies.lifestack_combinations import combinations
from strategies.scenario_features import counts, used_fields

LONG, LONGER = 14, 20  # steps of a horizon
SOURCE = 0.05  # points of a metric's change that are taken for a change of its own, not for what spreads


def features(found):
    """{feature: [N] bool} of N crises, as NumPy arrays."""
    return {
        **used_fields(found, skip=("links",)),
        **_counts(found),
        **_of_metrics(found),
        **_of_routes(found),
        **_of_facts(found),
        **_of_events(found),
        **_of_needs(found),
        **_of_rewards(found),
        **combinations(found),
    }


def sources(effects):
    """[..., 23] bool: the metrics that changes ([..., 23] int32, spread) begin with."""
    weights = cascade() / 1000.0**HOPS
    return (
        np.abs(np.linalg.solve(weights, effects.reshape(-1, len(METRICS)).T).T).reshape(effects.shape) > SOURCE * UNIT
    )


def _counts(found):
    """How many there are of each, and the ranges of what is measured in numbers."""
    length, verbs = chain(found), np.bitwise_count(found.routes.required).max(1)
    return {
        **counts("routes", found.num_routes),
        **counts("milestones", found.num_milestones),
        **counts("events", (found.events.step != NEVER).sum(1)),
        **counts("members of success", found.num_success),
        **counts("bounds", found.num_bounds),
        **counts("routes one behind the other", length),
        **counts("verbs of a route, at most", verbs),
        f"a horizon up to {LONG}": found.horizon <= LONG,
        f"a horizon of {LONG + 1} to {LONGER}": (found.horizon > LONG) & (found.horizon <= LONGER),
        f"a horizon above {LONGER}": found.horizon > LONGER,
        "a deadline": found.deadline != NEVER,
        "steps behind the deadline": found.horizon > found.deadline,
    }


def chain(found):
    """[N] how many routes stand between the start and success, one behind the other."""
    gives = found.links.gives != 0
    level = bitsets.flags(found.links.meet_success, gives.shape[1]).any(1) & exists(found)
    count = np.zeros(len(level), int)
    while level.any() and count.max() < gives.shape[1]:  # routes may give in a ring
        count += level.any(1)
        level = (gives & level[:, None, :]).any(2)
    return count


def exists(found):
    """[N, R] bool: routes."""
    return np.arange(found.routes.required.shape[1]) < found.num_routes[:, None]


def _of_metrics(found):
    """Metrics by what happens to them, and bounds by metric, side and use."""
    result, bounds = {}, found.bounds
    disturbed, hit = sources(found.metrics - FIRST), sources(found.events.effects)
    moved = sources(found.routes.effects)
    several = {"disruption": disturbed.sum(1), "an event": hit.sum(2).max(1), "a route": moved.sum(2).max(1)}
    for name, number in several.items():
        result[f"several metrics changed by {name}"] = number > 1
    better_off = better(found.routes.effects) - better(np.zeros_like(found.routes.effects))
    for n, path in enumerate(METRICS):
        result[f"disruption of {path}"] = disturbed[:, n]
        result[f"event on {path}"] = hit[:, :, n].any(1)
        result[f"route that helps {path}"] = (moved & (better_off > 0))[:, :, n].any(1)
        result[f"route that hurts {path}"] = (moved & (better_off < 0))[:, :, n].any(1)
    for use, sets in enumerate(("success", "failure", "a milestone", "a precondition")):
        for n, path in enumerate(METRICS):
            in_use = bitsets.flags(found.links.bound_uses[:, use], bounds.metric.shape[1]) & (bounds.metric == n)
            result[f"{sets} if {path} is high"] = (in_use & (bounds.high == HIGHEST)).any(1)
            result[f"{sets} if {path} is low"] = (in_use & (bounds.high < HIGHEST)).any(1)
    return result


def _of_routes(found):
    """What routes ask, cost, and do to each other."""
    routes, here = found.routes, exists(found)
    closes = bitsets.flags(routes.closes, here.shape[1])
    mutual = closes & np.swapaxes(closes, 1, 2)
    gives, writes = found.links.gives != 0, routes.writes != UNWRITTEN
    needed, required = (routes.order > 0).sum(2), bitsets.flags(routes.required, len(VERBS))
    any_of = np.bitwise_count(routes.preconditions)
    same = (routes.writes[:, :, None] == routes.writes[:, None]) & writes[:, :, None] & writes[:, None]
    ways = same.any(3) & ~np.eye(here.shape[1], dtype=bool)[None]
    on_way = gives.any(2) | bitsets.flags(found.links.meet_success, here.shape[1]).any(1)
    asked = (routes.order > 0).any(1) | (found.success.facts != 0).any(2)
    serving = np.bitwise_count(found.links.gives).astype(int)  # [N, R, R] keys
    spends = required[..., VERBS.index("spend")]
    return {
        **{f"a route that asks for {verb}": required[..., n].any(1) for n, verb in enumerate(VERBS)},
        **counts("preconditions of a route, at most", needed.max(1) + (routes.bound_order > 0).sum(2).max(1)),
        "a precondition that several values satisfy": (any_of > 1).any((1, 2)),
        "a route that needs what two others bring": ((serving > 0) & ~ways).sum(1).max(1) > 1,
        "several ways to the same fact": ways.any((1, 2)),
        "routes that close each other": mutual.any((1, 2)),
        "three routes that close each other": (mutual.sum(2) > 1).any(1),
        "a route that closes another for nothing in return": (closes & ~mutual).any((1, 2)),
        "a route that brings what is needed and closes what follows": (on_way[..., None] & closes & ~mutual).any(
            (1, 2)
        ),
        "a route that brings several facts": (writes.sum(2) > 1).any(1),
        "a route beside the way": (here & ~(writes & asked[:, None]).any(2)).any(1),
        "a route without a reward": (here & (routes.reward == 0)).any(1),
        "money without a spend": (here & (routes.money > 0) & ~spends).any(1),
        "money with a spend": (here & (routes.money > 0) & spends).any(1),
        "a spend without money": (here & (routes.money == 0) & spends).any(1),
        "more asked for than there is money": (routes.money.sum(1) > found.money) & (routes.money > 0).any(1),
        "one milestone unlocked by several routes": _shared(routes.unlocks, found.milestone_reward.shape[1]),
    }


def _shared(sets, size):
    return (bitsets.flags(sets, size).sum(1) > 1).any(1)


def _of_facts(found):
    """Facts by home, use and values."""
    size, routes, events = found.facts.shape[1], found.routes, found.events
    key = np.arange(size) < found.num_keys[:, None]
    shown, inspectable = bitsets.flags(found.shown, size), bitsets.flags(found.links.inspectable, size)
    by_event, by_route = (events.writes != UNWRITTEN).any(1), (routes.writes != UNWRITTEN).any(1)
    hidden = key & (found.known == UNKNOWN) & ~shown
    uses = {
        name: bitsets.flags(found.links.key_uses[:, n], size)
        for n, name in enumerate(("success", "failure", "milestone", "precondition"))
    }
    values = np.maximum(np.maximum(routes.writes.max(1), events.writes.max(1)), found.facts)
    alternatives = (found.success.facts != 0).sum(1).max(1)
    return {
        **{f"a fact in a condition of {name}": has.any(1) for name, has in uses.items()},
        **counts("values of a key, at most", values.max(1)),
        **counts("keys of an alternative of success", alternatives),
        "success if one of several values": (np.bitwise_count(found.success.facts) > 1).any((1, 2)),
        "a hidden fact that is needed": (hidden & uses["precondition"]).any(1),
        "a hidden fact that changes nothing": (hidden & ~uses["precondition"] & ~by_event).any(1),
        "a fact that shows and events change": (shown & by_event).any(1),
        "a fact that shows and routes change": (shown & by_route).any(1),
        "a fact that events and routes change": (by_event & by_route & key).any(1),
        "a fact of the world that is there at first": (key & inspectable & ~hidden & (found.facts != ABSENT)).any(1),
        "a fact that is absent at first": (key & (found.facts == ABSENT)).any(1),
        "a milestone that any value meets": (np.bitwise_count(found.milestones.codes) > 1).any(1),
    }


def _of_events(found):
    """Events by when they come and what they do; `sure` ones have probability 1."""
    events = found.events
    here = events.step != NEVER
    silent = bitsets.flags(found.silent, here.shape[1])
    kinds = {
        "closes a route": events.closes != 0,
        "changes a fact": (events.writes != UNWRITTEN).any(2),
        "changes a metric": (events.effects != 0).any(2),
    }
    times = {
        "at reset": here & (events.step == 0),
        "at any step": here & (events.step == EVERY_STEP),
        "later": here & (events.step > 0) & (events.step < NEVER),
    }
    sure = events.probability == 1
    result = {
        f"an event {time} that {what}, {'surely' if certain else 'perhaps'}": (is_then & does & (sure == certain)).any(
            1
        )
        for time, is_then in times.items()
        for what, does in kinds.items()
        for certain in (True, False)
    }
    writes = events.writes != UNWRITTEN
    return {
        **result,
        "a silent event at reset": (silent & times["at reset"]).any(1),
        "a silent event later": (silent & times["later"]).any(1),
        "an event that closes a route and changes a metric": (kinds["closes a route"] & kinds["changes a metric"]).any(
            1
        ),
        "an event that changes a fact and a metric": (kinds["changes a fact"] & kinds["changes a metric"]).any(1),
        "several events that write one fact": (writes.sum(1) > 1).any(1),
        "several events that close routes": kinds["closes a route"].sum(1) > 1,
        "several events at one step": _twice(np.where(times["later"], events.step, -1)),
    }


def _twice(steps):
    ordered = np.sort(steps, axis=1)
    return ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0)).any(1)


def _of_needs(found):
    """What must be looked after: metrics that would collapse, bounds that do not hold, energy, time and money."""
    zero = better(np.zeros_like(found.metrics))
    hurt = np.minimum(better(found.events.effects) - zero[:, None], 0).sum(1)
    last, metric = better(found.metrics) + hurt, found.bounds.metric.astype(int)
    value = np.take_along_axis(found.metrics, metric, 1)
    holds = (found.bounds.low <= value) & (value <= found.bounds.high)
    uses = [bitsets.flags(found.links.bound_uses[:, n], metric.shape[1]) for n in range(4)]
    asked = np.where(exists(found), _energy(found.routes), 0)
    return {
        "burnout unless something is done": (last <= 0).any(1),
        "a metric that falls below 20 unless something is done": (
            (last < 20 * UNIT) & (better(found.metrics) >= 20 * UNIT)
        ).any(1),
        "a metric below 20 at first": (better(found.metrics) < 20 * UNIT).any(1),
        "a bound of success that does not hold at first": (uses[0] & ~holds).any(1),
        "a bound of success that holds at first": (uses[0] & holds).any(1),
        "a bound of a precondition that does not hold at first": (uses[3] & ~holds).any(1),
        "a bound of a precondition that holds at first": (uses[3] & holds).any(1),
        "less energy than 60": found.energy < 60 * MAX_ENERGY // 100,
        "less energy than all routes ask": found.energy < asked.sum(1),
        "fewer hours than steps": found.time < 100 * np.minimum(found.deadline, found.horizon),
    }


def _energy(routes):
    """[N, R] int: what all verbs of each route take of it, without those that give some back."""
    required = bitsets.flags(routes.required, len(VERBS))
    return (required * np.maximum(ENERGY[: len(VERBS)] + routes.energy[..., None].astype(int), 0)).sum(2)


def _of_rewards(found):
    """Where the rewards lie; of milestones by whether they are locked."""
    here, size = exists(found), found.milestone_reward.shape[1]
    milestone = np.arange(size) < found.num_milestones[:, None]
    locked = bitsets.flags(found.locked, size)
    last = bitsets.flags(found.links.meet_success, here.shape[1]).any(1) & here
    total = found.routes.reward.sum(1) + found.milestone_reward.sum(1)
    at_last = np.where(last, found.routes.reward, 0).max(1)
    beside = np.where(here & ~last, found.routes.reward, 0).max(1)
    of_last = bitsets.flags(found.links.meet_milestone, here.shape[1]) & last[:, None]
    return {
        "a milestone that is locked": (locked & milestone).any(1),
        "a milestone that is open": (milestone & ~locked).any(1),
        "a milestone that success brings": of_last.any((1, 2)),
        "a milestone on the way": (milestone & ~of_last.any(2)).any(1),
        "a route that pays at least 1.5": (found.routes.reward >= 1.5).any(1),
        "a milestone that pays at least 1": (found.milestone_reward >= 1).any(1),
        "most of the reward of routes with the last one": (at_last > 0.75 * (at_last + beside)) & (beside > 0),
        "what wins pays best": at_last > beside,
        "something beside it pays as well": (beside >= at_last) & (beside > 0),
        "little to be had": total < 4,
        "much to be had": total >= 6,
    }
