"""What is hidden, drawn anew: worlds that look the same, that say nothing of the true one, and that can be played."""

import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.core import ScenarioBank
from jaxenv.core.contents import require_within
from jaxenv.core.fields import space
from jaxenv.envs.lifeops.types import VISIBLE_REQUESTS
from jaxenv.envs.lifestack.types import NEVER, UNKNOWN
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import MENTION
from jaxenv.envs.week import types as week
from jaxenv.envs.week.env import Week
from jaxenv.lowering import bitsets
from jaxenv.rendering import views

EPISODES = 64


def hide_requests(state, params, other):
    """The params with the hidden requests of another episode."""
    days = params.bank.scenarios
    hidden = np.arange(days.flexible.shape[-1]) >= np.asarray(state.handled + VISIBLE_REQUESTS)[:, None]
    old = (days.requests, days.flexible)
    requests, flexible = jax.tree.map(lambda x: jnp.where(hidden, x[other], x), old)
    return state, params.replace(bank=params.bank.replace(scenarios=days.replace(requests=requests, flexible=flexible)))


def hide_facts(state, params, other):
    """The state with other facts where none was looked at, and the params with events at other times."""
    crises = params.bank.scenarios
    hidden = np.asarray(state.known == UNKNOWN) & ~bitsets.flags(np.asarray(crises.shown), state.known.shape[-1])
    events = crises.events.replace(step=crises.events.step[other], probability=crises.events.probability[other])
    facts = jnp.where(hidden, 2 - jnp.minimum(state.facts, np.int8(1)), state.facts)
    return state.replace(facts=facts), params.replace(bank=params.bank.replace(scenarios=crises.replace(events=events)))


def hide_mentions(state, params, other):
    """The state with other words in what the agent was not shown, and another schedule from now on."""
    rings, schedule = state.messages, state.schedule
    is_hidden = messages.is_message(rings.words) & ~messages.is_seen(rings.words, 0)
    is_hidden &= messages.author(rings.words) < params.bank.scenarios.post_rate.shape[-1]
    words = jnp.where(is_hidden, rings.words ^ messages.PENDING_BIT, rings.words)
    waiting = jax.vmap(lambda words: messages.waiting(words, 1))(words)
    schedule = jax.tree.map(lambda x: x[other], schedule)
    return state.replace(messages=rings.replace(words=words), waiting=waiting, schedule=schedule), params


def hide_truth(state, params, other, *, sees_truth=False):
    """The params with other posts where none was shown, other facts where none is told and other changes to come, other
    jobs and meetings that nobody knows of, and scouts that tell the other fact; begun jobs go well that went wrong."""
    weeks, number, clock = params.bank.scenarios, np.arange(week.Limits().posts), np.asarray(state.clock)[:, None]
    read = np.asarray(state.read)[..., None]
    is_shown = (number < read) & (number >= read - week.WINDOW)

    def swap(where, record):
        return jax.tree.map(lambda x: jnp.where(where, x[other], x), record)

    posts = swap(~is_shown, weeks.posts)
    is_posted = number < np.asarray(state.posted)[..., None]
    posts = posts.replace(time=jnp.where(is_posted, weeks.posts.time, posts.time))
    is_lost = np.asarray(state.noted < 0) & (np.asarray(state.channel) < 0)[:, None]
    facts = swap(is_lost & (not sees_truth), weeks.facts)
    facts = facts.replace(flip=jnp.where(facts.flip > clock, np.int16(week.NEVER), facts.flip))
    jobs, groups = swap(~np.asarray(state.known), weeks.jobs), np.arange(week.Limits().groups)
    has_choice = (np.asarray(weeks.jobs.group)[..., None] == groups).sum(axis=1) > 1
    may = np.take_along_axis(has_choice[:, groups ^ 1], np.maximum(np.asarray(jobs.tells), 0), axis=1)
    may &= np.asarray((jobs.tells >= 0) & state.known & (state.progress < jobs.length))
    jobs = jobs.replace(tells=jnp.where(may, jobs.tells ^ 1, jobs.tells))
    is_request = is_shown & (np.asarray(weeks.posts.kind) == week.REQUEST)
    is_asked = is_request[..., None] & (np.asarray(weeks.posts.ref)[..., None] == np.arange(week.Limits().events))
    events = swap(~(np.asarray(state.promised) | is_asked.any(axis=(1, 2))), weeks.events)
    weeks = weeks.replace(posts=posts, facts=facts, jobs=jobs, events=events)
    is_on = (state.progress > 0) & (state.progress < weeks.jobs.length)
    is_on = (is_on[..., None] & (np.asarray(jobs.group)[..., None] == groups)).any(axis=1)
    state = state.replace(stage=jnp.where(is_on, week.SOUND + week.UNSOUND - state.stage, state.stage))
    return state, params.replace(bank=params.bank.replace(scenarios=weeks))


