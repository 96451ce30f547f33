"""What the person does not know of a week, drawn anew: the truth, what is unread, and what is still to come."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.dice import Dice
from jaxenv.core.fields import padding, widened
from jaxenv.core.types import Key
from jaxenv.envs.week import actions, generator, types
from jaxenv.envs.week.generator import CHANNELS, GROUPS, ONE, PROMISED
from jaxenv.envs.week.types import END, JOB, NEVER, NEWS, NONE, QUESTION, REQUEST, Agenda, Facts, Jobs, Posts, State
from jaxenv.lowering.lookup import read

NOWHERE = 127  # above every number that a post refers to


def redrawn(key: Key, state: State, week: Agenda, sees_truth: bool) -> tuple[State, types.Scenario]:
    """The week as its person knows it, which goes on as a drawn one that promises as many meetings.

    Known are the ways, the jobs, the promised meetings, what each channel showed when it was last open, when posts
    came, and the facts as the notebook and the open channel have them. Other facts are forgotten: what the drawn week
    has told by now is lost. Whether a scout tells of approaches or deliveries is drawn, until it has told; a document's
    scout that tells another fact keeps it.
    """
    dice = Dice(key, generator.NUM_DRAWS)
    d = _like_difficulty(dice, week.events.promised)
    jobs, facts, news = _drawn_truth(dice, d, state, week, sees_truth)
    errands = _in_town(generator.with_hours(dice, d, generator.drawn_errands(dice, d)), week.travel)
    events = _in_town(generator.drawn_events(dice, d), week.travel)
    told, when = read((facts, news), np.arange(generator.FACTS))  # of the generator's facts
    coming = generator.drawn_posts(dice, d, when, told, errands, events)

    posts = widened(jax.tree.map(lambda column: column[week.index], week.scenarios.posts))
    jobs, of_errand = _filled(jobs, state.known, errands, ~errands.known & (errands.due > state.clock))
    is_kept = state.promised | _is_requested(state, posts)
    events, of_event = _filled(week.events, is_kept, events, ~events.promised & (events.start > state.clock))
    rows = np.arange(generator.FACTS, dtype=np.int32)
    of_fact = np.where(rows < facts.flip.size, rows, NOWHERE)
    things = {NEWS: of_fact, QUESTION: of_fact, JOB: of_errand, REQUEST: of_event}
    posts = _spliced(state, posts, _referring(coming, things))
    return state.replace(stage=_stages(state, jobs, facts)), types.Scenario(week.travel, jobs, events, facts, posts)


def _like_difficulty(dice: Dice, promised: jax.Array) -> jax.Array:
    """[] int32, one at which as many meetings are promised from the start; above 1 only where 1 promises fewer."""
    least, more = PROMISED
    middle = (jnp.sum(promised, dtype=jnp.int32) - least) * ONE // more
    d = jnp.abs(middle + dice.between(1 - ONE // 2, ONE // 2 - 1) // more)
    return jnp.minimum(d, jnp.clip(middle, ONE, generator.MAX_DIFFICULTY))


def _drawn_truth(
    dice: Dice, d: jax.Array, state: State, week: Agenda, sees_truth: bool
) -> tuple[Jobs, Facts, jax.Array]:
    """(jobs with what scouts tell, [F] facts, [F] int32 when each is told first), by the groups of known jobs."""
    group, tells = (jnp.where(state.known, column, NONE) for column in (week.jobs.group, week.jobs.tells))
    jobs, count = week.jobs.replace(group=group, tells=tells), week.facts.first.size
    choices, needs, begin = _groups(jobs, count)
    jobs = jobs.replace(tells=_drawn_tells(dice, tells, state.progress < jobs.length, choices, needs))
    is_told = jnp.any(jobs.tells[:, None] == np.arange(GROUPS)[None], axis=0)
    of_groups, begin = read((choices, begin), np.arange(GROUPS))
    drawn = generator.drawn_truth(dice, d, of_groups, begin, is_told)
    facts, news = read(drawn, np.arange(count))  # others than the generator's are told by nobody
    return jobs, *_as_known(facts, news, state, week, choices, sees_truth)


def _groups(jobs: Jobs, count: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What jobs say of each fact: how many values it can have, the group that its group needs, or NONE, and the time
    around which it may change, [F] int32 each.
    """
    mine = jobs.group[:, None] == np.arange(count)[None]
    value, needs, first = (column[:, None] for column in (jobs.value, jobs.needs, jobs.first))
    needs = jnp.max(jnp.where(mine, needs, NONE), axis=0)
    begin = jnp.min(jnp.where(mine, first, END), axis=0) + jnp.where(needs >= 0, types.SLOTS, 0)
    choices = jnp.where(jnp.any(mine, axis=0), 1 + jnp.max(jnp.where(mine, value, 0), axis=0), types.VALUES)
    return choices, needs, begin


