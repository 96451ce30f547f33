"""The reference engine of TeamsClone against worked cases: actions, mask and the parts of the reward."""

from __future__ import annotations

import pytest

from reference.teamsclone_cases import CHAT, IDLE, calls, game, initial, legal, nonzero, play, says, small, wait
from reference.teamsclone_rules import PARTS, Entry

SEND = {"send": 0.1}
SPAM = {"spam": -0.5}


def go(channel: int) -> Entry:
    return Entry("switch", channel)


# ------------------------------------------------------------------------------------------ catalogue


def test_the_catalogue_has_114_entries_in_order() -> None:
    entries = game().entries
    assert len(entries) == 114
    assert (entries[0], entries[5]) == (Entry("text", 0), Entry("text", 5))
    assert (entries[6], entries[13]) == (Entry("answer", 0), Entry("answer", 7))
    assert (entries[14], entries[21]) == (go(0), go(7))
    assert (entries[22], entries[22 + 3 * 8 + 5]) == (Entry("react", 0, 0), Entry("react", 3, 5))
    assert (entries[102], entries[109], entries[110]) == (Entry("join", 0), Entry("join", 7), IDLE)
    assert [entry.verb for entry in entries[111:]] == ["empty_message", "invalid_channel", "invalid_action"]
    assert len(game(channels=3).entries) == 6 + 3 * 3 + 80 + 4


def test_the_mask_at_reset() -> None:
    episode = game(small(messages=[initial(), initial(kind="question")]))
    reactions = range(22, 22 + 16)
    assert episode.legal(0) == [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, *reactions, 110]  # neither to channel 0 nor to 3..7


def test_reactions_go_to_teammates_messages_of_the_window_once() -> None:
    episode = game(small(messages=[initial()]))
    play(episode, CHAT)
    assert not legal(episode, Entry("react", 0, 0))  # the agent's own
    assert not legal(episode, Entry("react", 2, 0))  # no such message
    assert nonzero(play(episode, Entry("react", 1, 6))) == {"react": 0.05}
    assert episode.channels[0].messages[0].reactions == [6]
    assert not legal(episode, Entry("react", 1, 0))


def test_slots_count_from_the_newest_of_the_state_before() -> None:
    episode = game(small(messages=[initial(text="old"), initial(text="new")]))
    play(episode, Entry("react", 0, 2), world=says())
    assert [message.reactions for message in episode.channels[0].messages] == [[None], [2], [None]]


def test_every_agent_has_its_own_reaction() -> None:
    episode = game(small(messages=[initial()]), num_agents=2)
    play(episode, Entry("react", 0, 1))
    assert legal(episode, Entry("react", 0, 0), agent=1)
    play(episode, IDLE, Entry("react", 0, 4))
    assert episode.channels[0].messages[0].reactions == [1, 4]


@pytest.mark.parametrize(
    ("entry", "part", "amount"),
    [
        (Entry("empty_message"), "empty_message", -0.2),
        (Entry("invalid_channel"), "invalid_channel", -0.3),
        (Entry("invalid_action"), "invalid_action", -0.1),
        (Entry("answer", 0), "invalid_action", -0.1),
        (Entry("answer", 3), "invalid_action", -0.1),
        (go(0), "invalid_action", -0.1),
        (go(7), "invalid_action", -0.1),
        (Entry("join", 0), "invalid_action", -0.1),
        (Entry("join", 5), "invalid_action", -0.1),
        (Entry("react", 0, 0), "invalid_action", -0.1),
    ],
)
def test_an_illegal_entry_costs_what_it_is_and_the_world_goes_on(entry: Entry, part: str, amount: float) -> None:
    episode = game()
    assert not legal(episode, entry)
    step = play(episode, entry, world=says(1))
    assert (nonzero(step), step.rewards, step.invalid) == ({part: amount}, [amount], [True])
    own = episode.agents[0]
    assert (own.channel, own.acts, own.sends, own.joined) == (0, [], [], [False] * 3)
    assert (episode.clock, episode.unread) == (1, [[0, 1, 0]])


def test_templates_are_the_first_texts_of_their_kinds() -> None:
    episode = game()
    for template in range(6):
        play(episode, Entry("text", template))
    play(episode, Entry("answer", 2))
    kinds = ["greeting", "reply", "question", "status", "thanks", "chatter"]
    assert [message.kind for message in episode.channels[0].messages] == kinds
    assert [message.text for message in episode.channels[0].messages] == [f"{kind} 0" for kind in kinds]
    answer = episode.channels[2].messages[0]
    assert (answer.kind, answer.text, answer.author, answer.posted) == ("reply", "reply 0", "agent 0", 6)


