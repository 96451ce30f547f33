"""Worked cases of docs/rules/teamsclone.md, section 2: every row of the catalogue, when legal and what it does."""

import pytest

from jaxenv.envs.teamsclone import actions
from jaxenv.envs.teamsclone.actions import Catalogue
from jaxenv.envs.teamsclone.types import EMOJI
from reference.teamsclone_cases import CHAT, IDLE, REPLY, calls, initial, says, small
from reference.teamsclone_rules import Entry
from strategies.teamsclone_game import ENTRIES, Game, made

KINDS = ["greeting", "reply", "question", "status", "thanks", "chatter"]


def go(channel):
    return Entry("switch", channel)


def answer(channel):
    return Entry("answer", channel)


def react(slot, emoji=0):
    return Entry("react", slot, emoji)


def legal_of(game, verb, agent=0):
    """The targets of a verb that the mask allows."""
    return sorted({ENTRIES[index].target for index in game.mask(agent) if ENTRIES[index].verb == verb})


# ------------------------------------------------------------------------------------------ catalogue


def test_the_catalogue_has_114_entries_in_the_order_of_the_rules():
    table = Catalogue(8).table.tolist()
    verbs = {"text": actions.TEXT, "answer": actions.ANSWER, "switch": actions.SWITCH, "join": actions.JOIN}
    assert len(table) == 114 == made("classic", 1)[0].num_actions
    for row, entry in zip(table, ENTRIES, strict=True):
        if entry.verb == "react":
            assert row == [actions.REACT, 0, 0, entry.target, entry.emoji]
        elif entry.verb in verbs:
            assert row[0] == verbs[entry.verb]
            assert entry.verb == "text" or row[1] == entry.target
    assert [row[0] for row in table[110:]] == [5, 6, 7, 8]
    assert [verb.name for verb in actions.VERBS[5:]] == ["idle", "empty message", "unknown channel", "malformed"]
    assert EMOJI == ("👍", "❤️", "😂", "😮", "😢", "🎉", "🙏", "👀")
    assert Catalogue(channels=3).size == 6 + 3 * 3 + 80 + 4


def test_the_mask_at_reset_entry_by_entry():
    game = Game(small(messages=[initial(), initial(kind="question")]))
    assert game.mask() == [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, *range(22, 22 + 16), 110]


def test_mask_text_is_always_legal():
    game = Game()
    for step in range(5):  # spam too
        assert legal_of(game, "text") == list(range(6)), step
        game.play(CHAT)


def test_mask_answer_to_other_channels_that_exist():
    game = Game()
    assert legal_of(game, "answer") == [1, 2]
    game.play(go(2))
    assert legal_of(game, "answer") == [0, 1]


def test_mask_switch_to_other_channels_that_exist():
    game = Game(small(start_channel="b"))
    assert legal_of(game, "switch") == [0, 2]
    game.play(go(0))
    assert legal_of(game, "switch") == [1, 2]


def test_mask_react_to_teammates_messages_without_an_own_reaction():
    game = Game(small(messages=[initial()]))
    assert legal_of(game, "react") == [0]
    game.play(CHAT)
    assert legal_of(game, "react") == [1]  # the newest is the agent's own
    game.play(react(1, 6), world=says())
    assert legal_of(game, "react") == [0]  # the oldest has a reaction now
    assert [index for index in game.mask() if 22 <= index < 102] == list(range(22, 30))  # with every emoji


def test_mask_join_where_a_call_runs_that_the_agent_is_not_in():
    game = Game()
    assert legal_of(game, "join") == []
    game.play(world=calls(1))
    game.play(world=calls(0))
    assert legal_of(game, "join") == [0, 1]
    game.play(Entry("join", 1))
    assert legal_of(game, "join") == [0]


def test_mask_idle_is_always_legal_and_the_three_invalid_entries_never():
    game = Game()
    for _ in range(3):
        assert [index for index in game.mask() if index >= 110] == [110]
        game.play(CHAT, world=says())


def test_each_agent_has_its_own_mask():
    game = Game(small(messages=[initial()]), num_agents=2)
    game.play(react(0), go(1), world=calls(2))
    game.play(Entry("join", 2))
    assert [legal_of(game, "switch", agent) for agent in (0, 1)] == [[1, 2], [0, 2]]
    assert [legal_of(game, "react", agent) for agent in (0, 1)] == [[], []]
    game.play(IDLE, go(0))
    assert [legal_of(game, "react", agent) for agent in (0, 1)] == [[], [0]]
    assert [legal_of(game, "join", agent) for agent in (0, 1)] == [[], [2]]


# ------------------------------------------------------------------------------ what the actions do


def test_action_send_message_posts_the_first_text_of_each_kind():
    game = Game()
    for template in range(6):
        assert game.play(Entry("text", template)).invalid == [False]
    assert [(m.kind, m.text, m.author, m.posted) for m in game.kept()] == [
        (kind, f"{kind} 0", "agent 0", clock) for clock, kind in enumerate(KINDS)
    ]


def test_action_send_message_to_another_channel_is_the_answer_template_and_does_not_move_the_agent():
    game = Game()
    game.play(answer(2))
    (message,) = game.kept(2)
    assert (message.kind, message.text, message.author) == ("reply", "reply 0", "agent 0")
    assert (int(game.state.channel[0]), game.kept(0)) == (0, [])


