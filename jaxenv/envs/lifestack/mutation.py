"""Small edits of crises, for curricula that build on the crises that still teach something.

The plan of a crisis stays: which routes there are, what they need and bring, and what events do to them. Edits change
how it presses: time limit, budgets, prices, verbs, when events come and how likely they are, bad news, the disruption,
and what pays. After any number of edits of a drawn crisis nothing is decided before the first step, every event comes
before the last one, and the stakes are as they were.

Not promised is that an edited crisis can be won, which `generate` promises: with less slack the way out may be too long
or too dear, and bad news too bad. Some dead ends are none any more once there is more slack.
"""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import bitsets
from jaxenv.core.edits import Edit, among, edited, first_slots, put
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import Key
from jaxenv.envs.lifestack.actions import NUM_VERBS
from jaxenv.envs.lifestack.conditions import within
from jaxenv.envs.lifestack.generator import harm
from jaxenv.envs.lifestack.generator.costs import MONEY_STEP
from jaxenv.envs.lifestack.generator.life import DISTURBED, LEFT_AT_FIRST
from jaxenv.envs.lifestack.generator.rewards import tenths
from jaxenv.envs.lifestack.generator.schedule import LOOK_TIME
from jaxenv.envs.lifestack.metrics import better
from jaxenv.envs.lifestack.types import CENTS, MAX_ENERGY, NEVER, UNWRITTEN, Scenario

LEAST_STEPS, MOST_STEPS, MORE_STEPS = 3, 40, 2  # of a time limit, and how many more or fewer
LEAST_TIME, MOST_TIME, MORE_TIMES = CENTS, 40 * CENTS, 4  # of looks
MOST_MONEY, MORE_MONEY = 100 * MONEY_STEP, 3  # of prices
LEAST_ENERGY, MORE_ENERGY = 20 * CENTS, 10  # points
NEWS_POINTS, DISRUPTION_POINTS = 10, 5  # of harm to a metric


def mutate(key: Key, crisis: Scenario) -> Scenario:
    """The crisis after one edit of `EDITS`; its links stay as they are."""
    return edited(key, jax.tree.map(jnp.asarray, crisis), EDITS)


# Slack -------------------------------------------------------------------------------------------------------


def always(crisis: Scenario) -> jax.Array:
    """[1] bool: True."""
    return jnp.ones(1, bool)


