"""The reference engine of TeamsClone against worked cases: mentions answered and missed."""

from __future__ import annotations

from reference.teamsclone_cases import (
    CHAT,
    IDLE,
    NEVER,
    REPLY,
    game,
    initial,
    nonzero,
    play,
    says,
    small,
    wait,
)
from reference.teamsclone_rules import Entry

# -------------------------------------------------------------------------------------------- answers

SEND = {"send": 0.1}


def go(channel: int) -> Entry:
    return Entry("switch", channel)


def test_a_mention_is_first_seen_and_answered_at_age_one() -> None:
    episode = game()
    assert nonzero(play(episode, CHAT, world=says(0, "mention"))) == SEND  # posted in this very step
    (shown, *_) = episode.observation(0).window
    assert (shown.age, shown.pending, shown.mentions_me) == (1, True, True)
    step = play(episode, REPLY)
    assert nonzero(step) == {"send": 0.1, "mention_response": 0.5, "timely_response": 0.2}
    assert (episode.agents[0].answer_ages, episode.channels[0].messages[1].pending) == ([1], False)


def test_a_response_is_timely_up_to_age_two() -> None:
    for steps, timely in ((1, True), (2, False)):
        episode = game()
        play(episode, world=says(0, "mention"))
        wait(episode, steps)
        assert ("timely_response" in nonzero(play(episode, REPLY))) == timely


def test_any_message_answers_but_a_reaction_does_not() -> None:
    for template in range(6):
        episode = game()
        play(episode, world=says(0, "mention"))
        assert nonzero(play(episode, Entry("react", 0, 0))) == {"react": 0.05}
        assert "mention_response" in nonzero(play(episode, Entry("text", template)))


def test_a_mention_that_was_not_seen_cannot_be_answered() -> None:
    episode = game()
    play(episode, world=says(1, "mention"))
    assert nonzero(play(episode, Entry("answer", 1))) == SEND
    play(episode, go(1))
    play(episode, go(0))
    assert "mention_response" in nonzero(play(episode, Entry("answer", 1)))  # seen before: from afar, too


def test_in_the_step_of_the_switch_nothing_is_seen_yet() -> None:
    episode = game(num_agents=2)
    play(episode, IDLE, go(1), world=says(1, "mention"))
    assert episode.channels[1].messages[0].seen == [False, True]
    step = play(episode, Entry("answer", 1), IDLE)
    assert nonzero(step) == SEND  # the other agent has seen it, this one has not


def test_the_oldest_seen_mention_is_answered() -> None:
    episode = game()
    play(episode, go(1), world=says(0, "mention"))  # not seen: the agent has just left
    play(episode, go(0))
    play(episode, go(1), world=says(0, "mention"))  # the first one is seen now, the second is not
    play(episode, REPLY)
    play(episode, Entry("answer", 0))
    assert [message.pending for message in episode.channels[0].messages[:2]] == [False, True]
    assert nonzero(play(episode, Entry("answer", 0))).get("mention_response") is None
    play(episode, go(0))
    assert "mention_response" in nonzero(play(episode, REPLY))


def test_of_two_seen_mentions_the_older_goes_first() -> None:
    episode = game()
    play(episode, world=says(0, "mention"))
    play(episode, world=says(0, "mention"))
    step = play(episode, REPLY)
    assert "timely_response" in nonzero(step)
    assert [message.pending for message in episode.channels[0].messages[:2]] == [False, True]


# ------------------------------------------------------------------------------------ lost mentions


def test_a_channel_keeps_ten_messages_and_serials_go_on() -> None:
    episode = game(small(messages=[initial()]))
    assert (episode.channels[0].messages[0].serial, episode.channels[0].messages[0].posted) == (1, -1)
    wait(episode, 10, says(0))
    assert [message.serial for message in episode.channels[0].messages] == list(range(2, 12))
    assert episode.observation(0).window[0].id == "msg-a-11"


def test_a_mention_is_missed_when_it_is_older_than_the_window() -> None:
    for steps, answered in ((4, True), (5, False)):
        episode = game()
        play(episode, world=says(0, "mention"))
        wait(episode, steps)
        assert episode.agents[0].missed == (not answered)
        assert ("mention_response" in nonzero(play(episode, REPLY))) == answered
        wait(episode, 3)
        assert episode.agents[0].missed == (not answered)


def test_a_mention_pushed_out_is_missed_by_the_agent_it_names() -> None:
    episode = game(small(mention_window=50), num_agents=2)
    play(episode, world=says(0, "mention", mention=NEVER))
    wait(episode, 9, says(0))
    assert [agent.missed for agent in episode.agents] == [0, 0]
    wait(episode, 1, says(0))
    assert [agent.missed for agent in episode.agents] == [0, 1]


def test_a_mention_answered_in_the_step_that_pushes_it_out_is_answered() -> None:
    for entry, missed in ((REPLY, 0), (Entry("answer", 1), 1)):
        episode = game(small(mention_window=50))
        play(episode, world=says(0, "mention"))
        wait(episode, 9, says(0))
        play(episode, entry, world=says(0))
        assert (len(episode.agents[0].answer_ages), episode.agents[0].missed) == (1 - missed, missed)


def test_an_agents_own_message_can_push_a_mention_out() -> None:
    episode = game(small(mention_window=50))
    play(episode, world=says(1, "mention"))
    wait(episode, 9, says(1))
    play(episode, Entry("answer", 1))  # it has not seen the mention
    assert (episode.agents[0].answer_ages, episode.agents[0].missed) == ([], 1)


def test_an_initial_mention_pends_at_age_one_and_counts_as_received() -> None:
    mention = initial(kind="mention")
    episode = game(small(messages=[mention]))
    assert (episode.agents[0].received, episode.observation(0).window[0].age) == (1, 1)
    assert "timely_response" in nonzero(play(episode, REPLY))
    assert episode.agents[0].answer_ages == [1]
    episode = game(small(messages=[mention]))
    wait(episode, 4)
    assert episode.agents[0].missed == 0
    wait(episode, 1)
    assert episode.agents[0].missed == 1