HIDE = {
    "LifeOps-v0": hide_requests,
    "LifeOps-Shaped-v0": hide_requests,
    "LifeStack-v0": hide_facts,
    "TeamsClone-v0": hide_mentions,
    "TeamsClone-Mentions-v0": hide_mentions,
    "Week-v0": hide_truth,
    "Week-Notes-v0": hide_truth,
    "Week-Open-v0": functools.partial(hide_truth, sees_truth=True),
}


@functools.cache
def played(env_id):
    """(environment, params, states of drawn scenarios, each after some steps of random legal actions)."""
    env, params = jaxenv.make(env_id)
    keys = jax.random.split(jax.random.key(3), EPISODES)
    params = params.replace(bank=ScenarioBank(jax.jit(jax.vmap(lambda key: env.generate(key, 1.0)))(keys)))

    @jax.jit
    def play(params):
        def step(state, key):
            mask = jax.vmap(env.action_mask, (0, None))(state, params)
            action = jnp.argmax(jnp.where(mask, jax.random.uniform(key, mask.shape), -1.0), axis=-1)
            return jax.vmap(env.transition, (0, 0, 0, None))(keys, state, action.astype(jnp.int32), params)[0], None

        state = jax.vmap(env.init, (0, None, 0))(keys, params, jnp.arange(EPISODES))
        turns = jax.random.split(jax.random.key(0), 60 if env.family == "week" else 2)
        return jax.lax.scan(step, state, turns)[0]

    return env, params, play(params)


def worlds(env_id, seed, state, params):
    keys = jax.random.split(jax.random.key(seed), EPISODES)
    return determinize(env_id)(keys, state, params)


@functools.cache
def determinize(env_id):
    return jax.jit(jax.vmap(played(env_id)[0].determinize, (0, 0, None)))


@pytest.mark.parametrize("env_id", HIDE)
def test_a_world_looks_the_same(env_id):
    env, params, state = played(env_id)
    seen = jax.jit(jax.vmap(env.observe, (0, None)))(state, params)
    chex.assert_trees_all_equal(jax.jit(jax.vmap(env.observe))(*worlds(env_id, 0, state, params)), seen)


@pytest.mark.parametrize("env_id", HIDE)
def test_it_says_nothing_of_what_is_hidden(env_id):
    _, params, state = played(env_id)
    other = HIDE[env_id](state, params, np.roll(np.arange(EPISODES), 1))
    with pytest.raises(AssertionError):  # something was hidden
        chex.assert_trees_all_equal(other, (state, params))

    def without_schedule(state, params):
        """But for when events would come, which is nowhere read: none comes."""
        crises = params.bank.scenarios
        if not hasattr(crises, "routes"):
            return state, params
        assert (np.asarray(crises.events.step) == NEVER).all()
        events = crises.events.replace(probability=0.0)
        return state, params.replace(bank=params.bank.replace(scenarios=crises.replace(facts=0, events=events)))

    found = without_schedule(*worlds(env_id, 0, state, params))
    chex.assert_trees_all_equal(found, without_schedule(*worlds(env_id, 0, *other)))


