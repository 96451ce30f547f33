"""Two engines, one truth: random workspaces, actions and draws in the JAX engine and in that of the rules."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import KINDS, NEVER, NO_REACTION, Draws, Schedule
from reference.teamsclone import Draws as PlainDraws
from reference.teamsclone import Episode
from scenarios.teamsclone import texts
from strategies.teamsclone import complete, documents

IDS = {
    "classic": "TeamsClone-v0",
    "mentions": "TeamsClone-Mentions-v0",
    "multi_task": "TeamsClone-MultiTask-v0",
    "multi_agent": "TeamsClone-MultiAgent-v0",
    "multi_agent_v1": "TeamsClone-MultiAgent-v1",
}
SETTINGS = [
    ("classic", 1),
    ("mentions", 1),
    ("multi_task", 1),
    ("multi_agent", 2),
    ("multi_agent", 3),
    ("multi_agent", 4),
    ("multi_agent_v1", 2),
    ("multi_agent_v1", 4),
]
STEPS = 30
TOLERANCE = 1e-5


@functools.cache
def engine(variant, num_agents):
    """(env, jitted turn, observe, mask and statistics), compiled once for all examples."""
    static = {"num_agents": num_agents} if variant.startswith("multi_agent") else {}
    env, params = jaxenv.make(IDS[variant], **static)

    @jax.jit
    def turn(state, action, draws, params):
        state, reward, terminated, info = env.turn(state, action, draws, params)
        return state, env.observe(state, params), reward, terminated, env.is_truncated(state, params), info

    return env, params, turn, jax.jit(env.reset_env)


def with_agents(env, tree):
    """The tree with its axis of agents, which one agent goes without."""
    tree = jax.tree.map(np.asarray, tree)
    return jax.tree.map(lambda leaf: leaf[None], tree) if env.num_agents == 1 else tree


def with_schedule(state, schedule):
    """The state with mentions [(step, channel, author)] of a test's own."""
    step, channel, author = np.full(8, NEVER), np.zeros(8), np.zeros(8)
    for n, entry in enumerate(schedule):
        step[n], channel[n], author[n] = entry
    columns = (jnp.asarray(step, jnp.int16), jnp.asarray(channel, jnp.int8), jnp.asarray(author, jnp.int8))
    return state.replace(schedule=Schedule(*columns))


def assert_same_workspace(env, state, episode, table):
    """Presence, all messages with their marks, unread counts, calls and entries agree."""
    s = jax.tree.map(np.asarray, state)
    all_words, posted, reactions = map(messages.by_channel, (s.messages.words, s.messages.posted, s.messages.reactions))
    count = len(episode.channels)
    assert int(s.clock) == episode.clock
    assert s.presence[: len(episode.presence)].tolist() == list(episode.presence)
    for c, channel in enumerate(episode.channels):
        number = int(s.messages.count[c])
        places = np.asarray(messages.place_of(number, np.arange(min(number, 10))))[::-1]
        words = all_words[c, places]
        assert [table[code] for code in messages.text(words).tolist()] == [m.text for m in channel.messages]
        assert [KINDS[code] for code in messages.kind(words).tolist()] == [m.kind for m in channel.messages]
        assert messages.author(words).tolist() == [author_code(env, m.author) for m in channel.messages]
        named = [None if code < 0 else code for code in messages.named(words).tolist()]
        assert named == [m.mentioned for m in channel.messages]
        assert messages.is_pending(words).tolist() == [m.pending for m in channel.messages]
        assert posted[c, places].tolist() == [m.posted for m in channel.messages]
        assert [number - len(places) + n + 1 for n in range(len(places))] == [m.serial for m in channel.messages]
        for agent in range(env.num_agents):
            assert messages.is_seen(words, agent).tolist() == [m.seen[agent] for m in channel.messages]
            given_ = (reactions[c, places] >> (4 * agent)) & 15
            assert given_.tolist() == [
                0 if m.reactions[agent] is None else m.reactions[agent] + 1 for m in channel.messages
            ]
        assert int(s.run[c]) == channel.run
    assert s.unread[:, :count].tolist() == [list(row) for row in episode.unread]
    paid = [[None if clock == NEVER else clock for clock in row] for row in s.paid[:, :count].tolist()]
    assert paid == [list(row) for row in episode.paid]
    assert s.in_call[:, :count].tolist() == [list(row) for row in episode.joined]
    assert (s.clock <= s.call_end)[:count].tolist() == list(episode.running_calls)


def author_code(env, author):
    """The JAX engine's number of a reference author."""
    return env.limits.users + int(author.split()[1]) if isinstance(author, str) else author