# ----------------------------------------------------------------------------------------------- spam


def test_the_third_message_in_a_row_in_a_channel_is_spam() -> None:
    episode = game()
    assert nonzero(play(episode, CHAT)) == SEND
    wait(episode, 10)
    assert nonzero(play(episode, CHAT)) == SEND
    wait(episode, 10)
    assert nonzero(play(episode, CHAT)) == SPAM
    assert episode.channels[0].run == 3
    assert nonzero(play(episode, Entry("answer", 1))) == SEND  # another channel, another run


def test_a_teammates_message_or_invitation_breaks_the_run() -> None:
    for world in (says(0), calls(0)):
        episode = game()
        play(episode, CHAT)
        wait(episode, 10)
        play(episode, CHAT)
        wait(episode, 10)
        play(episode, world=world)
        assert nonzero(play(episode, CHAT)) == SEND
    episode = game()
    play(episode, CHAT)
    wait(episode, 10)
    assert nonzero(play(episode, CHAT, world=says(0))) == SEND
    wait(episode, 10)
    assert "send" in nonzero(play(episode, CHAT))  # the teammate's came after the second


def test_the_run_counts_the_messages_of_all_agents() -> None:
    episode = game(num_agents=2)
    play(episode, CHAT)
    play(episode, CHAT)
    assert nonzero(play(episode, IDLE, CHAT), agent=1) == SPAM
    pair = game(num_agents=2)
    play(pair, CHAT)
    step = play(pair, CHAT, CHAT)  # both after one message: judged by the state before
    assert (nonzero(step), nonzero(step, agent=1)) == (SEND, SEND)
    assert pair.channels[0].run == 3


def test_more_than_three_messages_within_ten_steps_are_spam() -> None:
    for gap, expected in ((6, SPAM), (7, SEND)):
        episode = game()
        for channel in (0, 1, 2):  # steps 0, 1, 2
            play(episode, CHAT if channel == 0 else Entry("answer", channel))
        wait(episode, gap)
        assert nonzero(play(episode, CHAT)) == expected


def test_spam_is_valid_answers_counts_and_misses_send_and_engagement() -> None:
    episode = game(small(mention_window=30))
    play(episode, world=says(0, "mention"))
    for _ in range(2):
        play(episode, Entry("answer", 1))
    play(episode, Entry("answer", 2))
    wait(episode, 6)
    assert episode.quiet(0) == 10
    step = play(episode, CHAT)
    assert nonzero(step) == {"spam": -0.5, "mention_response": 0.5}
    assert (step.invalid, len(episode.agents[0].sends), len(episode.agents[0].acts)) == ([False], 4, 4)
    assert len(episode.channels[0].messages) == 2


def test_a_timely_spam_answer_is_paid_both() -> None:
    episode = game(small(messages=[initial()]))
    for channel in (1, 2, 1):
        play(episode, Entry("answer", channel))
    play(episode, world=says(0, "mention"))
    parts = nonzero(play(episode, CHAT))
    assert parts == {"spam": -0.5, "mention_response": 0.5, "timely_response": 0.2, "presence": 0.05}


# ---------------------------------------------------------------------------------------- engagement


def test_engagement_wants_ten_quiet_steps() -> None:
    for steps, expected in ((9, SEND), (10, SEND | {"channel_engagement": 0.1})):
        episode = game(small(messages=[initial()]))
        wait(episode, steps)
        assert nonzero(play(episode, CHAT)) == expected
        episode = game()
        wait(episode, 2)
        play(episode, world=says(0))  # posted at clock 2
        wait(episode, steps - 1)
        assert nonzero(play(episode, CHAT)) == expected


def test_engagement_wants_a_teammates_message_since_the_agents_own() -> None:
    episode = game()
    wait(episode, 10)
    assert nonzero(play(episode, CHAT)) == SEND  # no teammate ever wrote here
    play(episode, world=says(0))
    wait(episode, 9)
    assert nonzero(play(episode, CHAT)) == SEND | {"channel_engagement": 0.1}
    wait(episode, 15)
    assert nonzero(play(episode, CHAT)) == SEND  # two of its own in a row


def test_engagement_is_paid_from_afar() -> None:
    episode = game(small(messages=[initial("b")]))
    wait(episode, 10)
    assert nonzero(play(episode, Entry("answer", 1))) == SEND | {"channel_engagement": 0.1}


