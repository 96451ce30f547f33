"""The reference engine of Week against worked cases: the mask, the phases of a turn, the notebook and what is seen."""

from __future__ import annotations

import pytest

from reference.week import Episode
from reference.week_cases import (
    ATTEND,
    FACTS,
    REST,
    go,
    job,
    legal,
    meeting,
    opens,
    play,
    post,
    reply,
    rest,
    week,
    work,
)

NEWS, JOB, QUESTION, REQUEST = 1, 2, 3, 4
REPLIES = {reply(value) for value in range(4)}


def heard(episode: Episode, fact: int) -> tuple[int, int]:
    """The value that is seen of a fact, and its age."""
    seen = episode.observation()
    return seen["told"][fact], seen["age"][fact]


# ---------------------------------------------------------------------------------- catalogue and end


def test_a_blank_week_has_53_actions_and_ends_after_200_turns() -> None:
    episode = week()
    assert legal(episode) == [1, 2, 3, 4, 5, REST]
    assert len(episode.mask()) == 53
    rest(episode, 199)
    step = episode.step(REST)
    assert (step.terminated, step.reward, episode.mask()) == (True, 0.0, [True] * 53)
    with pytest.raises(ValueError, match="over"):
        episode.step(REST)
    for action in (-1, 53):
        with pytest.raises(ValueError, match="no action"):
            week().step(action)


def test_an_illegal_action_plays_rest_and_closes_the_channel() -> None:
    episode = week(posts=[[], [], [post(1)]])
    assert opens(2) not in legal(episode)  # nothing was posted yet
    rest(episode, 1)
    play(episode, opens(2))
    step = episode.step(reply(0))  # there is no head
    assert (step.legal, step.reward) == (False, 0.0)
    assert (episode.state()["clock"], episode.state()["channel"]) == (3, -1)


# ---------------------------------------------------------------------------------------- ways and night


def test_a_way_of_two_slots_takes_this_turn_and_the_next() -> None:
    episode = week([job(place=1), job()], [meeting(0, 3, 300)])
    assert work(0) not in legal(episode)
    play(episode, go(1))
    assert (episode.place, episode.travel_left) == (1, 1)
    assert episode.observation()["distance"] == [3, 1, 3, 3, 3, 3]
    assert legal(episode) == [ATTEND, REST]  # no work, here or anywhere, but a meeting online
    play(episode, ATTEND)
    assert episode.attended[0] == 1
    assert {work(0), work(1)} < set(legal(episode))


def test_at_night_one_is_home_and_an_open_channel_stays_open() -> None:
    episode = week(posts=[[post(1), post(40)]])
    rest(episode, 38)
    play(episode, go(3), opens(0))
    state = episode.state()
    assert [state[name] for name in ("clock", "place", "travel_left", "channel")] == [40, 0, 0, 0]
    assert state["read"][0] == 2  # also the post that came at eight


def test_hours_first_and_due_bound_the_work() -> None:
    episode = week([job(length=9, opens=2, closes=5, first=3, due=43)])
    worked = []
    for t in range(44):
        if work(0) in legal(episode):
            worked.append(t)
        rest(episode, t + 1)
    assert worked == [3, 4, 42]


# ---------------------------------------------------------------------------------------------- jobs


def test_the_job_begun_bars_its_alternatives_for_good() -> None:
    episode = week([job(group=0, value=0, length=2), job(group=0, value=1), job(group=1)])
    assert {work(0), work(1), work(2)} < set(legal(episode))
    play(episode, work(0))
    assert set(legal(episode)) & {work(0), work(1), work(2)} == {work(0), work(2)}
    assert episode.observation()["jobs"]["exists"][:4] == [True, False, True, False]
    assert play(episode, work(0)) == {"projects": 1.0}
    assert work(1) not in legal(episode)


def test_a_job_that_needs_a_group_waits_for_it_to_be_done() -> None:
    episode = week([job(group=0, length=2), job(needs=0)])  # absent jobs name group 0, too
    for _ in range(2):
        assert work(1) not in legal(episode)
        assert episode.observation()["jobs"]["needs"][:2] == [-1, 0]
        play(episode, work(0))
    assert episode.observation()["jobs"]["needs"][1] == -1
    assert play(episode, work(1)) == {"errands": 1.0}


@pytest.mark.parametrize(("begins", "paid"), [(4, {"projects": 1.0}), (5, {})])
def test_the_value_counts_when_a_job_is_begun(begins: int, paid: dict[str, float]) -> None:
    episode = week([job(group=2, value=1, length=2), job(needs=2)], facts={2: (1, 3, 5)})
    rest(episode, begins)
    play(episode, work(0))
    assert episode.sound[2] is bool(paid)
    rest(episode, 7)
    assert play(episode, work(0)) == paid
    assert (work(1) in legal(episode)) is bool(paid)  # what failed is over, and never done
    assert not episode.observation()["jobs"]["exists"][0]