def _drawn_tells(
    dice: Dice, tells: jax.Array, is_to_tell: jax.Array, choices: jax.Array, needs: jax.Array
) -> jax.Array:
    """[J] int32: where approaches and deliveries have a choice, a scout that is to tell tells of either, by chance."""
    needed = jnp.where(tells >= 0, read(needs, tells), NONE)
    approach = jnp.where(needed >= 0, needed, tells)
    delivers = (needs[None] == approach[:, None]) & (choices > 1)[None]
    has_choice = is_to_tell & (approach >= 0) & (read(choices, approach) > 1) & jnp.any(delivers, axis=1)
    either = jnp.where(dice.between(0, 1, tells.size) == 1, jnp.argmax(delivers, axis=1).astype(jnp.int32), approach)
    return jnp.where(has_choice, either, tells)


def _as_known(
    drawn: Facts, news: jax.Array, state: State, week: Agenda, choices: jax.Array, sees_truth: bool
) -> tuple[Facts, jax.Array]:
    """The drawn facts with the values that are known, at their times, and when each is told first.

    The values of a fact that is known before or after its drawn change are turned, so that it has the known one there.
    One that is known to have changed did so when its last value was first seen.
    """
    window, facts = actions.window(state, week), np.arange(choices.size)[None]
    is_news = (window.exists & (window.posts.kind == NEWS))[:, None] & (window.posts.ref[:, None] == facts)
    noted = state.clock if sees_truth else jnp.where(state.noted >= 0, state.as_of, NONE)
    told = jnp.where(is_news, window.posts.time[:, None], NONE)
    times = jnp.append(told, jnp.broadcast_to(noted, facts.shape), axis=0)
    latest, earliest = jnp.max(times, axis=0), jnp.min(jnp.where(times < 0, NEVER, times), axis=0)

    is_known, was, value = latest >= 0, week.facts.at(earliest), week.facts.at(latest)
    choices = jnp.maximum(choices, jnp.where(is_known, 1 + jnp.maximum(was, value), 0))
    is_after = drawn.flip <= earliest
    turn = jnp.where(is_known, value - jnp.where(is_after, drawn.then, drawn.first), 0)
    first, then = ((each + turn) % choices for each in (drawn.first, drawn.then))
    flip = jnp.where(~is_known | is_after | (drawn.flip > latest), drawn.flip, NEVER)
    known = Facts(first, jnp.where(flip == NEVER, 0, then), flip)
    is_last = (times >= 0) & (jax.vmap(week.facts.at)(times) == value[None])
    changed = Facts(was, value, jnp.min(jnp.where(is_last, times, NEVER), axis=0))
    has_changed = is_known & (was != value)  # no fact does twice
    known = jax.tree.map(lambda one, other: jnp.where(has_changed, one, other), changed, known)
    return known, jnp.where(is_known, jnp.minimum(news, latest), news)


def _in_town(things: Any, travel: jax.Array) -> Any:
    """Jobs or events, at places that there are."""
    count = 1 + jnp.max(jnp.where(travel > 0, np.arange(travel.shape[0])[None], 0))
    return things.replace(place=jnp.where(things.place < 0, things.place, things.place % count))


def _is_requested(state: State, posts: Posts) -> jax.Array:
    """[E] bool: a request for it was shown when its channel was last open, and may wait."""
    is_request = _is_shown(state, posts) & (posts.kind == REQUEST) & (posts.until > state.clock)
    events = np.arange(state.promised.size)[None, None]
    return jnp.any(is_request[..., None] & (posts.ref[..., None] == events), axis=(0, 1))