@pytest.mark.parametrize("env_id", [env_id for env_id in HIDE if not env_id.startswith("Week")])
def test_words_say_nothing_of_what_is_hidden(env_id):
    """Week's are tested against its arrays: names of a drawn week follow from all of its numbers."""
    env, params, state = played(env_id)
    other = HIDE[env_id](state, params, np.roll(np.arange(EPISODES), 1))
    if env.family == "lifestack":
        other = other[0], params  # a crisis has a name for each of its events, also for those to come

    def words(number, states, params):
        one = jax.tree.map(lambda leaf: leaf[number], states)
        return views.render(env, one, params).text, views.describe_actions(env, one, params)

    (state, params), other = jax.device_get(((state, params), other))
    for number in range(0, EPISODES, 8):
        assert words(number, state, params) == words(number, *other)


@pytest.mark.parametrize("env_id", HIDE)
def test_worlds_differ_and_have_one_scenario_that_documents_could_say(env_id):
    env, params, state = played(env_id)
    one, other = worlds(env_id, 0, state, params), worlds(env_id, 1, state, params)
    with pytest.raises(AssertionError):
        chex.assert_trees_all_equal(one, other)
    drawn = jax.tree.map(lambda x: x[:, 0], one[1].bank.scenarios)
    assert one[1].bank.scenarios.__class__ is env.scenario_type
    require_within(space(env.scenario_type, env.sizes), drawn)


def test_hidden_requests_are_those_of_the_generator():
    """As many are flexible, by kind and length, as the generator draws at all difficulties alike."""
    env, params, state = played("LifeOps-v0")
    hidden = np.arange(env.limits.requests) >= np.asarray(state.handled + VISIBLE_REQUESTS)[:, None]
    hidden &= np.arange(env.limits.requests) < np.asarray(params.bank.scenarios.num_requests)[:, None]
    drawn = [worlds("LifeOps-v0", seed, state, params)[1].bank.scenarios for seed in range(20)]
    keys = jax.random.split(jax.random.key(5), 2000)
    fresh = jax.jit(jax.vmap(lambda key: env.generate(key, jax.random.uniform(key))))(keys)
    exists = np.arange(env.limits.requests) < np.asarray(fresh.num_requests)[:, None]
    for read in (lambda day: day.flexible, lambda day: day.requests.kind == 0, lambda day: day.requests.importance):
        ours = np.concatenate([np.asarray(read(day))[:, 0][hidden] for day in drawn])
        theirs = np.asarray(read(fresh))[exists]
        assert ours.mean() == pytest.approx(theirs.mean(), rel=0.1)


def test_hidden_requests_of_a_day_at_home_are_there():
    env, params, state = played("LifeOps-v0")
    days = params.bank.scenarios
    persona = days.persona.replace(work_place=jnp.zeros_like(days.persona.work_place))
    days = days.replace(travel=jnp.zeros_like(days.travel), persona=persona)
    drawn = worlds("LifeOps-v0", 0, state, params.replace(bank=params.bank.replace(scenarios=days)))[1].bank.scenarios
    hidden = np.arange(env.limits.requests) >= np.asarray(state.handled + VISIBLE_REQUESTS)[:, None]
    assert (np.asarray(drawn.requests.place)[:, 0][hidden] <= 0).all()


def test_a_fact_takes_each_of_its_values_alike():
    _, params, state = played("LifeStack-v0")
    unknown = np.asarray((state.known == UNKNOWN) & (state.facts > 0))
    values = np.stack([np.asarray(worlds("LifeStack-v0", seed, state, params)[0].facts) for seed in range(60)])
    written = np.concatenate(
        [np.asarray(t) for t in (params.bank.scenarios.routes.writes, params.bank.scenarios.events.writes)], axis=1
    )
    count = np.maximum(written.max(axis=1), np.asarray(params.bank.scenarios.facts))
    assert (values[:, unknown] >= 1).all()
    assert (values.max(axis=0)[unknown] == count[unknown]).mean() > 0.95
    assert values[:, unknown & (count == 2)].mean() == pytest.approx(1.5, abs=0.02)


