"""The reference engine of TeamsClone against worked cases: documents, draws, posts, calls and unread."""

from __future__ import annotations

import pytest

from reference.teamsclone import Workspace
from reference.teamsclone_cases import (
    BEN,
    CHAT,
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
from reference.teamsclone_rules import Entry, Record, edges, odds, pick, uniform


def with_users(*changes: Record) -> Record:
    """The small document with changes to its users, in their order."""
    return small(users=[{**user, **change} for user, change in zip(SMALL["users"], changes, strict=True)])


def with_call_rates(*rates: float) -> Record:
    """The small document with call rates by channel."""
    channels = [{"id": each, "name": each, "call_rate": rate} for each, rate in zip("abc", rates, strict=True)]
    return small(teams=[{"id": "one", "name": "One", "channels": channels}])


# ----------------------------------------------------------------------------------- odds and edges


def test_odds_and_edges_round_to_the_nearest_65536th() -> None:
    assert (odds(0.3), odds(0.0015), odds(1), odds(0.5 / 65536)) == (19661, 98, 65536, 1)
    assert edges([1, 1, 1]) == [21845, 43691, 65536]
    assert edges([0.96, 0.02, 0.02, 0]) == [62915, 64225, 65536, 65536]
    with pytest.raises(ValueError, match="weight"):
        edges([0, 0])


def test_a_draw_picks_the_first_edge_above_it() -> None:
    assert [pick([0, 21845, 65536], draw) for draw in (0, 21844, 21845, 65535)] == [1, 1, 2, 2]
    assert [uniform(3, draw) for draw in (0, 21845, 21846, 43690, 43691, 65535)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (with_call_rates(0.5, 0.5, 0.01), "call rates"),
        (small(messages=[initial()] * 11), "window"),
        (small(texts={**SMALL["texts"], "thanks": []}), "no text"),
        (small(messages=[initial(kind="mention", agent=1)]), "agent"),
        (small(users=SMALL["users"] * 4), "users"),
        (small(teams=SMALL["teams"] + [{"channels": []}] * 3), "teams"),
    ],
)
def test_documents_beyond_the_rules_are_refused(document: Record, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Workspace(document, num_agents=1, capacity=8)


def test_a_document_may_fill_the_capacity_and_no_more() -> None:
    assert Workspace(small(), 1, capacity=3).team_of == [0, 0, 1]
    with pytest.raises(ValueError, match="channels"):
        Workspace(small(), 1, capacity=2)


# ------------------------------------------------------------------------------------------ presence


def test_presence_moves_by_the_row_of_the_current_one_before_the_post() -> None:
    rows = {**STAYS, "available": [0.5, 0.25, 0.25, 0], "away": [0, 0, 0, 1]}
    episode = game(with_users({"presence_transition": rows}, {"status": "away", "presence_transition": rows}))
    play(episode, world=says(0)._replace(presence=[0x7FFF, 0]))
    assert (episode.presence, texts(episode)) == ([0, 3], ["chatter 0"])
    play(episode, world=says(0)._replace(presence=[0x8000, 0]))
    assert (episode.presence, texts(episode)) == ([1, 3], ["chatter 0"] * 2)  # busy ones post
    episode = game(with_users({"presence_transition": rows}, {"status": "away", "presence_transition": rows}))
    play(episode, world=says(0)._replace(presence=[0xC000, 0]))
    assert (episode.presence, texts(episode)) == ([2, 3], [])  # it left before it could post
    assert not episode.observation(0).present[0]


def test_every_teammate_moves_by_its_own_draw() -> None:
    rows = {**STAYS, "available": [0.5, 0.25, 0.25, 0]}
    episode = game(with_users(*[{"presence_transition": rows}] * 2))
    play(episode, world=draws()._replace(presence=[0xC000, 0x8000]))
    assert episode.presence == [2, 1]


# ---------------------------------------------------------------------------------------------- posts


def test_a_teammate_is_drawn_by_rate_and_posts_by_its_draws() -> None:
    for author, expected in ((0, 0), (32767, 0), (32768, 1), (49151, 1), (49152, None), (65535, None)):
        episode = game()
        play(episode, world=draws(author=author, channel=21845, kind=13108, text=32768))
        found = [(message.author, message.kind, message.text) for message in episode.channels[1].messages]
        assert found == ([] if expected is None else [(expected, "question", "question 1")])


def test_only_the_present_post_and_their_rates_are_summed_in_order() -> None:
    episode = game(with_users({"status": "away"}, {}))
    play(episode, world=draws(author=16383))
    play(episode, world=draws(author=16384))
    assert [message.author for message in episode.channels[0].messages] == [BEN]
    episode = game(with_users({"status": "offline"}, {"status": "busy"}))
    play(episode, world=draws(author=0))
    assert [message.author for message in episode.channels[0].messages] == [BEN]


def test_rates_above_one_in_all_are_shared() -> None:
    episode = game(with_users({"post_rate": 1.0}, {"post_rate": 0.5}))  # x = floor(author * 98304 / 65536)
    for author in (43690, 43691, 65535):
        play(episode, world=draws(author=author))
    assert [message.author for message in episode.channels[0].messages] == [0, 1, 1]


def test_a_mention_names_an_agent_and_pends() -> None:
    episode = game(num_agents=3)
    for mention in (21845, 21846, 65535):
        play(episode, world=says(0, "mention", mention=mention))
    assert [message.mentioned for message in episode.channels[0].messages] == [0, 1, 2]
    assert [agent.received for agent in episode.agents] == [1, 1, 1]
    play(episode, world=says(0, "announcement", mention=65535))
    assert episode.channels[0].messages[-1].mentioned is None


# ---------------------------------------------------------------------------------------------- calls


def test_a_call_starts_by_running_sums_in_place_of_the_post() -> None:
    for draw, expected in ((0, 0), (16383, 0), (16384, 1), (49151, 2)):
        episode = game()
        play(episode, world=draws(call=draw, author=32768, text=32768))
        assert episode.running_calls == [channel == expected for channel in range(3)]
        (message,) = [message for channel in episode.channels for message in channel.messages]
        assert (message.author, message.kind, message.text) == (1, "invitation", "invitation 1")
    episode = game()
    play(episode, world=draws(call=49152, author=0))
    assert (episode.running_calls, texts(episode)) == ([False] * 3, ["chatter 0"])


def test_no_call_starts_without_somebody_present() -> None:
    episode = game(with_users({"status": "away"}, {"status": "offline"}))
    play(episode, world=draws(call=0, author=0))
    assert (episode.running_calls, texts(episode)) == ([False] * 3, [])


def test_the_author_of_a_call_is_uniform_among_the_present_whatever_their_rates() -> None:
    episode = game(with_users({"status": "away"}, {"post_rate": 0.0}))
    play(episode, world=calls(0))
    assert episode.channels[0].messages[0].author == BEN


def test_a_running_call_leaves_its_odds_to_nobody() -> None:
    episode = game()
    play(episode, world=calls(0))
    play(episode, world=draws(call=16384))  # now channel 1 has 0..16383 and channel 2 16384..32767
    assert episode.running_calls == [True, False, True]
    play(episode, world=draws(call=16384))
    assert episode.running_calls == [True, False, True]


def test_a_call_can_be_joined_for_its_length_and_then_ends() -> None:
    episode = game()
    play(episode, world=calls(1))  # at 0: joinable at 1, 2, 3
    open_at = []
    for _ in range(5):
        open_at.append((legal(episode, Entry("join", 1)), episode.observation(0).running[1]))
        wait(episode, 1)
    assert open_at == [(True, True)] * 3 + [(False, False)] * 2
    episode = game()
    play(episode, world=calls(1))
    wait(episode, 2)
    assert nonzero(play(episode, Entry("join", 1))) == {"join_call": 0.3}  # in its last step
    assert (episode.running_calls, episode.joined) == ([False] * 3, [[False] * 3])


def test_a_new_call_starts_in_a_channel_only_after_the_last_step_of_the_old_one() -> None:
    episode = game(with_call_rates(1.0, 0, 0))
    play(episode, Entry("idle"), world=calls(0))
    play(episode, Entry("join", 0))
    invitations = []
    for _ in range(3):  # clocks 2, 3 and 4
        play(episode, world=calls(0))
        invitations.append(sum(message.kind == "invitation" for message in episode.channels[0].messages))
    assert invitations == [1, 1, 2]
    assert nonzero(play(episode, Entry("join", 0)))["join_call"] == 0.3  # the new one


def test_an_agent_stays_in_several_calls_wherever_it_goes() -> None:
    episode = game()
    play(episode, world=calls(0))
    play(episode, Entry("join", 0), world=draws(call=0))
    play(episode, Entry("join", 1))
    assert episode.joined == [[True, True, False]]
    play(episode, Entry("switch", 2))
    assert episode.joined == [[False, True, False]]  # the first one has ended


# --------------------------------------------------------------------------------------------- unread


def test_unread_counts_messages_elsewhere_and_initial_ones() -> None:
    episode = game(small(messages=[initial("a"), initial("b"), initial("b")]))
    assert episode.unread == [[0, 2, 0]]
    play(episode, world=says(0))
    play(episode, world=says(2))
    play(episode, world=calls(2))
    assert episode.unread == [[0, 2, 2]]


def test_switching_clears_before_the_post_and_sending_from_afar_does_not() -> None:
    episode = game(small(messages=[initial("b")]))
    play(episode, Entry("answer", 1))
    assert (episode.unread, episode.agents[0].channel) == ([[0, 1, 0]], 0)
    play(episode, Entry("switch", 1), world=says(1))
    assert (episode.unread, episode.agents[0].channel) == ([[0, 0, 0]], 1)
    play(episode, Entry("switch", 0), world=says(1))
    assert episode.unread == [[0, 1, 0]]


def test_another_agents_messages_are_unread_where_one_is_not_after_its_switch() -> None:
    episode = game(num_agents=2)
    play(episode, CHAT, Entry("switch", 1))
    assert episode.unread == [[0, 0, 0], [1, 0, 0]]
    play(episode, Entry("answer", 1), Entry("switch", 2))
    assert episode.unread == [[0, 0, 0], [1, 1, 0]]
    play(episode, CHAT, Entry("switch", 0))
    assert episode.unread == [[0, 0, 0], [0, 1, 0]]


def test_unread_saturates_at_255() -> None:
    episode = game(time_limit=1000)
    wait(episode, 255, says(1))
    assert episode.unread[0][1] == 255
    wait(episode, 1, says(1))
    assert episode.unread[0][1] == 255
