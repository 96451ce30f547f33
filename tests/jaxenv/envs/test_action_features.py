"""What networks are told of every action, worked out entry by entry in plain Python along random play."""

import itertools

import jax
import numpy as np
import pytest

import jaxenv
from jaxenv import masking
from jaxenv.envs.lifeops import actions as day
from jaxenv.envs.lifeops.types import FOCUS, VISIBLE_REQUESTS
from jaxenv.envs.lifestack import actions as crisis
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, UNIT
from jaxenv.envs.lifestack.outlook import summarize_routes
from jaxenv.envs.lifestack.types import CENTS, UNKNOWN
from jaxenv.envs.teamsclone import actions as chat
from jaxenv.envs.teamsclone.dynamics import QUIET, SPAM_RUN, SPAM_SENDS, TIMELY
from jaxenv.envs.teamsclone.types import TEMPLATES
from jaxenv.wrappers import Vectorize

ENVS, STEPS = 16, 24


def played(id, of):
    """What `of(env, params)` tells of the observations of random play, NumPy, one a row of a list."""
    env, params = jaxenv.make(id)
    vector = Vectorize(env, ENVS)
    keys = jax.random.split(jax.random.key(7), STEPS)
    observation, state = jax.jit(vector.reset)(keys[0], params)
    draw, step = jax.jit(jax.vmap(masking.sample_uniform)), jax.jit(vector.step)
    tell = jax.jit(jax.vmap(of(env, params)))
    rows = []
    for key in keys:
        told = jax.tree.map(np.asarray, tell(observation))
        rows += [jax.tree.map(lambda x, i=i: x[i], told) for i in range(ENVS)]
        action = draw(jax.random.split(key, ENVS), observation.action_mask)
        observation, state, *_ = step(key, state, action, params)
    return env, rows


@pytest.mark.parametrize("id", ["LifeOps-v0", "LifeOps-Shaped-v0"])
def test_those_of_a_day(id):
    env, rows = played(id, lambda env, params: lambda o: (o, env.entities(o, params).actions))
    told = np.zeros(10, bool)
    for o, found in rows:
        expected = np.array([action_of_day(env.catalogue, o, index) for index in range(env.num_actions)])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        told |= np.any(found != 0, axis=0)
    assert told.all()


def action_of_day(catalogue, o, index):
    if not o.action_mask[index]:
        return np.zeros(10)
    verb, _, minutes, is_relative, duration = catalogue.table[index].tolist()
    request = jax.tree.map(lambda column: int(column[0]), o.requests)
    start = minutes + is_relative * request.start
    if verb == day.BLOCK_FOCUS:
        end, place, kind = min(start + duration, 1440), int(o.persona.work_place), FOCUS
    else:
        length = request.end - request.start
        start = min(max(start, 0), 1440 - length)
        end, place, kind = start + length, request.place, request.kind
    calendar = [
        tuple(map(int, event))
        for event in zip(o.calendar.start, o.calendar.end, o.calendar.place, o.event_exists, strict=True)
        if event[3]
    ]
    with_it = sorted([*calendar, (start, end, place, 1)], key=lambda event: event[:2])
    added = sum(start < event[1] and event[0] < end for event in calendar)
    first_way = int(o.travel[o.persona.home, with_it[0][2]] > with_it[0][0])
    issues = tight_legs(with_it, o.travel) + first_way
    clean = o.overlaps + added == 0 and issues == 0
    adds = verb not in (day.REJECT, day.PROPOSE)
    meets = verb != day.REJECT and kind != FOCUS
    p = o.persona
    broken = int(start < p.window_start or end > p.window_end) + int(start < p.avoid_before) + int(end > p.avoid_after)
    return [
        1,
        adds * min(added, 3),
        adds * (issues - tight_legs(calendar, o.travel)),
        meets * broken,
        meets and broken == 0,
        adds and clean,
        verb == day.PROPOSE and clean,
        *(
            adds and o.request_exists[i] and start < o.requests.end[i] and o.requests.start[i] < end
            for i in range(1, VISIBLE_REQUESTS)
        ),
        min(duration, next((minutes for minutes in o.tasks.minutes if minutes), 0)) / 60,
    ]


def tight_legs(calendar, travel):
    legs = itertools.pairwise(calendar)
    return sum(0 <= after[0] - before[1] < travel[before[2], after[2]] for before, after in legs)