def test_a_fact_that_was_absent_at_first_may_be_so_still():
    _, params, state = played("LifeStack-v0")
    crises = params.bank.scenarios
    params = params.replace(bank=params.bank.replace(scenarios=crises.replace(facts=jnp.zeros_like(crises.facts))))
    values = np.stack([np.asarray(worlds("LifeStack-v0", seed, state, params)[0].facts) for seed in range(60)])
    count = np.concatenate([crises.routes.writes, crises.events.writes], axis=1).max(axis=1)
    may = np.asarray(state.known == UNKNOWN) & ~bitsets.flags(np.asarray(crises.shown), count.shape[-1]) & (count > 0)
    assert may.sum() > 20
    assert (values[:, may] == 0).mean() == pytest.approx((1 / (1 + count[may])).mean(), abs=0.02)


def test_a_world_goes_on_wherever_the_episode_does():
    """Long after the first half of a chat something waits that was not seen, or the episode would be over."""
    env, params, _ = played("TeamsClone-Mentions-v0")

    @jax.jit
    def play(key):
        def step(state, key):
            return env.transition(key, state, jnp.int32(env.num_actions - 1), params)[0], state

        states = jax.lax.scan(step, env.init(key, params, None), jax.random.split(key, 70))[1]
        is_live = ~jax.vmap(env.is_terminated, (0, None))(states, params)
        worlds, theirs = jax.vmap(env.determinize, (0, 0, None))(jax.random.split(key, 70), states, params)
        seen = jax.vmap(env.observe, (0, None))(states, params), jax.vmap(env.observe)(worlds, theirs)
        same = [jnp.all(a == b, axis=range(1, a.ndim)) for a, b in zip(*map(jax.tree.leaves, seen), strict=True)]
        return is_live, jnp.all(jnp.stack(same), axis=0)

    is_live, looks_the_same = map(np.asarray, jax.vmap(play)(jax.random.split(jax.random.key(6), 100)))
    assert is_live[:, 50:].sum() > 300
    assert looks_the_same[is_live].all()


@pytest.mark.slow
def test_as_many_unseen_posts_are_mentions_as_in_play():
    """Within a third of the share in episodes of random play, of initial messages and of later ones."""
    env, params, _ = played("TeamsClone-Mentions-v0")

    @jax.jit
    def play(key):
        def step(state, key):
            action = jnp.int32(env.num_actions - 1)  # an act in the channel of the start: all else stays unseen
            return env.transition(key, state, action, params)[0], None

        begun = env.init(key, params, None)
        return jax.lax.scan(step, begun, jax.random.split(key, 30))[0]

    states = jax.vmap(play)(jax.random.split(jax.random.key(4), 1000))
    keys = jax.random.split(jax.random.key(5), 1000)
    worlds = jax.jit(jax.vmap(env.determinize, (0, 0, None)))(keys, states, params)[0]

    def shares(state):
        words, posted = state.messages.words, np.asarray(state.messages.posted)
        unseen = np.asarray(messages.is_message(words) & ~messages.is_seen(words, 0))
        is_mention = np.asarray(messages.kind(words) == MENTION)
        return [is_mention[unseen & (posted < 0)].mean(), is_mention[unseen & (posted >= 0)].mean()]

    assert shares(worlds) == pytest.approx(shares(states), rel=0.33)


@pytest.mark.parametrize("limits", [{"groups": 2, "facts": 4}, {"places": 3, "channels": 3, "jobs": 6, "events": 3}])
def test_a_week_of_other_capacities_has_worlds(limits):
    env = Week(limits=week.Limits(**limits))
    params = env.make_params(ScenarioBank.stack([env.empty_scenario]))
    state = env.init(jax.random.key(0), params, 0)
    world, theirs = jax.jit(env.determinize)(jax.random.key(0), state, params)
    chex.assert_trees_all_equal(env.observe(world, theirs), env.observe(state, params))
    drawn = jax.tree.map(lambda x: np.asarray(x[0]), theirs.bank.scenarios)
    require_within(space(week.Scenario, env.sizes), drawn)
    is_about_a_fact = np.isin(drawn.posts.kind, (week.NEWS, week.QUESTION))
    assert drawn.posts.ref[is_about_a_fact].max(initial=0) < env.limits.facts