def test_action_switch_channel_goes_to_any_channel_of_any_team():
    game = Game()
    for channel, team in ((2, 1), (1, 0), (0, 0)):
        assert game.play(go(channel)).invalid == [False]
        assert (int(game.shown().channel), int(game.shown().team)) == (channel, team)


def test_action_react_to_message_goes_to_the_ith_newest_before_the_step():
    game = Game(small(messages=[initial(text="old"), initial(text="new")]))
    game.play(react(0, 2), world=says())
    assert [message.reactions for message in game.kept()] == [[None], [2], [None]]
    game.play(react(2, 7))
    assert [message.reactions for message in game.kept()] == [[7], [2], [None]]


def test_every_agent_gives_its_own_reaction():
    game = Game(small(messages=[initial()]), num_agents=2)
    game.play(react(0, 1), react(0, 4))
    assert game.kept()[0].reactions == [1, 4]


def test_action_join_call_from_anywhere():
    game = Game()
    game.play(world=calls(2))
    game.play(Entry("join", 2))
    assert game.of_channels("joined") == [False, False, True]
    assert int(game.state.channel[0]) == 0


def test_ours_action_idle_does_nothing_and_costs_nothing():
    game = Game(small(messages=[initial("b")]))
    step = game.play(IDLE)
    assert (step.rewards, step.parts, step.invalid) == ([0.0], [{}], [False])
    assert (game.kept(0), int(game.state.acts[0]), game.of_channels("unread")) == ([], 0, [0, 1, 0])


# ---------------------------------------------------------------------------------------------- illegal


def assert_refused(game, entry, part, amount):
    """It costs what it is, changes nothing of the agent's, and the world goes on."""
    before = game.state
    step = game.play(entry, world=says(1))
    assert (step.parts, step.rewards, step.invalid) == ([{part: amount}], [amount], [True])
    for name in ("channel", "acts", "sends", "in_call", "visited", "paid"):
        assert getattr(game.state, name).tolist() == getattr(before, name).tolist(), name
    assert (int(game.state.clock), game.of_channels("unread"), len(game.kept(0))) == (1, [0, 1, 0], 0)


def test_penalty_empty_message_costs_0_2():
    assert_refused(Game(), Entry("empty_message"), "empty_message", -0.2)


def test_penalty_invalid_channel_costs_0_3():
    assert_refused(Game(), Entry("invalid_channel"), "invalid_channel", -0.3)


@pytest.mark.parametrize("index", [113, 114, 1000, -1])
def test_penalty_invalid_action_costs_0_1(index):
    assert_refused(Game(), index, "invalid_action", -0.1)


def test_ours_switching_to_the_channel_one_is_in_is_illegal():
    assert_refused(Game(), go(0), "invalid_action", -0.1)


def test_ours_answering_to_the_channel_one_is_in_is_illegal():
    assert_refused(Game(), answer(0), "invalid_action", -0.1)


@pytest.mark.parametrize("entry", [answer(3), answer(7), go(3), go(7), Entry("join", 5), react(0), react(9, 7)])
def test_padding_costs_0_1(entry):
    assert_refused(Game(), entry, "invalid_action", -0.1)


def test_ours_a_call_can_be_joined_only_while_it_runs():
    assert_refused(Game(), Entry("join", 0), "invalid_action", -0.1)
    game = Game(small(call_length=2))
    game.play(world=calls(0))
    game.wait(2)
    assert game.earns(Entry("join", 0)) == {"invalid_action": -0.1}


def test_a_call_that_one_is_in_cannot_be_joined_again():
    game = Game()
    game.play(world=calls(0))
    assert game.earns(Entry("join", 0)) == {"join_call": 0.3}
    assert game.earns(Entry("join", 0)) == {"invalid_action": -0.1}


def test_ours_reactions_only_to_teammates_messages():
    game = Game(num_agents=2)
    game.play(CHAT)
    step = game.play(react(0), react(0))  # one's own message, and another agent's
    assert step.parts == [{"invalid_action": -0.1}] * 2
    assert game.kept()[0].reactions == [None, None]


def test_ours_reactions_only_to_the_ten_messages_of_the_window_and_once():
    game = Game(small(messages=[initial(text=f"{n}") for n in range(10)]))
    assert game.earns(react(9, 3)) == {"react": 0.05}
    assert game.earns(react(9, 4)) == {"invalid_action": -0.1}
    game.play(world=says())  # the one with a reaction is pushed out
    assert [message.reactions for message in game.kept()] == [[None]] * 10
    assert game.earns(react(9, 3))["react"] == 0.05


def test_refused_and_allowed_as_the_mask_says_for_every_entry():
    game = Game(small(messages=[initial(), initial("c")]))
    for world in (calls(1), says(0)):
        game.play(REPLY, world=world)
    start, allowed = game.state, game.mask()
    assert {ENTRIES[index].verb for index in allowed} == {"text", "answer", "switch", "react", "join", "idle"}
    for index in range(114):
        game.state = start
        assert game.play(index).invalid == [index not in allowed], ENTRIES[index]
