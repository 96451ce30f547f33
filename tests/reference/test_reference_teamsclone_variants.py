"""The reference engine of TeamsClone against worked cases: variants, several agents and ends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from reference.teamsclone_cases import (
    BEN,
    CHAT,
    IDLE,
    REPLY,
    SMALL,
    STAYS,
    calls,
    draws,
    game,
    initial,
    legal,
    nonzero,
    play,
    says,
    small,
    texts,
    wait,
)
from reference.teamsclone_rules import Entry

SECOND_AGENT = 32768  # a draw that names it, of two


# ------------------------------------------------------------------------------------------- mentions


def test_a_scheduled_mention_takes_the_place_of_post_and_call_whoever_is_present() -> None:
    users = [SMALL["users"][0], {**SMALL["users"][1], "status": "offline"}]
    episode = game(small(users=users), variant="mentions", schedule=[(1, 2, BEN)])
    play(episode, world=says(0))
    play(episode, world=draws(call=0, author=0, text=32768))
    assert (texts(episode), texts(episode, 2), episode.running_calls) == (["chatter 0"], ["mention 1"], [False] * 3)
    (mention,) = episode.channels[2].messages
    assert (mention.author, mention.mentioned, mention.posted, mention.pending) == (BEN, 0, 1, True)


def test_presence_moves_in_the_step_of_a_scheduled_mention() -> None:
    rows = {**STAYS, "available": [0, 0, 0, 1]}
    users = [{**user, "presence_transition": rows} for user in SMALL["users"]]
    episode = game(small(users=users), variant="mentions", schedule=[(0, 0, 0)])
    wait(episode, 1)
    assert (episode.presence, texts(episode)) == ([3, 3], ["mention 0"])


def test_an_initial_mention_is_one_of_those_to_be_answered() -> None:
    messages = [initial("b", kind="mention")]
    episode = game(small(messages=messages), variant="mentions", schedule=[(0, 0, 0)])
    wait(episode, 1)
    assert not play(episode, REPLY).terminated
    wait(episode, 2)
    step = play(episode)
    assert (step.terminated, step.success) == (True, False)


def test_teammates_own_mentions_become_chatter_with_its_texts() -> None:
    episode = game(variant="mentions", schedule=[(9, 0, 0)])
    play(episode, world=says(0, "mention", text=1))
    (message,) = episode.channels[0].messages
    assert (message.kind, message.text, message.mentioned) == ("chatter", "chatter 1", None)


def test_in_the_mentions_variant_answers_penalties_and_spam_are_all_that_pays() -> None:
    episode = game(small(messages=[initial()]), variant="mentions", schedule=[(0, 0, 0), (49, 0, 0)])
    play(episode, Entry("react", 0, 0))
    assert nonzero(play(episode, REPLY)) == {"mention_response": 1.0}  # timely, a message, a second act
    assert nonzero(play(episode, Entry("switch", 1), world=calls(0))) == {}
    assert nonzero(play(episode, Entry("join", 0))) == {}
    assert nonzero(play(episode, CHAT)) == {}
    assert nonzero(play(episode, CHAT)) == {}
    assert nonzero(play(episode, CHAT)) == {"spam": -0.5}
    assert nonzero(play(episode, Entry("empty_message"))) == {"empty_message": -0.2}
    assert nonzero(play(episode, Entry("invalid_channel"))) == {"invalid_channel": -0.3}
    assert nonzero(play(episode, Entry("invalid_action"))) == {"invalid_action": -0.1}


def test_the_mentions_variant_ends_when_all_were_posted_and_none_pends() -> None:
    episode = game(variant="mentions", schedule=[(0, 0, 0), (3, 0, 0)])
    wait(episode, 1)
    assert not play(episode, REPLY).terminated  # none pends, but one is still to come
    wait(episode, 2)
    step = play(episode, REPLY)
    assert (step.terminated, step.success, step.truncated) == (True, True, False)


def test_a_missed_mention_ends_the_variant_without_success() -> None:
    episode = game(variant="mentions", schedule=[(0, 1, 0), (1, 0, 0)])
    wait(episode, 2)
    assert not play(episode, REPLY).terminated  # the one in channel 1 pends
    wait(episode, 2)
    step = play(episode)  # the clock is 6, its age 6
    assert (episode.clock, step.terminated, step.success) == (6, True, False)


def test_a_schedule_has_distinct_steps_of_the_first_half() -> None:
    for schedule in ([(0, 0, 0), (0, 1, 0)], [(50, 0, 0)], None):
        with pytest.raises(ValueError, match="schedule"):
            game(variant="mentions", schedule=schedule)
    with pytest.raises(ValueError, match="schedule"):
        game(variant="classic", schedule=[(0, 0, 0)])


# ----------------------------------------------------------------------------------------- multi-task


def test_multi_task_weighs_mentions_meetings_and_exploration() -> None:
    episode = game(small(messages=[initial("b")]), variant="multi_task", task_weights=(2, 3, 0.5))
    play(episode, world=says(0, "mention"))
    assert nonzero(play(episode, REPLY)) == {"mention_response": 1.0, "timely_response": 0.4}  # no send
    assert nonzero(play(episode, Entry("react", 1, 0), world=calls(2))) == {"react": 0.025}
    assert nonzero(play(episode, Entry("join", 2))) == {"join_call": 0.9}  # no presence
    assert nonzero(play(episode, Entry("switch", 2))) == {"switch": 0.025}
    wait(episode, 6)
    assert nonzero(play(episode, Entry("answer", 1))) == {"channel_engagement": 0.05}
    assert nonzero(play(episode, Entry("empty_message"))) == {"empty_message": -0.2}
    for _ in range(2):
        play(episode, CHAT)
    assert nonzero(play(episode, CHAT)) == {"spam": -0.5}


def test_multi_task_weighs_1_1_and_a_half_by_default() -> None:
    episode = game(variant="multi_task")
    assert play(episode, Entry("switch", 2), world=says(2, "mention")).rewards == [0.025]
    assert play(episode, REPLY, world=calls(2)).rewards == [0.7]
    assert play(episode, Entry("join", 2)).rewards == [0.3]


# ---------------------------------------------------------------------------------------- many agents


def test_of_two_agents_the_lower_index_answers_whoever_is_named() -> None:
    episode = game(num_agents=2)
    play(episode, world=says(0, "mention", mention=SECOND_AGENT))
    step = play(episode, REPLY, REPLY)
    assert nonzero(step) == {"send": 0.1, "mention_response": 0.5, "timely_response": 0.2}
    assert nonzero(step, agent=1) == {"send": 0.1}
    first, second = episode.statistics(0), episode.statistics(1)
    assert (first["mentions_received"], first["mentions_answered"], first["response_rate"]) == (0, 1, 1.0)
    assert (second["mentions_received"], second["mentions_answered"], second["mentions_missed"]) == (1, 0, 0)


def test_the_one_that_comes_second_answers_no_other_mention() -> None:
    episode = game(num_agents=2)
    for _ in range(2):
        play(episode, world=says(0, "mention"))
    step = play(episode, REPLY, REPLY)
    assert "mention_response" not in nonzero(step, agent=1)
    assert [message.pending for message in episode.channels[0].messages[:2]] == [False, True]


def test_two_agents_answer_two_mentions_if_they_have_seen_different_ones() -> None:
    episode = game(small(messages=[initial("b", kind="mention")]), num_agents=2)
    play(episode, IDLE, Entry("switch", 1), world=says(0, "mention"))
    step = play(episode, REPLY, REPLY)
    assert ["mention_response" in nonzero(step, agent) for agent in (0, 1)] == [True, True]


def test_messages_of_one_step_stand_in_agent_order_before_the_teammates() -> None:
    episode = game(num_agents=2)
    play(episode, CHAT, CHAT, world=says(0))
    assert [message.author for message in episode.channels[0].messages] == ["agent 0", "agent 1", 0]
    assert [shown.author for shown in episode.observation(1).window] == [0, "agent 1", "agent 0"]


def test_a_mention_answered_by_one_and_pushed_out_by_another_in_one_step_is_answered() -> None:
    episode = game(small(mention_window=50), num_agents=2)
    play(episode, world=says(0, "mention"))
    wait(episode, 9, says(0))
    play(episode, Entry("switch", 1), REPLY)
    assert (episode.agents[0].missed, episode.agents[1].answer_ages) == (0, [10])


def test_shared_reward_blends_the_parts_with_the_mean() -> None:
    episode = game(num_agents=2, variant="multi_agent", shared_reward=0.5)
    step = play(episode, CHAT, Entry("empty_message"))
    assert step.rewards == [0.025, -0.125]  # own 0.1 and -0.2, mean -0.05
    assert nonzero(step) == {"send": 0.075, "empty_message": -0.05}
    assert nonzero(step, agent=1) == {"send": 0.025, "empty_message": -0.15}
    assert episode.statistics(1)["total_reward"] == -0.125
    assert step.invalid == [False, True]


def test_the_quotas_end_the_variant_of_many_agents() -> None:
    episode = game(num_agents=2, variant="multi_agent", quota_mentions=1)
    play(episode, world=says(0, "mention"))
    play(episode, REPLY, world=calls(0))
    assert not play(episode, Entry("join", 0)).terminated  # two joins are wanted, one for each agent
    step = play(episode, IDLE, Entry("join", 0))
    assert (step.terminated, step.success, step.truncated) == (True, True, False)
    assert episode.legal(1) == list(range(114))


def test_both_quotas_are_wanted() -> None:
    episode = game(num_agents=2, variant="multi_agent", quota_mentions=2, quota_calls=0)
    play(episode, world=says(0, "mention"))
    assert not play(episode, REPLY, world=says(0, "mention")).terminated
    assert play(episode, IDLE, REPLY).terminated
    assert play(game(variant="multi_agent", quota_mentions=0, quota_calls=0)).terminated
    default = game(num_agents=3, variant="multi_agent")
    assert (default.quota_mentions, default.quota_calls) == (4, 3)


def test_the_quota_of_v1_is_a_share_of_what_is_offered_and_pays_the_steps_that_are_left() -> None:
    episode = game(num_agents=2, variant="multi_agent_v1", time_limit=14)
    play(episode, world=says(0, "mention"))
    wait(episode, 1, says(0, "mention"))
    assert not play(episode, REPLY).terminated
    wait(episode, 4)  # the second mention, of age 6, is missed
    assert (episode.clock, episode.terminated, episode.pending()) == (7, False, [])
    wait(episode, 1, says(0, "mention"))
    play(episode, REPLY, world=says(0, "mention"))  # two of three answered, then of four
    step = play(episode, REPLY)
    assert (step.terminated, step.success, step.truncated) == (True, True, False)
    assert [parts["quota"] for parts in step.parts] == [pytest.approx(0.2 * 4)] * 2


def test_the_quota_of_v1_wants_an_offer_and_joins_of_three_quarters_of_the_agents() -> None:
    episode = game(num_agents=2, variant="multi_agent_v1", time_limit=8)
    wait(episode, 5)  # nothing was offered
    assert not episode.terminated
    play(episode, world=calls(0))
    assert not play(episode, Entry("join", 0)).terminated  # one join of two
    assert play(episode, IDLE, Entry("join", 0)).success  # in the last step, with none left
    assert episode.returns[0] == Fraction("0.3")


# ----------------------------------------------------------------------------------------------- ends


def test_the_time_limit_truncates() -> None:
    episode = game(time_limit=3)
    assert [play(episode).truncated for _ in range(3)] == [False, False, True]
    assert not legal(game(), Entry("join", 0))
    assert episode.legal(0) == list(range(114))
    with pytest.raises(ValueError, match="over"):
        play(episode)


def test_a_hundred_steps_by_default_and_no_other_end() -> None:
    for variant in ("classic", "multi_task"):
        episode = game(variant=variant)
        for _ in range(99):
            play(episode)
        step = play(episode)
        assert (episode.clock, step.terminated, step.truncated, step.success) == (100, False, True, False)


def test_an_entry_for_each_agent_and_of_the_catalogue_is_wanted() -> None:
    for actions in ([], [0, 0], [114], [-1]):
        with pytest.raises(ValueError, match="entry"):
            game().step(actions, draws())
