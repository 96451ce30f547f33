"""What an agent is shown (docs/rules/teamsclone.md, section 5): fields, and the vector of 442 or 472 numbers."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv import wrappers
from jaxenv.envs.teamsclone import TeamsClone, features
from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS, EMBEDDING_SIZE, default_embedding, default_table, embed
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, MAX_STEPS
from reference.teamsclone_cases import BEN, CHAT, REPLY, calls, initial, says, small
from reference.teamsclone_general import general
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import Game, Shown, made, program

TABLE = np.random.default_rng(0).normal(size=(64, 16)).astype(np.float32)


def go(channel):
    return Entry("switch", channel)


# --------------------------------------------------------------------------------------------- fields


def test_the_observation_at_reset():
    messages = [initial(text="old"), initial(user="ben", kind="question", text="new"), initial("c")]
    game = Game(small(messages=messages))
    assert game.window() == [
        Shown(BEN, "question", False, False, 1, None, "new"),
        Shown(0, "chatter", False, False, 1, None, "old"),
    ]
    o = game.shown()
    assert [int(number) for number in (o.team, o.channel, o.clock, o.max_steps, o.sends)] == [0, 0, 0, 100, 0]
    assert not o.away
    assert o.exists.tolist() == [True] * 3 + [False] * 5
    assert o.unread.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert o.present.tolist() == [True, True] + [False] * 5
    assert o.running.tolist() == o.joined.tolist() == [False] * 8
    assert o.run.tolist() == [0] * 8
    empty = jax.tree.map(lambda column: column[2:].tolist(), vars(o.messages))
    constants = {"author": -1, "kind": -1, "reaction": -1}
    assert empty == {name: [constants.get(name, 0)] * 8 for name in empty}


def test_the_observation_follows_the_agent():
    game = Game(small(start_channel="b"), num_agents=2)
    game.play(go(2), world=says(2, "mention"))
    game.play(Entry("react", 0, 3), go(2), world=calls(1))
    game.play(Entry("join", 1), CHAT)
    game.play(REPLY)
    own, other = game.shown(0), game.shown(1)
    assert [int(number) for number in (own.team, own.channel, own.clock)] == [1, 2, 4]
    assert game.window(0)[2] == Shown(0, "mention", True, False, 4, 3, "mention 0")
    assert game.window(1)[2] == Shown(0, "mention", False, False, 4, None, "mention 0")
    assert [shown.author for shown in game.window(1)] == ["agent 0", "agent 1", 0]
    assert own.unread.tolist() == other.unread.tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    assert (own.joined[:3].tolist(), other.joined[:3].tolist()) == ([False, True, False], [False] * 3)
    assert own.run.tolist() == other.run.tolist() == [0, 0, 2, 0, 0, 0, 0, 0]
    assert (int(own.sends), int(other.sends)) == (1, 1)


def test_own_sends_are_those_of_nine_steps():
    game = Game()
    game.play(CHAT)
    game.wait(8)
    assert int(game.shown().sends) == 1
    game.wait(1)
    assert int(game.shown().sends) == 0


def test_the_observation_of_general_at_reset():
    game = Game(general())
    assert [(m.author, m.kind, m.text) for m in game.window()] == [
        (1, "greeting", "Hello, good to have you here."),
        (0, "greeting", "Welcome to the team!"),
    ]
    assert game.presence == ["available", "busy", "away"]
    assert game.of_channels("unread") == [0, 1, 0, 0, 0]


@pytest.mark.parametrize("agents", [1, 2])
def test_the_spaces_contain_observations_and_states_at_their_extremes(agents):
    game = Game(small(messages=[initial()]), num_agents=agents, max_steps_in_episode=MAX_STEPS)
    rings, state = game.state.messages, game.state
    extreme = state.replace(
        clock=jnp.int16(MAX_STEPS - 1),
        messages=rings.replace(
            words=rings.words | np.uint32(2 ** (24 + agents) - 2**24),
            reactions=jnp.full_like(rings.reactions, np.uint32(8 * (16**agents - 1) // 15)),
        ),
        unread=jnp.full_like(state.unread, 255),
        run=jnp.full_like(state.run, 127),
        sends=jnp.full_like(state.sends, 511),
        acts=jnp.full_like(state.acts, 31),
        waiting=jnp.full_like(state.waiting, 80),
    )
    for game.state in (state, extreme):
        for entry in (CHAT, Entry("switch", 1)):
            game.play(*[entry] * agents, world=says(0))
            assert bool(game.env.state_space().contains(game.state))
            assert bool(game.env.observation_space().contains(game.observation))
            game.state = game.state.replace(clock=jnp.minimum(game.state.clock, jnp.int16(MAX_STEPS - 1)))
    assert int(game.shown().unread.max()) == 255
    game.state = extreme  # a clock minus NEVER still fits
    assert game.play(*[Entry("switch", 1)] * agents, world=says(0)).parts[0]["switch"] == pytest.approx(0.05)
    odd = game.state.replace(presence=game.state.presence + jnp.int8(4))
    assert not bool(game.env.state_space().contains(odd))


def test_messages_of_eight_agents_fill_their_words_and_are_contained():
    rings = TeamsClone(num_agents=8).state_space()["messages"]
    for name in ("words", "reactions"):
        assert bool(rings[name].contains(jnp.full(80, np.uint32(2**32 - 1))))


# --------------------------------------------------------------------------------------------- vector


def one_hot(place, size):
    return [float(place == each) for each in range(size)]


def laid_out(game, agent, num_agents):
    """The vector as docs/rules/teamsclone.md, section 5 lists it, from what the agent is shown."""
    numbers = []
    for n in range(10):
        if n >= len(game.window(agent)):
            numbers += [0.0] * (1 + 7 + num_agents + 9 + 4 + 16)
            continue
        shown = game.window(agent)[n]
        author = shown.author if isinstance(shown.author, int) else 7 + int(shown.author.split()[1])
        numbers += [1.0, *one_hot(author, 7 + num_agents), *one_hot(KINDS.index(shown.kind), 9)]
        reaction = 0 if shown.reaction is None else (shown.reaction + 1) / len(EMOJI)
        numbers += [float(shown.mentions_me), float(shown.pending), shown.age / 10, reaction]
        numbers += TABLE[game.texts.index(shown.text)].tolist()
    o = game.shown(agent)
    numbers += one_hot(int(o.team), 4) + one_hot(int(o.channel), 8) + o.exists.tolist() + (o.unread / 10).tolist()
    numbers += o.running.tolist() + o.joined.tolist() + o.present.tolist()
    numbers += [float(o.away), int(o.clock) / int(o.max_steps), int(o.sends) / 3, *(o.run / 3).tolist()]
    return np.array(numbers, np.float32)


def eventful(num_agents=1):
    """A window with every column of use, unread messages, calls, and a run."""
    game = Game(small(messages=[initial("b"), initial()], start_channel="c"), num_agents=num_agents)
    for entry, world in (
        (CHAT, says(2, "mention")),
        (Entry("react", 0, 4), calls(1, BEN)),
        (Entry("join", 1), says(0)),
        (CHAT, calls(0)),
    ):
        game.play(*[entry] * num_agents, world=world)
    game.play(Entry("idle"), world=says(2, "mention"))
    return game


@pytest.mark.parametrize(("agents", "length"), [(1, 442), (4, 472)])
def test_the_flat_vector_is_laid_out_as_the_rules_list_it(agents, length):
    game = eventful(num_agents=min(agents, 2))
    params = game.params.with_text_embedding(jnp.asarray(TABLE))
    flat = jax.jit(features.flat, static_argnums=2)
    for agent in range(min(agents, 2)):
        vector = flat(jax.tree.map(jnp.asarray, game.shown(agent)), params, agents)
        assert vector.shape == (length,)
        np.testing.assert_allclose(vector, laid_out(game, agent, agents), atol=1e-6)
    assert np.count_nonzero(np.asarray(vector)) > 60


@pytest.mark.parametrize(("variant", "agents", "shape"), [("classic", 1, (442,)), ("multi_agent", 4, (4, 472))])
def test_flatten_observation_of_general_has_442_numbers_and_472_each_for_four_agents(variant, agents, shape):
    env, params = made(variant, agents)
    flat = wrappers.FlattenObservation(env)
    observation, _ = jax.eval_shape(flat.reset_env, jax.random.key(0), params)
    assert (observation.vector.shape, observation.vector.dtype) == (shape, jnp.float32)
    assert flat.observation_space(params)["vector"].shape == shape
    assert 128 <= shape[-1] <= 512  # of the specification


def entities(game):
    return _entities(game.env, game.shown(), game.params)


_entities = functools.partial(jax.jit, static_argnums=0)(lambda env, *args: env.entities(*args))


def test_entities_say_the_same_as_the_vector():
    game = eventful()
    found = entities(game)
    vector = np.asarray(jax.jit(game.env.flatten)(game.shown(), game.params))
    assert {name: group.features.shape for name, group in found.groups.items()} == {
        "channels": (8, 6),
        "messages": (10, 38),
    }
    np.testing.assert_allclose(found.groups["messages"].features.ravel(), vector[:380], atol=1e-6)
    np.testing.assert_allclose(found.context, vector[380:], atol=1e-6)
    assert found.actions.dense().shape == (114, 22)
    assert found.groups["channels"].mask.tolist() == [True] * 3 + [False] * 5


def test_action_features_tell_answers_timeliness_spam_and_silence():
    def told(game):
        return np.asarray(entities(game).actions.dense())

    game = Game(small(messages=[initial()]))
    game.wait(9)
    assert told(game)[0, 18:].tolist() == [0, 0, 0, 0]
    game.wait(1)
    assert told(game)[0, 18:].tolist() == [0, 0, 0, 1]  # ten quiet steps, as the rules count them
    assert "channel_engagement" in game.earns(CHAT)
    game.play(CHAT, world=says(0, "mention"))
    assert told(game)[0, 18:].tolist() == [1, 1, 0, 0]
    game.wait(2)
    assert told(game)[0, 18:].tolist() == [1, 0, 0, 0]
    for _ in range(2):
        game.play(CHAT)
    assert told(game)[0, 18:].tolist() == [0, 0, 1, 0]
    assert not told(game)[111:].any()


# ---------------------------------------------------------------------------------------------- texts


def test_texts_are_looked_up_in_the_frozen_table_of_the_params():
    game = Game(small(messages=[initial()]))
    observation = jax.tree.map(jnp.asarray, game.shown())
    rows = [jnp.asarray(TABLE), jnp.asarray(2 * TABLE)]
    found = [np.asarray(game.env.flatten(observation, game.params.with_text_embedding(table)))[22:38] for table in rows]
    np.testing.assert_array_equal(found[0], TABLE[game.texts.index("from before")])
    np.testing.assert_array_equal(found[1], 2 * found[0])


def test_a_table_of_another_width_makes_longer_vectors():
    env, params = made("classic", 1)
    wide = params.with_text_embedding(jnp.zeros((64, 48)))
    observation, _ = jax.eval_shape(env.reset_env, jax.random.key(0), wide)
    assert jax.eval_shape(env.flatten, observation, wide).shape == (442 + 10 * 32,)


def test_the_bank_of_the_library_brings_a_row_for_each_of_its_texts():
    params = made("classic", 1)[1]
    assert params.text_embedding.shape[1] == EMBEDDING_SIZE == 16
    assert int(params.bank.scenarios.texts.max()) < params.text_embedding.shape[0]
    assert params.with_text_embedding(jnp.asarray(TABLE)).text_embedding.shape == (64, 16)


def test_default_rows_are_unit_vectors_of_hashed_words():
    assert default_embedding().shape == (len(default_table()), 16)
    assert tuple(DEFAULT_TEXTS) == KINDS
    np.testing.assert_allclose(np.linalg.norm(default_embedding(), axis=1), 1, atol=1e-6)
    one, other, nothing, twice = embed(["Thank you!", "thank YOU", "…", "thank thank you you"])
    np.testing.assert_array_equal(one, other)  # words, without case and punctuation
    assert not nothing.any()
    np.testing.assert_allclose(twice, one, atol=1e-6)
    assert (one != embed(["Good morning"])[0]).any()


def test_no_observation_depends_on_the_table():
    game = Game(small(messages=[initial()]))
    reset = program("none", 1)[1]
    params = made("classic", 1)[1]
    for table in (TABLE, -TABLE):
        changed = params.replace(bank=game.params.bank).with_text_embedding(jnp.asarray(table))
        observation, _ = reset(jax.random.key(0), changed, 0)
        jax.tree.map(np.testing.assert_array_equal, jax.device_get(observation), game.shown())