def move_deadline(crisis: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """The deadline and the horizon are up to two steps earlier or later, behind every event."""
    step, last = crisis.events.step.astype(jnp.int32), _last_step(crisis)
    least = jnp.maximum(jnp.max(jnp.where(step == NEVER, 0, step)) + 1, LEAST_STEPS)
    by = _another(last, _nonzero(u[0], MORE_STEPS), least, jnp.maximum(MOST_STEPS, last)) - last
    deadline = jnp.where(crisis.deadline == NEVER, NEVER, crisis.deadline.astype(jnp.int32) + by)
    return crisis.replace(
        deadline=deadline.astype(jnp.int16), horizon=(crisis.horizon.astype(jnp.int32) + by).astype(jnp.int16)
    )


def give_time(crisis: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """There is more time, or less, by up to four looks."""
    by = LOOK_TIME * _nonzero(u[0], MORE_TIMES)
    return crisis.replace(time=_another(crisis.time, by, LEAST_TIME, jnp.maximum(MOST_TIME, crisis.time)))


def give_money(crisis: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """There is more money, or less."""
    by = MONEY_STEP // 2 * _nonzero(u[0], 2 * MORE_MONEY)
    return crisis.replace(money=_another(crisis.money, by, 0, jnp.maximum(MOST_MONEY, crisis.money)))


def give_energy(crisis: Scenario, place: jax.Array, u: jax.Array) -> Scenario:
    """There is more energy at first, or less."""
    by = CENTS * _nonzero(u[0], MORE_ENERGY)
    return crisis.replace(energy=_another(crisis.energy, by, LEAST_ENERGY, MAX_ENERGY))


# Routes ------------------------------------------------------------------------------------------------------


def route_exists(crisis: Scenario) -> jax.Array:
    """[R] bool."""
    return first_slots(crisis.num_routes, crisis.routes.money.size)


def price_route(crisis: Scenario, route: jax.Array, u: jax.Array) -> Scenario:
    """A route costs more money, or less."""
    price = crisis.routes.money[route]
    by = MONEY_STEP * _nonzero(u[0], MORE_MONEY)
    money = _another(price, by, 0, jnp.maximum(MOST_MONEY, price))
    return crisis.replace(routes=crisis.routes.replace(money=put(crisis.routes.money, route, money)))


def change_verb(crisis: Scenario, route: jax.Array, u: jax.Array) -> Scenario:
    """A route asks for another verb in the place of one that it asked for."""
    required = crisis.routes.required
    asked = bitsets.flags(required[route].astype(jnp.uint16), NUM_VERBS)
    verb = np.arange(NUM_VERBS, dtype=np.int32)
    old, new = among(asked, u[0]), among(~asked, u[1])
    asked = bitsets.of_flags((asked & (verb != old)) | (verb == new))
    return crisis.replace(routes=crisis.routes.replace(required=put(required, route, asked)))


def can_change_verb(crisis: Scenario) -> jax.Array:
    """[R] bool: routes that ask for some verbs, and not for all."""
    every = np.int16(2**NUM_VERBS - 1)
    return route_exists(crisis) & (crisis.routes.required != 0) & (crisis.routes.required != every)


def can_exchange_rewards(crisis: Scenario) -> jax.Array:
    """[R] bool: routes that pay otherwise than some other one."""
    pays, exists = crisis.routes.reward, route_exists(crisis)
    return exists & jnp.any((pays[:, None] != pays[None]) & exists[None], axis=1)


def exchange_rewards(crisis: Scenario, route: jax.Array, u: jax.Array) -> Scenario:
    """Two routes have each other's rewards."""
    pays = crisis.routes.reward
    two = among(route_exists(crisis) & (pays != pays[route]), u[0])
    pays = pays.at[route].set(pays[two]).at[two].set(pays[route])
    return crisis.replace(routes=crisis.routes.replace(reward=pays))


# Events ------------------------------------------------------------------------------------------------------


def can_move_event(crisis: Scenario) -> jax.Array:
    """[X] bool: events that come at a certain step, and are not drawn at reset."""
    step = crisis.events.step
    return (step > 0) & (step != NEVER) & (_last_step(crisis) > 2)


def move_event(crisis: Scenario, event: jax.Array, u: jax.Array) -> Scenario:
    """An event comes a step earlier or later."""
    steps = crisis.events.step
    step = _another(steps[event].astype(jnp.int32), _nonzero(u[0], 1), 1, _last_step(crisis) - 1)
    return crisis.replace(events=crisis.events.replace(step=put(steps, event, step)))


def can_doubt_event(crisis: Scenario) -> jax.Array:
    """[X] bool: of those, events that may stay away."""
    return can_move_event(crisis) & (crisis.events.probability < 1)


def doubt_event(crisis: Scenario, event: jax.Array, u: jax.Array) -> Scenario:
    """An event that may stay away is more likely, or less."""
    chances = crisis.events.probability
    return crisis.replace(events=crisis.events.replace(probability=put(chances, event, tenths(u[0], 1, 9))))


def is_bad_news(crisis: Scenario) -> jax.Array:
    """[X] bool: events that do harm to metrics, and nothing else."""
    events = crisis.events
    does_harm = jnp.any(events.effects != 0, axis=1) & (events.step != NEVER)
    return does_harm & ~jnp.any(events.writes != UNWRITTEN, axis=1) & (events.closes == 0)


def change_news(crisis: Scenario, event: jax.Array, u: jax.Array) -> Scenario:
    """The bad news is about another metric, or better or worse."""
    news = harm.of(harm.drawn(u[0], DISTURBED), as_integer(u[1], 1, NEWS_POINTS)) * harm.SIGN
    return crisis.replace(events=crisis.events.replace(effects=put(crisis.events.effects, event, news)))


# The disruption ----------------------------------------------------------------------------------------------


def can_disrupt(crisis: Scenario) -> jax.Array:
    """[23] bool: metrics of which more harm leaves all of them well enough, and fails nothing."""
    after = better(crisis.metrics)[None] - _harm()
    metrics = better(after)  # which is its own inverse
    fails = bitsets.flags(crisis.failure.bounds[0], crisis.bounds.metric.size)
    has_failed = jax.vmap(lambda metrics: jnp.any(within(crisis.bounds, metrics) & fails))(metrics)
    return jnp.all(after >= LEFT_AT_FIRST, axis=1) & ~has_failed


def disrupt(crisis: Scenario, metric: jax.Array, u: jax.Array) -> Scenario:
    """The disruption does more harm to a metric, and to those that it spreads to."""
    return crisis.replace(metrics=better(better(crisis.metrics) - _harm()[metric]))


def can_relieve(crisis: Scenario) -> jax.Array:
    """[23] bool: metrics of which less harm leaves none better than before the disruption."""
    return jnp.all(better(crisis.metrics)[None] + _harm() <= harm.FIRST_WELL[None], axis=1)


def relieve(crisis: Scenario, metric: jax.Array, u: jax.Array) -> Scenario:
    """The disruption does less harm to a metric, and to those that it spreads to."""
    return crisis.replace(metrics=better(better(crisis.metrics) + _harm()[metric]))


EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "move deadline": Edit(always, move_deadline),
        "give time": Edit(always, give_time),
        "give money": Edit(always, give_money),
        "give energy": Edit(always, give_energy),
        "price route": Edit(route_exists, price_route),
        "change verb": Edit(can_change_verb, change_verb),
        "exchange rewards": Edit(can_exchange_rewards, exchange_rewards),
        "move event": Edit(can_move_event, move_event),
        "doubt event": Edit(can_doubt_event, doubt_event),
        "change news": Edit(is_bad_news, change_news),
        "disrupt": Edit(can_disrupt, disrupt),
        "relieve": Edit(can_relieve, relieve),
    }
)
"""Name -> edit; each is as likely as any other that can be made."""


# What they share ---------------------------------------------------------------------------------------------


def _last_step(crisis: Scenario) -> jax.Array:
    """[] int32: by which a crisis is over."""
    return jnp.minimum(crisis.deadline, crisis.horizon).astype(jnp.int32)


def _nonzero(u: jax.Array, most: int) -> jax.Array:
    """[] int32: a number of -most .. most that is not 0."""
    drawn = as_integer(u, 1, 2 * most)
    return jnp.where(drawn <= most, drawn, most - drawn)


def _another(value: jax.Array, by: jax.Array, least: jax.Array | int, most: jax.Array | int) -> jax.Array:
    """The value (int32) moved by an amount, or the other way where it would leave its range, or else not at all."""
    one, other = value + by, value - by
    moved = jnp.where((least <= one) & (one <= most), one, other)
    return jnp.where((least <= moved) & (moved <= most), moved, value)


def _harm() -> jax.Array:
    """[23, 23] int32: what harm to each metric does."""
    return jnp.asarray(harm.HARM[:, DISRUPTION_POINTS])