def test_another_agents_message_ends_the_quiet_but_not_what_the_teammate_said() -> None:
    episode = game(small(messages=[initial()]), num_agents=2)
    wait(episode, 10)
    play(episode, IDLE, CHAT)  # at clock 10
    wait(episode, 8)
    assert episode.quiet(0) == 9
    wait(episode, 1)
    assert nonzero(play(episode, CHAT)) == SEND | {"channel_engagement": 0.1}
    alone = game(num_agents=2)
    play(alone, IDLE, CHAT)
    wait(alone, 10)
    assert nonzero(play(alone, CHAT)) == SEND  # an agent is no teammate


# ------------------------------------------------------------------------------- switches and joins


def test_an_entry_pays_after_twenty_steps_since_the_last_paid_one() -> None:
    episode = game()
    assert nonzero(play(episode, go(1))) == {"switch": 0.05}  # at 0
    assert nonzero(play(episode, go(0))) == {}  # the start counts as paid at 0
    wait(episode, 8)
    assert nonzero(play(episode, go(1))) == {}  # at 10: does not count as paid
    wait(episode, 8)
    assert nonzero(play(episode, go(0))) == {}  # at 19
    assert nonzero(play(episode, go(1))) == {"switch": 0.05}  # at 20
    assert nonzero(play(episode, go(0))) == {"switch": 0.05}  # at 21
    assert episode.paid == [[21, 20, None]]
    wait(episode, 17)
    assert nonzero(play(episode, go(1))) == {}  # at 39
    assert nonzero(play(episode, go(2))) == {"switch": 0.05}
    assert nonzero(play(episode, go(0))) == {"switch": 0.05}  # at 41


def test_paid_entries_are_each_agents_own() -> None:
    episode = game(num_agents=2)
    step = play(episode, go(1))
    assert episode.paid == [[0, 0, None], [0, None, None]]
    step = play(episode, IDLE, go(1))
    assert nonzero(step, agent=1) == {"switch": 0.05}


def test_a_join_pays_once_and_from_anywhere() -> None:
    episode = game()
    play(episode, world=calls(2))
    assert nonzero(play(episode, Entry("join", 2))) == {"join_call": 0.3}
    assert (episode.joined, episode.agents[0].channel) == ([[False, False, True]], 0)
    assert nonzero(play(episode, Entry("join", 2))) == {"invalid_action": -0.1}


# ------------------------------------------------------------------------------ presence and status


def test_presence_is_paid_by_two_acts_in_the_five_steps_before() -> None:
    episode = game()
    paid = [nonzero(play(episode, CHAT if step in (0, 3) else IDLE)).get("presence", 0) for step in range(10)]
    assert paid == [0, 0, 0, 0, 0.05, 0.05, 0, 0, 0, 0]  # acts at 0 and 3 are both within 5 steps at 4 and 5


def test_presence_is_paid_for_an_illegal_action_too() -> None:
    episode = game()
    play(episode, CHAT)
    play(episode, CHAT)
    assert nonzero(play(episode, Entry("invalid_action"))) == {"presence": 0.05, "invalid_action": -0.1}


def test_acts_are_messages_reactions_and_joins_spam_included() -> None:
    episode = game(small(messages=[initial()]))
    acts = [Entry("react", 0, 0), Entry("join", 1), Entry("answer", 2), CHAT, CHAT, CHAT]
    others = [go(1), IDLE, Entry("empty_message"), Entry("invalid_channel")]
    for entry in acts + others:
        play(episode, entry, world=calls(1) if entry.verb == "react" else None)
    assert episode.agents[0].acts == [0, 1, 2, 3, 4, 5]


def test_an_agent_is_away_six_steps_after_its_last_act() -> None:
    episode = game()
    status = []
    for step in range(16):
        status.append(episode.observation(0).available)
        play(episode, CHAT if step == 8 else IDLE)
    assert status == [True] * 6 + [False] * 3 + [True] * 5 + [False] * 2


# -------------------------------------------------------------------------------------------- weights


def test_parts_have_the_names_of_the_rules_and_sum_to_the_reward() -> None:
    episode = game()
    step = play(episode, CHAT)
    assert tuple(step.parts[0]) == PARTS
    play(episode, CHAT)
    step = play(episode, CHAT)
    assert step.rewards == [-0.45]  # exact: -0.5 + 0.05


def test_weights_can_be_replaced() -> None:
    episode = game(weights={"send": 0.25})
    assert play(episode, CHAT).rewards == [0.25]
    with pytest.raises(ValueError, match="no parts"):
        game(weights={"sent": 1})


def test_a_hundred_rewards_add_up_exactly() -> None:
    episode = game()
    for _ in range(100):
        play(episode, Entry("invalid_action"))
    assert episode.statistics(0)["total_reward"] == -10.0
