"""Weeks drawn from a key (docs/rules/week.md, section 6): integers throughout, so that every batch size draws the same.

A difficulty of 1 is 1024; shares are of 1024 as well.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.dice import DIFFICULTY_STEPS, Dice, rounded, scale
from jaxenv.core.fields import declared, padding
from jaxenv.core.types import Key
from jaxenv.envs.week import types
from jaxenv.envs.week.types import ANYWHERE, END, NEVER, NONE, SLOTS, Events, Facts, Jobs, Limits, Posts, Scenario

ONE = DIFFICULTY_STEPS
MAX_DIFFICULTY = 2 * ONE
POINTS = {"meetings": 2800, "errands": 1200, "projects": 4000, "answers": 2000}  # hundredths
PROJECTS, ALTERNATIVES = 4, 3  # of a project: a scout, then up to three approaches, and as many deliveries
PARTS = 1 + 2 * ALTERNATIVES
GROUPS = 2 * PROJECTS
ERRANDS, SMALL_FACTS, EVENTS, PLACES, CHANNELS = 7, 8, 20, 6, 6
FACTS = GROUPS + SMALL_FACTS
CELLS, CELL = 5, 7  # of a day, and slots of one
TOWN = 63  # the side of the town
NOON = 16
IMPORTANT, CHATTER = 11, 21  # posts of a channel at most: all 32
SCOUT_LENGTH, APPROACH_LENGTH, DELIVERY_LENGTH = (1, 2), (4, 6), (7, 10)
ERRAND_LENGTH, EVENT_LENGTH = (2, 5), (2, 4)
REQUEST_WEIGHT = 2  # of a promised meeting
PROMISED = (6, 2)  # meetings, and more at a difficulty of 1
HOURS = (17, 5)  # slots that a place is open, and fewer at a difficulty of 1
CHATS = (6, 12)  # posts of a channel, and more at a difficulty of 1
NUM_DRAWS = 1200  # at least as many as are used


def generate(key: Key, limits: Limits, difficulty: jax.Array | float) -> Scenario:
    """One drawn week; jittable.

    Args:
        key: of the draw.
        limits: capacities.
        difficulty: [] in [0, 1], and to 2 for weeks that are never drawn in training.

    Raises:
        ValueError: where a capacity is below the default one, which drawn weeks need.
    """
    d = jnp.floor(jnp.clip(jnp.asarray(difficulty, jnp.float32) * ONE, 0, MAX_DIFFICULTY)).astype(jnp.int32)
    dice = Dice(key, NUM_DRAWS)
    travel = drawn_town(dice, d)
    of_projects, facts, news = drawn_projects(dice, d)
    of_errands = drawn_errands(dice, d)
    columns = {name: jnp.append(part.ravel(), of_errands[name]) for name, part in of_projects.items()}
    jobs = with_hours(dice, d, columns)
    events = drawn_events(dice, d)
    jobs, posts = packed(jobs, drawn_posts(dice, d, news, facts, jobs, events))
    return _within(declared(Scenario(travel, jobs, events, facts, posts), limits.sizes), limits)


def drawn_town(dice: Dice, d: jax.Array) -> jax.Array:
    """[L, L] slots of the way: the town is wider where it is difficult."""
    where = dice.between(0, TOWN, 2, PLACES)
    squared = jnp.sum((where[:, :, None] - where[:, None]) ** 2, axis=0, dtype=jnp.int32)
    reach = 64 + d // 32  # slots across the town, in sixteenths
    steps = np.arange(types.MAX_TRAVEL)[:, None, None] * (16 * TOWN)
    slots = jnp.sum(squared[None] * reach**2 > steps**2, axis=0, dtype=jnp.int32)
    return jnp.where(np.eye(PLACES, dtype=bool), 0, jnp.maximum(slots, 1))


def drawn_truth(
    dice: Dice, d: jax.Array, choices: jax.Array, begin: jax.Array, is_told: jax.Array
) -> tuple[Facts, jax.Array]:
    """The facts of eight groups, then the small ones.

    Args:
        dice: to draw with.
        d: difficulty, in units of 1024.
        choices: [8] int32, how many values the fact of a group can have; one that has no choice is not told.
        begin: [8] int32, the time around which it changes, and before which it is posted.
        is_told: [8] bool, by a job; it is not posted.

    Returns:
        (facts, [F] int32 the time at which each is posted first, NEVER where it is not).
    """
    n = choices.shape[0]
    of_all = jnp.append(choices, jnp.full(SMALL_FACTS, types.VALUES))
    first = scale(dice.table(n + SMALL_FACTS), of_all)
    then = (first + 1 + scale(dice.table(n + SMALL_FACTS), jnp.maximum(of_all - 1, 1))) % of_all
    flips = (_chance(dice, n) < d // 2) & (choices > 1)
    flip = jnp.where(flips, begin + dice.between(-14, 11, n), NEVER)
    ahead = jnp.where(flips, 16, 4) + scale(dice.table(n), 17 + 40 * d // ONE - jnp.where(flips, 12, 0))
    news = jnp.where(is_told | (choices == 1), NEVER, jnp.maximum(begin - ahead, 1))

    posted = dice.between(2, 125, SMALL_FACTS)
    later = posted + dice.between(8, 40, SMALL_FACTS)
    exists = np.arange(SMALL_FACTS) < _num_small_facts(d)
    small = jnp.where((_chance(dice, SMALL_FACTS) < 3 * d // 10) & exists, later, NEVER)
    flip, first = jnp.append(flip, small), jnp.where(jnp.append(np.ones(n, bool), exists), first, 0)
    facts = Facts(first=first, then=jnp.where(flip == NEVER, 0, then), flip=flip)
    return facts, jnp.append(news, jnp.where(exists, posted, NEVER))


def with_hours(dice: Dice, d: jax.Array, columns: dict[str, jax.Array]) -> Jobs:
    """Jobs ([n] each) with the hours of the day at which they can be done."""
    exists, count = columns["length"] > 0, columns["length"].size
    width = (HOURS[0] * ONE - HOURS[1] * d) // ONE + dice.between(-3, 3, count)
    width = jnp.maximum(width, columns["length"] + 4)
    opens = 2 + scale(dice.table(count), SLOTS - 3 - width)
    columns |= {"opens": opens, "closes": opens + width}
    jobs = Jobs(**{name: jnp.where(exists, column, 0) for name, column in columns.items()})
    return jobs.replace(known=jobs.known > 0)


def drawn_projects(dice: Dice, d: jax.Array) -> tuple[dict[str, jax.Array], Facts, jax.Array]:
    """The jobs of the projects, and the facts of approaches, of deliveries and the small ones.

    Some facts change shortly before their work begins.

    Returns:
        (field of jobs -> [4, 7] int32: a scout, approaches and deliveries of each project; facts; [F] int32 the time at
        which each is posted first, NEVER where it is not).
    """
    n, part, project = PROJECTS, np.arange(PARTS, dtype=np.int32)[None], np.arange(PROJECTS, dtype=np.int32)[:, None]
    day = dice.between(1, 3, n, 1)  # on which the approaches open
    approaches = jnp.clip(2 + ((_chance(dice, n, 1) + d) // ONE), 2, ALTERNATIVES)
    deliveries = jnp.clip(1 + ((_chance(dice, n, 1) + 3 * d // 2) // ONE), 1, ALTERNATIVES)
    which = dice.between(0, 2, n, 1)
    of_delivery = jnp.where((which == 1) & (deliveries > 1), 2 * project + 1, NONE)
    tells = jnp.where(which == 0, 2 * project, of_delivery)  # the fact that a scout tells, or NONE
    is_told = _by_project(tells == 2 * project, tells == 2 * project + 1)
    facts, news = drawn_truth(dice, d, _by_project(approaches, deliveries), SLOTS * _by_project(day, day + 1), is_told)

    is_scout, is_delivery = part == 0, part > ALTERNATIVES
    is_approach = ~is_scout & ~is_delivery
    choice = np.where(is_scout, 0, (part - 1) % ALTERNATIVES)
    choices, has_scout = jnp.where(is_delivery, deliveries, approaches), tells >= 0
    exists = jnp.where(is_scout, has_scout, choice < choices)

    opens = SLOTS * day
    due_approach = opens + SLOTS * (1 + (_chance(dice, n, 1) < ONE - 7 * d // 10).astype(jnp.int32))
    due_delivery = due_approach + SLOTS * dice.between(1, 2, n, 1)
    due = jnp.where(is_scout, opens + NOON, jnp.where(is_delivery, due_delivery, due_approach))
    lengths = (SCOUT_LENGTH, *[APPROACH_LENGTH] * ALTERNATIVES, *[DELIVERY_LENGTH] * ALTERNATIVES)
    length = jnp.stack([dice.between(*each, n) for each in lengths], axis=1)
    turned = (choice + dice.between(0, ALTERNATIVES - 1, n, 1)) % choices

    points = _shares(70 + dice.between(0, 60, n), POINTS["projects"])[:, None]
    scout, approach = points * 5 // 100, points * jnp.where(has_scout, 30, 35) // 100
    delivery = points - approach - jnp.where(has_scout, scout, 0)
    columns = {
        "length": jnp.where(exists, length, 0),
        "place": (dice.between(0, PLACES - 1, n, 1) + part) % PLACES,
        "first": jnp.where(is_scout, opens - SLOTS, opens),
        "due": jnp.minimum(due, END),
        "points": jnp.where(is_scout, scout, jnp.where(is_approach, approach, delivery)),
        "group": jnp.where(is_scout, NONE, 2 * project + is_delivery.astype(np.int32)),
        "needs": jnp.where(is_delivery, 2 * project, NONE),
        "value": jnp.where(is_scout | (choices == 1), NONE, turned),
        "tells": jnp.where(is_scout, tells, NONE),
        "known": jnp.ones((n, PARTS), jnp.int32),
    }
    return columns, facts, news


def drawn_errands(dice: Dice, d: jax.Array) -> dict[str, jax.Array]:
    """Field of jobs -> [7] int32."""
    n, none = ERRANDS, jnp.full(ERRANDS, NONE)
    exists, length = np.arange(n) < 5 + rounded(2, d), dice.between(*ERRAND_LENGTH, n)
    weight = jnp.where(exists, length * (70 + dice.between(0, 60, n)), 0)
    return {
        "length": jnp.where(exists, length, 0),
        "place": jnp.where(_chance(dice, n) < 15 * ONE // 100, ANYWHERE, dice.between(0, PLACES - 1, n)),
        "first": jnp.zeros(n, jnp.int32),
        "due": SLOTS * (1 + dice.between(0, 3, n) + dice.between(0, 1, n)),
        "points": _shares(weight, POINTS["errands"]),
        **dict.fromkeys(("group", "needs", "value", "tells"), none),
        "known": (_chance(dice, n) >= 3 * ONE // 10 + 4 * d // 10).astype(jnp.int32),
    }


def drawn_events(dice: Dice, d: jax.Array) -> Events:
    """Meetings that are promised, in a cell of the week each, then as many requests."""
    n, cells = EVENTS, types.DAYS * CELLS
    promised = PROMISED[0] + rounded(PROMISED[1], d)
    number = jnp.arange(n)
    is_promised, exists = number < promised, number < jnp.minimum(2 * promised, n)
    order = jnp.argsort(dice.table(cells)).astype(jnp.int32)
    doubled = (_chance(dice, n) < 4 * d // 10) & ~is_promised
    cell = order[jnp.where(doubled, scale(dice.table(n), promised), number)]
    cell = jnp.where(~is_promised & (cell < 3), cell + 10, cell)
    length = dice.between(*EVENT_LENGTH, n)
    start = SLOTS * (cell // CELLS) + 2 + CELL * (cell % CELLS) + dice.between(0, 2, n)
    weight = length * (50 + dice.between(0, 100, n)) * jnp.where(is_promised, 1, REQUEST_WEIGHT)
    place = jnp.where(_chance(dice, n) < ONE // 2 - d // 4, ANYWHERE, dice.between(0, PLACES - 1, n))
    columns = (start, length, place, _shares(jnp.where(exists, weight, 0), POINTS["meetings"]))
    return Events(*(jnp.where(exists, column, 0) for column in columns), promised=is_promised)


def drawn_posts(dice: Dice, d: jax.Array, news: jax.Array, facts: Facts, jobs: Jobs, events: Events) -> Posts:
    """News, changes, questions, requests and new errands over six channels, among chat; sorted by time."""
    n, F = SMALL_FACTS, facts.first.shape[0]
    least, most = 24 - 8 * d // ONE, 48 - 16 * d // ONE

    def patience(count: int) -> jax.Array:
        return least + scale(dice.table(count), most - least + 1)

    about = F - n + np.arange(n) % _num_small_facts(d)  # easy weeks ask about the same facts again
    asked = jnp.minimum(news[about] + 8 + scale(dice.table(n), 25 + 48 * d // ONE), END - 16)
    answers = _shares(70 + dice.between(0, 60, n), POINTS["answers"])

    E, start = EVENTS, events.start
    is_request = (events.length > 0) & ~events.promised
    posted = jnp.where(is_request, jnp.maximum(start - 16 - dice.between(0, 54, E), 1), NEVER)
    open_until = jnp.minimum(posted + patience(E), start - 1)
    first = PROMISED[0]  # as many are promised at least

    m = ERRANDS
    due, length = jobs.due[-m:], jobs.length[-m:]
    is_new = (length > 0) & ~jobs.known[-m:]
    told = jnp.where(is_new, jnp.maximum(due - 2 * SLOTS + dice.between(-10, 10, m), 1), NEVER)

    important = [
        (news, types.NEWS, jnp.arange(F), 0, 0),
        (facts.flip, types.NEWS, jnp.arange(F), 0, 0),
        (asked, types.QUESTION, about, jnp.minimum(asked + patience(n), END), answers),
        (posted[first:], types.REQUEST, jnp.arange(first, E), open_until[first:], 0),
        (told, types.JOB, jobs.length.shape[0] - m + jnp.arange(m), 0, 0),
    ]
    rows = jnp.concatenate([jnp.stack(jnp.broadcast_arrays(*columns), axis=1) for columns in important])
    none = jnp.array([[NEVER, 0, 0, 0, 0]])
    rows = jnp.concatenate([rows, jnp.repeat(none, CHANNELS * IMPORTANT - rows.shape[0], axis=0)])
    rows = jnp.where(rows[:, :1] == NEVER, none, rows)
    rows = rows[jnp.argsort(dice.table(rows.shape[0]))].reshape(CHANNELS, -1, 5)
    is_chat = np.arange(CHATTER) < CHATS[0] + rounded(CHATS[1], d)
    chatter = jnp.where(is_chat, dice.between(1, END - 1, CHANNELS, CHATTER), NEVER)
    chat = jnp.concatenate([chatter[..., None], jnp.zeros((CHANNELS, CHATTER, 4), jnp.int32)], axis=2)
    rows = jnp.concatenate([rows, chat], axis=1)
    order = jnp.argsort(rows[..., 0], axis=1, stable=True)
    rows = jnp.take_along_axis(rows, order[..., None], axis=1)
    number = np.arange(rows.shape[1], dtype=np.int32)[None]
    apart = number + jax.lax.cummax(rows[..., 0] - number, axis=1)  # one a slot
    rows = jnp.where(apart[..., None] < END, rows.at[..., 0].set(apart), none[None])
    return Posts(*(rows[..., column] for column in range(5)))


def packed(jobs: Jobs, posts: Posts) -> tuple[Jobs, Posts]:
    """The jobs before the places of absent ones, and the posts that make one known by its new number."""
    exists = jobs.length > 0
    order, number = jnp.argsort(~exists, stable=True), jnp.cumsum(exists, dtype=jnp.int32) - 1
    ref = jnp.where(posts.kind == types.JOB, number[posts.ref], posts.ref)
    return jax.tree.map(lambda column: column[order], jobs), posts.replace(ref=ref)


def _within(scenario: Scenario, limits: Limits) -> Scenario:
    """The same in the shapes of the limits."""

    def fit(leaf: jax.Array, empty: np.ndarray) -> jax.Array:
        if any(np.less(empty.shape, leaf.shape)):
            raise ValueError(f"{limits}: drawn weeks need at least the default capacities, {Limits()}")
        return jnp.asarray(empty).at[tuple(map(slice, leaf.shape))].set(leaf)

    return jax.tree.map(fit, scenario, padding(Scenario, limits.sizes))


def _by_project(approaches: jax.Array, deliveries: jax.Array) -> jax.Array:
    """[8] of [4, 1] of the approaches and [4, 1] of the deliveries: those of a project, then those of the next."""
    return jnp.append(approaches, deliveries, axis=1).ravel()


def _shares(weights: jax.Array, total: int) -> jax.Array:
    """[n] int32: a total in parts proportional to weights ([n] int32), which sum to it."""
    sums = jnp.cumsum(weights, dtype=jnp.int32) * total // jnp.sum(weights, dtype=jnp.int32)
    return jnp.diff(sums, prepend=0)


def _num_small_facts(d: jax.Array) -> jax.Array:
    """2 to 8."""
    return jnp.minimum(2 + rounded(SMALL_FACTS - 2, d), SMALL_FACTS)


def _chance(dice: Dice, *shape: int) -> jax.Array:
    """int32 numbers of a shape, 0 to ONE - 1, in units of difficulty."""
    return dice.between(0, ONE - 1, *shape)