def _is_shown(state: State, posts: Posts) -> jax.Array:
    """[C, P] bool: what each channel showed when it was last open."""
    number, count = np.arange(posts.kind.shape[1])[None], state.read[:, None]
    return (count > number) & (count <= number + types.WINDOW)


def _filled(known: Any, is_known: jax.Array, drawn: Any, is_new: jax.Array) -> tuple[Any, jax.Array]:
    """Jobs or events: the known ones, and new ones in the places of all others.

    Returns:
        ([n] jobs or events, [m] int32 the place of each drawn one, NOWHERE of one that is not new or finds none).
    """
    is_new &= drawn.length > 0
    rank, free = jnp.cumsum(is_new, dtype=jnp.int32) - 1, jnp.argsort(is_known, stable=True).astype(jnp.int32)
    has_place = is_new & (rank < jnp.sum(~is_known, dtype=jnp.int32))
    place = jnp.where(has_place, read(free, rank), NOWHERE)

    def fill(old: jax.Array, new: jax.Array) -> jax.Array:
        return jnp.where(is_known, old, jnp.zeros_like(old)).at[place].set(new, mode="drop")

    return jax.tree.map(fill, known, drawn), place


def _referring(posts: Posts, places: dict[int, jax.Array]) -> Posts:
    """Posts of these kinds refer to the places of their things; where there is none, the post is chat."""
    for kind, place in places.items():
        posts = posts.replace(ref=jnp.where(posts.kind == kind, read(place, posts.ref), posts.ref))
    return _where(posts.ref != NOWHERE, posts).replace(time=posts.time)


def _where(exists: jax.Array, posts: Posts) -> Posts:
    """The posts ([C, P]) that exist."""
    nothing = widened(padding(Posts, {"C": 1, "P": 1}))
    return jax.tree.map(lambda column, empty: jnp.where(exists, column, empty), posts, nothing)


def _spliced(state: State, posts: Posts, drawn: Posts) -> Posts:
    """In each channel the posts that were shown, drawn ones at the times of those that were not, and those to come.

    What is unread is of the drawn posts since the last one that was read: some of them where they are more, and where
    they are fewer the next ones as well.
    """
    channel, number = np.ogrid[: posts.time.shape[0], : posts.time.shape[1]]

    def drawn_by(time: jax.Array) -> jax.Array:
        """[C, 1] int32: drawn posts up to a time ([C, 1])."""
        return jnp.sum(read(drawn.time, channel[:, 0]) <= time, axis=1, keepdims=True, dtype=jnp.int32)

    was_read, posted = state.read[:, None], state.posted[:, None]
    first = drawn_by(jnp.where(was_read > 0, read(posts.time, channel, was_read - 1), 0))
    unread, since, rank = posted - was_read, drawn_by(state.clock[None, None]) - first, number - was_read
    some = jnp.where(since > unread, (2 * rank + 1) * since // jnp.maximum(2 * unread, 1), rank)
    source = first + jnp.where(number < posted, some, number - posted + jnp.maximum(since, unread))
    exists = (source < drawn.time.shape[1]) & (channel < CHANNELS)
    drawn = _where(exists, read(drawn, channel, source))
    spliced = jax.tree.map(lambda old, new: jnp.where(_is_shown(state, posts), old, new), posts, drawn)
    return spliced.replace(time=jnp.where(number < posted, posts.time, drawn.time))


def _stages(state: State, jobs: Jobs, facts: Facts) -> jax.Array:
    """[G] int32: whether a job that is being done had the right value when it was begun, as if without a pause."""
    is_on = (state.progress > 0) & (state.progress < jobs.length)
    truth = read(facts, jobs.group).at(state.clock - state.progress)
    is_right = (jobs.value < 0) | (jobs.value == truth)
    mine = is_on[:, None] & (jobs.group[:, None] == np.arange(state.stage.size)[None])
    stage = jnp.where(jnp.any(mine & is_right[:, None], axis=0), types.SOUND, types.UNSOUND)
    return jnp.where(jnp.any(mine, axis=0), stage, state.stage)
