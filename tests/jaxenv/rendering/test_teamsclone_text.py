"""A chat as text: the window, the channels and the people, what a step did, and what actions mean in words."""

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import rendering
from jaxenv.envs.teamsclone.view.snapshot import names_of
from jaxenv.rendering.views import describe_action
from scenarios.teamsclone import texts
from strategies.teamsclone_chats import (
    BACK,
    CHAT,
    DESK,
    EMPTY,
    ENV,
    HALL,
    IDLE,
    MALFORMED,
    PHONE,
    REPLY,
    UNKNOWN,
    answer,
    go,
    join,
    play,
    react,
    visit,
)

STEP_FOUR = """\
desk · step 4 of 6
idle: +0.05
  presence +0.05
  unread: #Phone 2
  call starts: #Phone
  missed: a mention that was not seen
return +1.25.

Channels
  ▸  Front desk  Hall
     Front desk  back   2 unread
     phones      Phone  2 unread  call
#Hall, oldest first
     at the start   Ben    greeting  Good night.
     at the start   Ada    mention   @agent Is the door open?  [answered]  👍
     step 2, age 3  Agent  reply     On my way.
People
  available  Ada, Agent
  offline    Ben
So far, Agent
  return 1.25, messages sent 1, channels visited 1 of 3, switches 0, mentions received 2, answered 1, missed 1, \
response rate 50 %, mean response time 2.0 steps, valid actions 100 %, reactions per message 0.17"""
TRANSCRIPT = """\
  1. react 👍 to Ada: “@agent Is the door open?”: +0.05
       react +0.05
       unread: #Phone 1
       call starts: #Phone
  2. send reply “On my way.”: +0.80
       send +0.10, mention response +0.50, timely response +0.20
       answered: Ada in #Hall, after 2 steps, by Agent
  3. join the call in #Phone: +0.35
       join call +0.30, presence +0.05
       call ends: #Phone
  4. idle: +0.05
       presence +0.05
       unread: #Phone 2
       call starts: #Phone
       missed: a mention that was not seen
  5. go to #back: +0.10
       switch +0.05, presence +0.05
       found: 2 unread in #back
  6. send thanks “Much obliged.”: +0.15
       send +0.10, presence +0.05
       call ends: #Phone
       end: out of time
return +1.50.  Out of time.
"""


def test_a_chat_as_text():
    assert str(visit()[4]) == STEP_FOUR


def test_an_episode_as_a_transcript():
    text = visit().transcript()
    assert text[text.index("  1. ") : text.index("\ndesk · step 6")] == TRANSCRIPT
    assert text.startswith("desk · step 0 of 6\n\nChannels\n")


def test_a_mention_waits_and_is_then_answered_or_missed():
    line = "●  at the start  Ada  mention   @agent Is the door open?  [pending]"
    assert line in str(visit()[0])
    assert "Hello @agent, have you seen it?  [missed]" in str(visit()[5])


def test_a_single_state_does_not_show_how_an_old_mention_ended():
    episode = visit()
    library = scenarios.parse("teamsclone", DESK)
    alone = [str(rendering.render(ENV, episode.states[n], episode.params, names=library)) for n in (2, 5)]
    assert "Is the door open?  [answered]" in alone[0]  # too young to be missed
    assert "have you seen it?  [over]" in alone[1]


def test_a_mention_that_was_seen_is_missed_by_name():
    assert play(go(BACK), IDLE, IDLE, IDLE).steps[3].effects == (
        "unread: #Phone 2",
        "call starts: #Phone",
        "missed: Ada in #Hall",
        "missed: Ada in #back",
        "end: out of time",
    )


def test_a_seen_mention_is_answered_from_afar():
    episode = play(go(BACK), answer(HALL))
    assert episode.steps[1].description == "send reply to #Hall “On my way.”"
    assert "answered: Ada in #Hall, after 2 steps, by Agent" in episode.steps[1].effects


def test_what_others_post_in_the_channel_is_reported():
    assert play(go(PHONE)).steps[0].effects == (
        "found: nothing unread in #Phone",
        "Ada: Ring ring.",
        "call starts: #Phone",
        "end: out of time",
    )


def test_who_is_in_a_call_is_shown():
    episode = play(go(PHONE), join(PHONE), IDLE)
    assert "Phone            call with Agent" in str(episode[2])
    assert "call with" not in str(episode[3])


def test_actions_in_words():
    episode = visit()
    chosen = (
        IDLE,
        EMPTY,
        UNKNOWN,
        MALFORMED,
        CHAT,
        answer(HALL),
        answer(BACK),
        go(7),
        react(1, 5),
        react(4, 0),
        114,
        -1,
    )
    library = scenarios.parse("teamsclone", DESK)
    assert [
        describe_action(ENV, episode.states[0], np.int32(n), episode.params, library) for n in (*chosen, join(PHONE))
    ] == [
        "idle",
        "send an empty message, not legal",
        "go to an unknown channel, not legal",
        "a malformed action, not legal",
        "send chatter “The coffee machine is fixed again.”",
        "send reply to #Hall “On my way.”, not legal",
        "send reply to #back “On my way.”",
        "go to no channel 8, not legal",
        "react 🎉 to Ben: “Good night.”",
        "react 👍 to no message 5, not legal",
        "action 114, which does not exist",
        "action -1, which does not exist",
        "join the call in #Phone, not legal",
    ]


def test_without_names_everything_is_numbered():
    text = str(play(REPLY, named=False)[1])
    assert text.startswith("a workspace · step 1 of 1\nsend reply “text 30”: ")
    assert "  ▸  Team 1  Channel 1\n     Team 1  Channel 2  2 unread\n     Team 2  Channel 3  1 unread  call\n" in text
    assert "at the start   User 2  greeting  text 32\n" in text


def test_a_generated_workspace_says_the_usual_texts():
    drawn = jax.device_get(jax.jit(ENV.generate)(jax.random.key(0), 0.5))
    params = ENV.params_for(jaxenv.ScenarioBank.stack([drawn]))
    state = ENV.reset(jax.random.key(0), params, 0)[1]
    assert describe_action(ENV, state, np.int32(CHAT), params) == "send chatter “The coffee machine is fixed again.”"


def test_the_texts_of_the_library_are_those_of_its_merged_table():
    library = scenarios.load("teamsclone")
    table = texts(library.documents)
    for number, document in enumerate(library.documents):
        names = names_of(jax.device_get(library.bank[number]), library.names(number), 1)
        codes = {code for code, text in names.texts.items() if text in set(document.all_texts())}
        assert set(document.all_texts()) == {names.texts[code] for code in codes}
        assert all(names.texts[code] == table[code] for code in names.texts)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("teams", ("Front desk",), r"teams has 1 entries and the scenario 2.*another scenario"),
        ("channels", ("Hall", "back", "Hall", "back"), r"channels has 4 entries and the scenario 3"),
        ("users", ("Ada",), r"users has 1 entries and the scenario 2"),
    ],
)
def test_names_of_another_workspace_are_refused(field, value, message):
    episode = visit()
    with pytest.raises(ValueError, match=message):
        rendering.render(ENV, episode.states[0], episode.params, names={field: value})