@pytest.mark.parametrize(("sees_truth", "seen"), [(False, (1, 2)), (True, (2, 0))])
def test_a_fact_that_flips_between_look_and_begin_makes_a_job_fail(sees_truth: bool, seen: tuple[int, int]) -> None:
    plan, posts = job(group=0, value=1), [[post(0, NEWS, 0)]]
    episode = week([plan], facts={0: (1, 2, 2)}, posts=posts, sees_truth=sees_truth)
    play(episode, opens(0))
    assert heard(episode, 0) == (1, 0 if sees_truth else 1)
    play(episode, REST)
    assert heard(episode, 0) == seen
    assert play(episode, work(0)) == {}


def test_a_job_tells_as_of_the_turn_in_which_it_ends_even_if_it_fails() -> None:
    episode = week([job(group=0, value=3, length=2, tells=5), job(tells=6)], facts={5: (1, 2, 1), 6: (3, 0, 3)})
    play(episode, work(0), work(0))
    assert (episode.noted[5], episode.as_of[5]) == (2 * 4, 1)
    assert heard(episode, 5) == (2, 1)
    assert play(episode, work(1)) == {"projects": 1.0}  # it tells, so it is no errand
    assert (episode.noted[6], episode.as_of[6]) == (3 * 4, 2)
    assert heard(episode, 6) == (3, 1)


# ------------------------------------------------------------------------------------------ meetings


@pytest.mark.parametrize(
    ("attended", "paid"),
    [(0, {"missed": -2.0}), (1, {"meetings": 1.0, "missed": -2.0}), (2, {"meetings": 2.0}), (3, {"meetings": 3.0})],
)
def test_a_meeting_is_missed_below_half_and_not_at_half(attended: int, paid: dict[str, float]) -> None:
    episode = week(events=[meeting(1, 4, 400)])
    assert play(episode, REST, *[ATTEND] * attended) == {}
    assert rest(episode, 4) == {}
    assert episode.observation()["events"]["exists"][0]
    assert play(episode, REST) == paid
    assert not episode.observation()["events"]["exists"][0]


def test_attend_takes_the_most_points_a_slot_and_the_first_of_several() -> None:
    events = [
        meeting(0, 4, 800, place=1),
        meeting(0, 4, 400),
        meeting(0, 2, 240),
        meeting(1, 5, 600),
        meeting(0, 1, 90),
    ]
    episode = week(events=events)
    play(episode, ATTEND)
    assert episode.attended[:5] == [0, 0, 1, 0, 0]  # 120 a slot; 200 a slot is elsewhere
    play(episode, ATTEND)
    assert episode.attended[:5] == [0, 0, 2, 0, 0]  # the fourth is worth as much
    play(episode, ATTEND)
    assert episode.attended[:5] == [0, 0, 2, 1, 0]


# ------------------------------------------------------------------------------------------ channels


def test_a_reply_keeps_the_channel_open_and_everything_else_closes_it() -> None:
    posts = [[post(0, QUESTION, 9, until=50, points=60)]]
    episode = week([job(length=5)], [meeting(0, 9, 900)], facts={9: (2, 3, 1)}, posts=posts)
    play(episode, opens(0))
    assert play(episode, reply(3)) == {"answers": 0.6}  # the value of now
    assert episode.channel == 0
    for action in (work(0), ATTEND, REST, go(1)):
        play(episode, opens(0))
        assert episode.channel == 0
        play(episode, action)
        assert episode.channel == -1


def test_reading_on_the_way_shows_three_posts_and_reads_those_that_scrolled_by() -> None:
    jobs = [job(known=0), job(known=0)]
    posts = [[post(0, JOB, 0), post(0), post(1), post(1, JOB, 1), post(3)]]
    episode = week(jobs, posts=posts)
    play(episode, go(1), opens(0))
    assert episode.read[0] == 4
    assert (episode.known[0], episode.known[1]) == (False, True)
    assert episode.observation()["messages"]["kind"] == [JOB, 0, 0]
    rest(episode, 3)
    assert episode.observation()["unread"] == [1, 0, 0, 0, 0, 0]
    assert episode.observation()["messages"]["exists"] == [False] * 3