@pytest.mark.slow
def test_those_of_a_crisis():
    env, rows = played(
        "LifeStack-v0",
        lambda env, params: lambda o: (o, summarize_routes(o), env.entities(o, params).actions.dense()),
    )
    told = np.zeros(31, bool)
    for o, summary, found in rows:
        expected = np.array([action_of_crisis(env.catalogue, o, summary, index) for index in range(env.num_actions)])
        np.testing.assert_allclose(found, expected, atol=1e-5)
        told |= np.any(found != 0, axis=0)
    assert told.sum() >= 28  # the others are rare in the library: each column is compared, and most are not zero


def action_of_crisis(catalogue, o, summary, index):
    if not o.action_mask[index]:
        return np.zeros(31)
    activity, route, key = catalogue.table[index]
    kind = [
        activity < 12,
        activity == crisis.INSPECTING,
        12 <= activity < crisis.INSPECTING,
        activity == crisis.WAITING,
    ]
    if kind[0]:
        s = jax.tree.map(lambda column: float(column[route]), summary)
        last, sure = s.outstanding == 1, s.failing + s.unknown == 0
        target = [s.serves, s.leads, s.blocked, s.failing > 0, s.unknown / 2, s.outstanding / 4, last, last and sure]
        target += [s.reward, s.money, s.spoils, s.ruins, s.raises_success, s.raises_precondition, s.averts_failure]
        target += [s.margin, s.money_ahead, s.too_dear, s.verbs_ahead / 10, s.too_late]
    else:
        target = np.zeros(20)
        if kind[1]:
            target[0], target[4] = o.keys.wanted >> key & 1, o.keys.code[key] == UNKNOWN
    return [*kind, *target, *effects_of_crisis(o, activity)]


def effects_of_crisis(o, activity):
    before = o.metrics.astype(np.int64)
    after = np.clip(before + crisis.EFFECTS[activity], 0, HIGHEST)
    gained = np.where(INVERTED, before - after, after - before)
    in_danger = np.where(INVERTED, HIGHEST - before, before) < 25 * UNIT
    towards = 0
    for slot, (metric, low, high, exists) in enumerate(
        zip(o.bounds.metric, o.bounds.low, o.bounds.high, o.bounds.exists, strict=True)
    ):
        if exists and o.bounds.uses[0] >> slot & 1:  # success rests on it
            towards += (after - before)[metric] * ((before[metric] < low) - int(before[metric] > high))
    return [
        crisis.TIME[activity] / CENTS,
        crisis.ENERGY[activity] / (20 * CENTS),
        gained.sum() / (20 * UNIT),
        towards / (10 * UNIT),
        np.max(gained * in_danger) / (10 * UNIT),
        np.min(gained * in_danger) / (10 * UNIT),
        float(o.energy) / (100 * CENTS),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("id", ["TeamsClone-v0", "TeamsClone-Mentions-v0"])
def test_those_of_a_chat(id):
    def of(env, params):
        def tell(o):
            entities = env.entities(o, params)
            return o, entities.groups["channels"].features, entities.actions.dense()

        return tell

    env, rows = played(id, of)
    told = np.zeros(22, bool)
    for o, channels, found in rows:
        expected = np.array([action_of_chat(row, o, channels) for row in env.catalogue.table])
        np.testing.assert_array_equal(found, np.where(o.action_mask[:, None], expected, 0).astype(np.float32))
        told |= np.any(found != 0, axis=0)
    assert told.sum() >= 20


def action_of_chat(entry, o, channels):
    verb, channel, kind, *_ = entry
    is_here, sends = verb == chat.TEXT, verb in (chat.TEXT, chat.ANSWER)
    target = o.channel if is_here else channel
    leads = sends or verb in (chat.SWITCH, chat.JOIN)
    ages = o.messages.age[o.messages.pending]
    quiet = min(o.messages.age[0], o.clock) if o.messages.exists[0] else o.clock
    return [
        *(verb == each for each in range(chat.IDLE + 1)),
        *(sends and kind == each for each in TEMPLATES),
        *(channels[target] if leads else np.zeros(6)),
        is_here and len(ages) > 0,
        is_here and len(ages) > 0 and max(ages) <= TIMELY,
        sends and (o.run[target] >= SPAM_RUN or o.sends >= SPAM_SENDS),
        is_here and quiet >= QUIET,
    ]