def test_a_fact_may_have_a_value_that_no_known_job_asks_for():
    env, params, state = played("Week-Notes-v0")
    weeks = params.bank.scenarios
    facts = weeks.facts.replace(first=jnp.full_like(weeks.facts.first, week.VALUES - 1))
    params = params.replace(bank=params.bank.replace(scenarios=weeks.replace(facts=facts)))
    observe = jax.jit(jax.vmap(env.observe, (0, None)))
    seen = observe(state, params)
    assert (seen.told[:, : env.limits.groups] == week.VALUES - 1).any()
    chex.assert_trees_all_equal(jax.jit(jax.vmap(env.observe))(*worlds("Week-Notes-v0", 0, state, params)), seen)


def test_what_is_left_of_a_week_is_what_drawn_weeks_have_left():
    """Nothing was read for a day and a half: of each kind as many posts that matter are unread or to come."""
    env, params, _ = played("Week-v0")
    keys, clock = jax.random.split(jax.random.key(7), 400), 60
    weeks = jax.jit(jax.vmap(lambda key: env.generate(key, jax.random.uniform(key))))(keys)
    params = params.replace(bank=ScenarioBank(weeks))
    state = jax.vmap(env.init, (0, None, 0))(keys, params, jnp.arange(400))
    posted = jnp.sum(weeks.posts.time <= clock, axis=-1, dtype=jnp.int8)
    state = state.replace(clock=jnp.full_like(state.clock, clock), posted=posted)
    drawn = jax.jit(jax.vmap(env.determinize, (0, 0, None)))(keys, state, params)[1].bank.scenarios
    drawn, weeks = jax.tree.map(lambda x: np.asarray(x[:, 0]), drawn), jax.tree.map(np.asarray, weeks)
    is_unread = np.arange(env.limits.posts) < np.asarray(posted)[..., None]
    np.testing.assert_array_equal(drawn.posts.time[is_unread], weeks.posts.time[is_unread])

    def counts(weeks):
        """[5], of each kind; of errands and requests those that can still be met."""
        kind, refs, is_left = weeks.posts.kind, weeks.posts.ref.reshape(400, -1), weeks.posts.time < week.END
        for of, time in ((week.JOB, weeks.jobs.due), (week.REQUEST, weeks.events.start)):
            time = np.take_along_axis(time, refs % time.shape[-1], axis=1).reshape(kind.shape)
            is_left = is_left & ((kind != of) | (time > clock))
        return np.bincount(kind[is_left], minlength=len(week.KINDS))

    assert counts(drawn) == pytest.approx(counts(weeks), rel=0.1)
    values = np.bincount(drawn.facts.first[:, 8:10].ravel(), minlength=4) / 800  # the two that every week has
    assert values == pytest.approx(np.full(4, 0.25), abs=0.06)


def test_a_wrapper_keeps_what_it_holds():
    env, params = jaxenv.make("LifeOps-v0")
    key, counting = jax.random.key(0), jaxenv.wrappers.EpisodeStatistics(jaxenv.wrappers.LegalActions(env))
    state = counting.init(key, params, 3)
    state = counting.transition(key, state, jnp.int32(0), params)[0]
    world, theirs = counting.determinize(key, state, params)
    assert int(world.episode.length) == 1
    chex.assert_trees_all_equal((world.env_state, theirs), env.determinize(key, state.env_state, params))


def test_an_environment_without_it_says_so():
    env, params = jaxenv.make("TeamsClone-MultiAgent-v0")
    _, state = jax.eval_shape(env.reset, jax.random.key(0), params)
    with pytest.raises(NotImplementedError, match="MultiAgent-v0 cannot draw anew what is hidden"):
        env.determinize(jax.random.key(0), state, params)