def test_the_head_is_the_oldest_that_waits() -> None:
    asked = [(0, QUESTION, 8, 2, 60), (0, QUESTION, 9, 9, 120), (1, QUESTION, 10, 4, 30)]
    episode = week(facts={9: (3, 3, 0)}, posts=[[post(*fields) for fields in asked]])
    play(episode, opens(0))
    assert (episode.observation()["head"]["fact"], episode.observation()["head"]["until"]) == (8, 2)
    play(episode, opens(0))  # the first one expires
    assert episode.observation()["head"] == {
        "kind": QUESTION,
        "fact": 9,
        "points": 120,
        "until": 9,
        "start": 0,
        "length": 0,
        "place": 0,
        "overlaps": False,
    }
    assert episode.observation()["messages"]["waits"] == [True, True, False]
    assert play(episode, reply(1)) == pytest.approx({"wrong": -0.2})
    assert (episode.handled[0], episode.observation()["head"]["fact"]) == (2, 10)
    play(episode, opens(0))
    assert episode.observation()["head"]["kind"] == 0
    assert not set(legal(episode)) & REPLIES


def test_requests_are_promised_twice_over_an_overlap() -> None:
    asked = [meeting(2, 4, 400, promised=0), meeting(5, 2, 200, promised=0, place=3), meeting(7, 1, 70, promised=0)]
    posts = [[post(0, REQUEST, 0, until=9), post(0, REQUEST, 1, until=9), post(0, REQUEST, 2, until=9)]]
    episode = week(events=asked, posts=posts)
    play(episode, opens(0))
    assert not episode.observation()["head"]["overlaps"]
    assert set(legal(episode)) & REPLIES == {reply(0), reply(1)}
    play(episode, reply(0))
    head = episode.observation()["head"]
    assert [head[name] for name in ("kind", "fact", "points", "start", "length", "place")] == [
        REQUEST,
        -1,
        200,
        5,
        2,
        3,
    ]
    assert head["overlaps"]
    play(episode, reply(0))
    assert not episode.observation()["head"]["overlaps"]  # it begins where the second one ends
    play(episode, reply(1))
    assert episode.promised[:3] == [True, True, False]
    assert play(episode, ATTEND, ATTEND) == {"meetings": 2.0}  # two of four slots of the first one
    assert rest(episode, 7) == {"missed": -1.0}  # none of the second
    assert rest(episode, 8) == {}


# ------------------------------------------------------------------------------------------ notebook


def test_noted_numbers_count_from_the_right_end_of_the_window() -> None:
    posts = [[post(0, NEWS, 3), post(0), post(2, NEWS, 4), post(2, NEWS, 5)]]
    episode = week(posts=posts, notebook=4)
    play(episode, opens(0))
    assert episode.noted[3] == 1 * 4 + 1 + 1  # two are shown: places 1 and 2
    play(episode, opens(0))
    assert episode.noted[3:6] == [6, 2 * 4 + 1 + 1, 2 * 4 + 1 + 2]  # fact 3 has scrolled away
    assert episode.as_of[3:6] == [0, 2, 2]


def test_old_news_writes_no_line_and_later_news_a_new_one() -> None:
    posts = [[post(0), post(1, NEWS, 0)], [post(0, NEWS, 0)], [post(1, NEWS, 0)], [post(2, NEWS, 0)]]
    episode = week(facts={0: (1, 2, 2)}, posts=posts)
    play(episode, opens(0))
    assert (episode.noted[0], episode.as_of[0]) == (1 * 4 + 3, 1)
    play(episode, opens(1), opens(2))  # older, and of the same time
    assert (episode.noted[0], episode.as_of[0]) == (1 * 4 + 3, 1)
    assert heard(episode, 0) == (1, 2)
    play(episode, opens(3))
    assert (episode.noted[0], episode.as_of[0]) == (4 * 4 + 3, 2)
    assert heard(episode, 0) == (2, 2)


@pytest.mark.parametrize(("notebook", "kept"), [(4, [2, 3, 4, 5]), (16, [0, 1, 2, 3, 4, 5])])
def test_the_notebook_keeps_its_last_lines(notebook: int, kept: list[int]) -> None:
    posts = [[post(0, NEWS, 0), post(0, NEWS, 1), post(0, NEWS, 2)], [post(1, NEWS, f) for f in (3, 4, 5)]]
    episode = week(posts=posts, notebook=notebook)
    play(episode, opens(0), opens(1))
    assert [fact for fact in range(FACTS) if episode.noted[fact] >= 0] == kept
    assert episode.observation()["told"][0] == (0 if notebook == 16 else -1)


def test_news_that_was_lost_is_written_anew_while_it_is_shown() -> None:
    posts = [[post(0, NEWS, 0), post(0, NEWS, 1), post(0, NEWS, 2)]]
    episode = week(posts=posts, notebook=2)
    play(episode, opens(0))
    assert episode.noted[:3] == [-1, 6, 7]
    play(episode, opens(0))
    assert episode.noted[:3] == [9, -1, 7]
    play(episode, opens(0))
    assert episode.noted[:3] == [9, 14, -1]
