"""Worked cases of docs/rules/teamsclone.md, section 3: base rewards, penalties and bonuses by row, and spam."""

import pytest

from jaxenv.envs.teamsclone import reward
from jaxenv.envs.teamsclone.reward import RewardParts
from reference.teamsclone_cases import CHAT, IDLE, REPLY, calls, initial, says, small
from reference.teamsclone_rules import WEIGHTS, Entry
from strategies.teamsclone_game import Game, made

SEND, SPAM = {"send": 0.1}, {"spam": -0.5}
ENGAGED = SEND | {"channel_engagement": 0.1}


def go(channel):
    return Entry("switch", channel)


def answer(channel):
    return Entry("answer", channel)


# --------------------------------------------------------------------------------------- base rewards


def test_reward_send_message_0_1():
    game = Game()
    step = game.play(CHAT)
    assert (step.rewards, step.parts) == ([0.1], [SEND])
    assert game.earns(answer(1)) == SEND


def test_reward_respond_to_mention_0_5():
    game = Game()
    game.play(world=says(0, "mention"))
    game.wait(2)
    step = game.play(REPLY)
    assert (step.rewards, step.parts) == ([0.6], [{"send": 0.1, "mention_response": 0.5}])
    assert game.earns(REPLY) == SEND  # once


def test_reward_switch_channel_0_05():
    step = Game().play(go(1))
    assert (step.rewards, step.parts) == ([0.05], [{"switch": 0.05}])


def test_reward_react_to_message_0_05():
    step = Game(small(messages=[initial()])).play(Entry("react", 0, 3))
    assert (step.rewards, step.parts) == ([0.05], [{"react": 0.05}])


def test_reward_join_call_0_3():
    game = Game()
    game.play(world=calls(2))
    step = game.play(Entry("join", 2))
    assert (step.rewards, step.parts) == ([0.3], [{"join_call": 0.3}])


def test_ours_a_switch_pays_where_the_last_paid_entry_is_twenty_steps_ago():
    game = Game()
    assert game.earns(go(1)) == {"switch": 0.05}  # at 0
    assert game.earns(go(0)) == {}  # the start counts as paid at 0
    game.wait(8)
    assert game.earns(go(1)) == {}  # at 10, which does not count as paid
    game.wait(8)
    assert game.earns(go(0)) == {}  # at 19
    assert game.earns(go(1)) == {"switch": 0.05}  # at 20
    assert game.earns(go(0)) == {"switch": 0.05}  # at 21
    assert game.state.paid[0, :2].tolist() == [21, 20]
    game.wait(17)
    assert game.earns(go(1)) == {}  # at 39
    assert game.earns(go(2)) == {"switch": 0.05}
    assert game.earns(go(0)) == {"switch": 0.05}  # at 41


def test_paid_entries_are_each_agents_own():
    game = Game(num_agents=2)
    game.play(go(1))
    assert game.play(IDLE, go(1)).parts[1] == {"switch": 0.05}


# ------------------------------------------------------------------------------------------------ spam


def test_penalty_spam_costs_0_5_and_pays_no_send():
    game = Game()
    for _ in range(2):
        game.play(CHAT)
    game.wait(10)
    step = game.play(CHAT)
    assert (step.rewards, step.parts, step.invalid) == ([-0.5], [SPAM], [False])


def test_ours_the_third_message_in_a_row_in_a_channel_is_spam():
    game = Game()
    for expected in (SEND, SEND, SPAM):
        assert game.earns(CHAT) == expected
        game.wait(10)
    assert game.of_channels("run") == [3, 0, 0]
    assert game.earns(answer(1)) == SEND  # another channel, another run


@pytest.mark.parametrize("world", [says(0), calls(0)], ids=["message", "invitation"])
def test_ours_a_teammates_message_or_invitation_breaks_the_run(world):
    game = Game()
    for _ in range(2):
        game.play(CHAT)
        game.wait(10)
    game.play(world=world)
    assert game.earns(CHAT) == SEND


def test_a_teammates_message_of_the_same_step_comes_after_the_agents():
    game = Game()
    for world in (None, None, says(0)):
        game.play(CHAT, world=world)
    assert game.of_channels("run") == [0, 0, 0]
    game.play(world=says(1))
    assert game.of_channels("run") == [0, 0, 0]  # a message elsewhere changes no run here
    game.play(CHAT, world=says(1))
    assert game.of_channels("run") == [1, 0, 0]


def test_ours_the_run_counts_the_messages_of_all_agents_before_the_step():
    game = Game(num_agents=2)
    game.play(CHAT)
    step = game.play(CHAT, CHAT)  # both after one message
    assert step.parts == [SEND, SEND]
    assert game.of_channels("run") == [3, 0, 0]
    lone = Game(num_agents=2)
    lone.play(CHAT)
    lone.play(CHAT)
    assert lone.play(IDLE, CHAT).parts[1] == SPAM


def test_ours_more_than_three_messages_within_ten_steps_are_spam():
    for gap, expected in ((6, SPAM), (7, SEND)):
        game = Game()
        for entry in (CHAT, answer(1), answer(2)):  # at 0, 1 and 2
            game.play(entry)
        game.wait(gap)
        assert game.earns(CHAT) == expected
    assert int(game.shown().sends) == 2  # those at 2 and 10


def test_another_agents_messages_do_not_count_among_the_three():
    game = Game(num_agents=2)
    for entry in (CHAT, answer(1), answer(2)):
        game.play(entry)
    assert game.play(IDLE, CHAT).parts[1] == SEND