def assert_same_view(env, observation, episode, table):
    """Every field that an agent is shown agrees, and so does the mask."""
    o = with_agents(env, observation)
    for agent in range(env.num_agents):
        one, shown = jax.tree.map(lambda leaf, n=agent: leaf[n], o), episode.observation(agent)
        window = one.messages
        number = len(shown.window)
        assert window.exists.tolist() == [n < number for n in range(10)]
        assert window.author[:number].tolist() == [author_code(env, m.author) for m in shown.window]
        assert [KINDS[code] for code in window.kind[:number]] == [m.kind for m in shown.window]
        assert window.mentions_me[:number].tolist() == [m.mentions_me for m in shown.window]
        assert window.pending[:number].tolist() == [m.pending for m in shown.window]
        assert window.age[:number].tolist() == [m.age for m in shown.window]
        own = [None if code == NO_REACTION else code for code in window.reaction[:number].tolist()]
        assert own == [m.own_reaction for m in shown.window]
        assert [table[code] for code in window.text[:number]] == [m.text for m in shown.window]
        assert (int(one.team), int(one.channel), int(one.clock)) == (shown.team, shown.channel, shown.clock)
        for name in ("exists", "unread", "running", "joined", "present", "run"):
            assert getattr(one, name).tolist() == list(getattr(shown, name)), name
        assert bool(one.away) == (not shown.available)
        assert int(one.sends) == shown.own_sends
        assert np.flatnonzero(one.action_mask).tolist() == episode.legal(agent)


def assert_same_outcome(env, found, step, episode):
    """Rewards, their parts, refusals, ends and statistics agree."""
    reward, terminated, truncated, info = found
    told = with_agents(env, {name: info[name] for name in ("reward_parts", "invalid_action", "statistics")})
    rewards = with_agents(env, reward)
    assert (bool(terminated), bool(truncated)) == (step.terminated, step.truncated)
    if "success" in info:
        assert bool(info["success"]) == step.success
    assert told["invalid_action"].tolist() == step.invalid
    assert rewards.tolist() == pytest.approx(step.rewards, abs=TOLERANCE)
    for agent in range(env.num_agents):
        parts = {name: float(getattr(told["reward_parts"], name)[agent]) for name in step.parts[agent]}
        assert parts == pytest.approx(step.parts[agent], abs=TOLERANCE)
        expected = episode.statistics(agent)
        statistics = {name: float(getattr(told["statistics"], name)[agent]) for name in expected}
        assert statistics == pytest.approx(expected, abs=1e-4)


def draw_step(dice, users):
    """(draws of the JAX engine, the same for the reference)."""
    bits = dice.integers(0, 2**16, users + 6).tolist()
    plain = PlainDraws(bits[:users], *bits[users:])
    return Draws(jnp.array(bits[:users], jnp.int32), *(jnp.int32(bit) for bit in bits[users:])), plain


def choose(dice, legal, size):
    """Now and then any entry, else a legal one, messages and answers more often than their number."""
    if dice.random() < 0.1:
        return int(dice.integers(size))
    talk = [index for index in legal if index < 22]
    return int(dice.choice(talk if talk and dice.random() < 0.6 else legal))


def play_both(document, variant, num_agents, seed):
    """Plays one workspace in both engines and compares everything after each step."""
    dice = np.random.default_rng(seed)
    env, defaults, turn, reset = engine(variant, num_agents)
    library = scenarios.parse("teamsclone", document)
    form, table = complete(library.documents[0]), texts(library.documents)
    limit, shared = int(dice.integers(6, STEPS + 1)), float(dice.choice([0.0, 0.25, 1.0]))
    bank = library.bank.replace(shared=None)  # tables of one size, or none, compile once
    params = defaults.replace(
        bank=bank,
        call_rate=jnp.float32(-1),
        max_steps_in_episode=jnp.int32(limit),
        shared_reward=jnp.float32(shared),
    )
    schedule = None
    if variant == "mentions":
        steps = dice.choice(max(limit // 2, 1), size=min(limit // 2, int(dice.integers(3, 9))), replace=False)
        places = dice.integers(0, len(library.documents[0].channel_ids), len(steps))
        authors = dice.integers(0, len(library.documents[0].users), len(steps))
        schedule = list(zip(steps.tolist(), places.tolist(), authors.tolist(), strict=True))
    episode = Episode(form, num_agents, variant, time_limit=limit, schedule=schedule, shared_reward=shared)
    _, state = reset(jax.random.key(seed), params, 0)
    state = with_schedule(state, schedule) if schedule is not None else state
    assert_same_workspace(env, state, episode, table)
    assert_same_view(env, env.observe(state, params), episode, table)
    while not episode.over:
        actions = [choose(dice, episode.legal(agent), env.num_actions) for agent in range(num_agents)]
        draws, plain = draw_step(dice, env.limits.users)
        action = jnp.array(actions, jnp.int32) if num_agents > 1 else jnp.int32(actions[0])
        state, observation, *found = turn(state, action, draws, params)
        step = episode.step(actions, plain)
        assert_same_outcome(env, found, step, episode)
        assert_same_workspace(env, state, episode, table)
        assert_same_view(env, observation, episode, table)


@pytest.mark.parametrize(
    ("variant", "num_agents"),
    [
        ("classic", 1),
        ("mentions", 1),
        pytest.param("multi_agent", 3, marks=pytest.mark.slow),
        ("multi_agent_v1", 2),
    ],
)
@settings(max_examples=8, deadline=None)
@given(document=documents(), seed=st.integers(0, 2**32 - 1))
def test_the_engines_agree(variant, num_agents, document, seed):
    play_both(document, variant, num_agents, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "num_agents"), SETTINGS)
@settings(max_examples=350, deadline=None)
@given(document=documents(), seed=st.integers(0, 2**32 - 1))
def test_the_engines_agree_at_length(variant, num_agents, document, seed):
    play_both(document, variant, num_agents, seed)
