"""The actions of TeamsClone in words: the specification's rows, what content becomes, and errors that teach."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scenarios
from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, TEMPLATES
from reference.teamsclone_general import general
from scenarios.teamsclone import Action
from strategies.teamsclone_words import IDLE, OFFICE, Game, join, post, quiet, react, send, step, switch


@pytest.fixture(scope="module")
def office() -> Game:
    return Game(OFFICE)


def test_legal_actions_are_the_mask_and_encode_back() -> None:
    library = Game(*scenarios.load("teamsclone").documents)
    rng, mask_of = np.random.default_rng(0), jax.jit(library.env.action_mask)
    for index in range(len(library.library)):
        state = library.start(index)
        for _ in range(5):
            legal = library.codec.legal_actions(state)
            mask = mask_of(state, library.params)
            assert [entry for entry, _ in legal] == np.flatnonzero(mask).tolist()
            assert [library.codec.encode(state, action) for _, action in legal] == [entry for entry, _ in legal]
            entry = legal[rng.integers(len(legal))][0]
            state = step(library.env, state, jnp.int32(entry), library.params)[1]


def test_every_entry_of_the_catalogue_has_words_of_its_own(office: Game) -> None:
    state = office.start()
    found = [office.codec.decode(state, index) for index in range(office.env.num_actions)]
    assert len(found) == len({str(action) for action in found}) == 114
    texts = general()["texts"]
    assert found[:6] == [send(texts[KINDS[kind]][0]) for kind in TEMPLATES]
    assert found[6:11] == [send(texts["reply"][0], n) for n in range(1, 6)]
    assert found[13] == send(texts["reply"][0]) | {
        "payload": {"content": texts["reply"][0], "channelId": "(no channel 8)"}
    }
    assert found[14:19] == [switch(n) for n in range(1, 6)]
    assert found[22:30] == [react("msg-channel-1-2", emoji) for emoji in EMOJI]  # the newest one
    assert found[30:38] == [react("msg-channel-1-1", emoji) for emoji in EMOJI]
    assert found[38] == react("(no message 3)")
    assert found[102:107] == [join(n) for n in range(1, 6)]
    assert found[110:] == [
        IDLE,
        send(""),
        {"type": "switch_channel", "payload": {"channelId": "(unknown channel)"}},
        {"type": "(malformed)", "payload": {}},
    ]


def test_row_send_message_the_channel_is_optional(office: Game) -> None:
    state = office.start()
    assert office.codec.encode(state, send("Hello everyone!")) == 0
    assert office.codec.encode(state, send("Hello everyone!", 1)) == 0
    assert office.codec.encode(state, {"type": "send_message", "payload": {"content": "Hello everyone!"}}) == 0
    null = {"type": "send_message", "payload": {"content": "Hello everyone!", "channelId": None}}
    assert office.codec.encode(state, null) == 0


def test_row_join_call_the_channel_is_optional() -> None:
    game = Game(quiet(call_rate=1))
    state = game.play(game.start(), IDLE)
    entry = game.env.catalogue.first(actions.JOIN)
    assert game.codec.encode(state, {"type": "join_call", "payload": {}}) == entry
    assert game.codec.encode(state, Action(type="join_call")) == entry
    assert game.codec.encode(state, join(1)) == entry


def test_row_idle_needs_no_payload(office: Game) -> None:
    assert office.codec.encode(office.start(), {"type": "idle"}) == 110


@pytest.mark.parametrize(("kind", "entry"), list(zip(TEMPLATES, range(6), strict=True)))
def test_content_equal_to_a_template_is_that_template(kind: int, entry: int) -> None:
    game = Game(quiet(post(1, 1, "Well?", "mention")))  # even while a mention waits
    assert game.codec.encode(game.start(), send(general()["texts"][KINDS[kind]][0])) == entry


def test_other_content_answers_where_a_seen_mention_pends_and_else_chats() -> None:
    game = Game(quiet(post(1, 1, "Well?", "mention"), post(2, 1, "And you?", "mention")))
    state, (answer, chatter) = game.start(), (1, 5)
    assert game.codec.encode(state, send("Let me see.")) == answer
    answered = game.play(state, send("Let me see."))
    assert game.codec.observation(answered)["episodeStats"]["mentionsAnswered"] == 1
    assert game.codec.encode(answered, send("Let me see.")) == chatter
    there = game.play(answered, switch(2))
    assert game.codec.encode(there, send("Let me see.")) == answer


def test_content_to_another_channel_always_answers(office: Game) -> None:
    first = office.env.catalogue.first(actions.ANSWER)
    for content in ("Hello everyone!", "Anything else.", "Sure, I will look at it now."):
        assert office.codec.encode(office.start(), send(content, 3)) == first + 2


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"type": "send_mesage", "payload": {"content": "Hi"}}, ["Did you mean 'send_message'?", "idle"]),
        ({"payload": {"content": "Hi"}}, ["'type' is missing"]),
        ({"type": "send_message", "payload": {}}, ["for send_message a payload of content, channelId (optional)"]),
        ({"type": "idle", "payload": {"content": "Hi"}}, ["for idle a payload of nothing"]),
        ({"type": "send_message", "payload": {"contents": "Hi"}}, ["Did you mean 'content'?"]),
        ({"type": "send_message", "payload": {"content": 3}}, ["content is 3, expected text."]),
        (send("x" * 1001), ["content", "1000"]),
        (react("msg-channel-1-1", "🦄"), ["one of 👍"]),
        (send(""), ["not legal now: 'send_message"]),
        (send("Hi", 9), ["not legal now", "channel-9"]),
        (switch(1), ["not legal now: 'switch_channel channel-1'", "Nearest: 'switch_channel channel-"]),
        (react("msg-channel-2-1"), ["not legal now", "Nearest: 'react_to_message msg-channel-1-"]),
        (join(1), ["not legal now: 'join_call channel-1'"]),
    ],
)
def test_actions_that_are_not_legal_teach(office: Game, action: dict, words: list[str]) -> None:
    with pytest.raises(scenarios.ScenarioError) as error:
        office.codec.encode(office.start(), action)
    for word in (*words, "Legal actions: send_message Hello everyone!;"):
        assert word in str(error.value)


def test_nothing_is_legal_after_the_time_limit_of_the_params() -> None:
    game = Game(quiet(), max_steps_in_episode=jnp.int32(2))
    state = game.play(game.start(), IDLE)
    assert game.codec.legal_actions(state)
    over = game.play(state, IDLE)
    assert game.codec.legal_actions(over) == []
    assert game.codec.observation(over)["episodeStats"]["stepCount"] == 2
    with pytest.raises(scenarios.ScenarioError, match="the episode has ended"):
        game.codec.encode(over, IDLE)


def test_nothing_is_legal_after_the_goal() -> None:
    quota = {"quota_mentions": jnp.int32(1), "quota_calls": jnp.int32(0)}
    game = Game(quiet(post(1, 1, "Well?", "mention")), num_agents=3, **quota)
    over = game.play(game.start(), (send("Here."), IDLE, IDLE))
    assert [codec.legal_actions(over) for codec in game.codecs] == [[], [], []]