def test_ours_spam_is_posted_counts_answers_and_misses_send_and_engagement():
    game = Game(small(mention_window=30))
    game.play(world=says(0, "mention"))
    for channel in (1, 1, 2):
        game.play(answer(channel))
    game.wait(6)
    step = game.play(CHAT)  # quiet for ten steps, answers at age 10
    assert (step.parts, step.invalid) == ([{"spam": -0.5, "mention_response": 0.5}], [False])
    assert (len(game.kept(0)), game.statistics()["messages_sent"]) == (2, 4)
    assert int(game.state.sends[0]) & 1 == 1
    assert int(game.state.acts[0]) & 1 == 1


def test_ours_a_timely_spam_answer_is_paid_both_response_parts():
    game = Game(small(messages=[initial()]))
    for channel in (1, 2, 1):
        game.play(answer(channel))
    game.play(world=says(0, "mention"))
    assert game.earns(CHAT) == {"spam": -0.5, "mention_response": 0.5, "timely_response": 0.2, "presence": 0.05}


# --------------------------------------------------------------------------------------------- bonuses


@pytest.mark.parametrize(("age", "timely"), [(1, True), (2, True), (3, False)])
def test_bonus_timely_response_0_2_ours_at_age_two_at_most(age, timely):
    game = Game()
    game.play(world=says(0, "mention"))
    game.wait(age - 1)
    bonus = {"timely_response": 0.2} if timely else {}
    step = game.play(REPLY)
    assert step.parts == [SEND | {"mention_response": 0.5} | bonus]
    assert step.rewards == [0.8 if timely else 0.6]


@pytest.mark.parametrize(("steps", "expected"), [(9, SEND), (10, ENGAGED)])
def test_bonus_channel_engagement_0_1_ours_after_ten_quiet_steps(steps, expected):
    game = Game(small(messages=[initial()]))
    game.wait(steps)  # counted from 0, whatever the initial messages
    assert game.earns(CHAT) == expected
    game = Game()
    game.wait(2)
    game.play(world=says(0))  # posted at 2
    game.wait(steps - 1)
    assert game.earns(CHAT) == expected


def test_ours_engagement_wants_a_teammates_message_since_the_agents_own():
    game = Game()
    game.wait(10)
    assert game.earns(CHAT) == SEND  # no teammate ever wrote here
    game.play(world=says(0))
    game.wait(9)
    assert game.earns(CHAT) == ENGAGED
    game.wait(15)
    assert game.earns(CHAT) == SEND  # two of its own in a row


def test_ours_engagement_is_paid_from_afar():
    game = Game(small(messages=[initial("b")]))
    game.wait(10)
    assert game.earns(answer(1)) == ENGAGED
    assert game.earns(answer(2)) == SEND  # quiet, and nobody ever wrote


def test_ours_another_agents_message_ends_the_quiet_but_is_no_teammates():
    game = Game(small(messages=[initial()]), num_agents=2)
    game.wait(10)
    game.play(IDLE, CHAT)  # at 10
    game.wait(8)
    state = game.state
    assert game.play(CHAT).parts[0] == SEND  # at 19
    game.state = state
    game.wait(1)
    assert game.play(CHAT).parts[0] == ENGAGED  # at 20: what the teammate said still stands
    alone = Game(num_agents=2)
    alone.play(IDLE, CHAT)
    alone.wait(10)
    assert alone.play(CHAT).parts[0] == SEND


def test_bonus_presence_0_05_ours_by_two_acts_in_the_five_steps_before():
    game = Game()
    paid = [game.earns(CHAT if step in (0, 3) else IDLE).get("presence", 0) for step in range(10)]
    assert paid == [0, 0, 0, 0, 0.05, 0.05, 0, 0, 0, 0]


def test_presence_is_paid_by_the_state_before_the_step_and_for_an_illegal_action_too():
    game = Game()
    assert [game.earns(CHAT), game.earns(CHAT)] == [SEND, SEND]
    assert game.earns(Entry("invalid_action")) == {"presence": 0.05, "invalid_action": -0.1}


def test_ours_acts_are_messages_reactions_and_joins_spam_included():
    acts = [Entry("react", 0, 0), Entry("join", 1), answer(2), CHAT, CHAT, CHAT]
    others = [go(1), IDLE, Entry("empty_message"), Entry("invalid_channel"), Entry("invalid_action"), Entry("join", 0)]
    game = Game(small(messages=[initial()]))
    for entry in acts + others:
        game.play(entry, world=calls(1) if entry.verb == "react" else None)
        assert (int(game.state.acts[0]) & 1 == 1) == (entry in acts), entry


# --------------------------------------------------------------------------------------------- weights


def test_the_weights_are_those_of_the_tables():
    assert vars(reward.CLASSIC) == WEIGHTS
    for variant, agents in (("classic", 1), ("multi_agent", 4)):
        weights = made(variant, agents)[1].weights
        assert {name: round(float(value), 6) for name, value in vars(weights).items()} == WEIGHTS


def test_parts_have_the_names_of_the_rules_and_sum_to_the_reward():
    assert tuple(RewardParts.__dataclass_fields__) == tuple(WEIGHTS)
    game = Game()
    for entry in (CHAT, CHAT, CHAT, IDLE, Entry("empty_message")):
        step = game.play(entry)
        assert step.rewards[0] == pytest.approx(sum(step.parts[0].values()), abs=1e-6)


def test_weights_can_be_replaced_by_name():
    assert Game(weights={"send": 0.25}).play(CHAT).rewards == [0.25]


def test_a_zero_weight_switches_a_part_off():
    assert Game(weights={"send": 0.0}).play(CHAT).parts == [{}]
