"""Edits of days: what each of them does, and what still holds after many."""

import numpy as np
import pytest

from jaxenv.envs.lifeops.generator import EVENT_KINDS
from jaxenv.envs.lifeops.mutation import EDITS
from jaxenv.envs.lifeops.types import ABSENT, NO_LIMIT
from strategies.edits import LAWS, Edited, changed_fields, rows

REQUEST = {"requests.start", "requests.end"}
EVENTS = {f"calendar.{name}" for name in ("start", "end", "place", "kind", "importance")}
REQUESTS = {f"requests.{name}" for name in ("start", "end", "place", "kind", "importance")}
COUNTS = {"flexible", "num_requests", "max_steps"}
TASKS = {"tasks.minutes", "tasks.priority", "tasks.due_days"}
TOUCHES = {
    "move request": REQUEST,
    "resize request": REQUEST,
    "place request": {"requests.place"},
    "weigh request": {"requests.importance"},
    "bend request": {"flexible"},
    "copy request": REQUESTS | COUNTS,
    "drop request": REQUESTS | COUNTS,
    "shift event": {"calendar.start", "calendar.end"},
    "lengthen event": {"calendar.end"},
    "shorten event": {"calendar.end"},
    "add event": EVENTS | {"source"},
    "drop event": EVENTS | {"source"},
    "resize task": {"tasks.minutes"},
    "press task": {"tasks.due_days"},
    "add task": TASKS,
    "drop task": TASKS,
}
EDITED = Edited("LifeOps-v0", EDITS, TOUCHES)


def columns(table):
    """[..., 5]: the rows of a table of events."""
    return np.stack([np.asarray(column, np.int32) for column in vars(table).values()], -1)


def events(days):
    return [{tuple(row) for row in table if row[0] != ABSENT} for table in columns(days.calendar)]


def tasks(days):
    return [
        [tuple(row) for row in table if row[1]]
        for table in np.stack([days.tasks.minutes, days.tasks.priority, days.tasks.due_days], -1)
    ]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws_of_edits(law):
    law(EDITED)


# What still holds --------------------------------------------------------------------------------------------


def test_a_calendar_can_still_be_lived():
    days = EDITED.many
    start, end, place, *_ = np.moveaxis(columns(days.calendar), -1, 0)
    exists = start != ABSENT
    way = days.travel[np.arange(len(start))[:, None], place[:, :-1], place[:, 1:]]
    assert ((start[:, 1:] - end[:, :-1]) >= way)[exists[:, 1:]].all()
    assert (end <= 1320).all()
    assert (start >= 450).all()
    assert (start[exists] % 5 == 0).all()
    assert (days.overlaps == 0).all()
    assert (days.tight_legs == 0).all()


def test_counts_and_times_stay_as_the_rules_say():
    days, drawn = EDITED.many, EDITED.before
    count, requests = (days.calendar.start != ABSENT).sum(1), days.num_requests
    assert (count.min() >= 0, count.max()) == (True, 10)
    assert (requests.min(), requests.max()) == (1, 6)
    assert (days.max_steps == requests + 5).all()
    assert ((days.tasks.priority > 0).sum(1) <= 4).all()
    assert (np.diff(days.tasks.priority.astype(int), axis=1) <= 0).all()
    assert (days.requests.start % 5 == 0).all()
    exists = np.arange(8) < requests[:, None]
    assert set((days.requests.end - days.requests.start)[exists].tolist()) == {15, 30, 45, 60}
    assert not columns(days.requests)[~exists].any()
    assert changed_fields(drawn, days) == set().union(*TOUCHES.values())


def test_many_edits_change_what_a_day_asks_for():
    """Requests and events are moved, and there are more and fewer of them."""
    differences = EDITED.many.num_requests.astype(int) - EDITED.before.num_requests
    assert differences.min() < -1
    assert differences.max() > 1
    assert len({frozenset(day) for day in events(EDITED.many)}) > 80


# Each edit ---------------------------------------------------------------------------------------------------


def one_changed(before, after, exists):
    """The only row of each pair of tables ([N, n, ...]) that differs."""
    differs = (before != after).reshape(*before.shape[:2], -1).any(2)
    assert (differs.sum(1) == 1).all()
    assert exists[differs].all()
    return before[differs], after[differs]


@pytest.mark.parametrize(("name", "most"), [("move request", 60), ("resize request", 1440)])
def test_a_request_is_at_other_times(name, most):
    before, after = EDITED.made(name)
    exists = np.arange(8) < before.num_requests[:, None]
    old, new = one_changed(columns(before.requests), columns(after.requests), exists)
    moved, lengths = new[:, 0] - old[:, 0], (new[:, 1] - new[:, 0], old[:, 1] - old[:, 0])
    assert (np.abs(moved) <= most).all()
    assert (moved % 5 == 0).all()
    if name == "move request":
        np.testing.assert_array_equal(*lengths)
        assert len(np.unique(moved)) > 12
    else:
        assert (lengths[0] != lengths[1]).all()


def test_a_copied_request_is_the_last_and_another_at_another_time():
    before, after = EDITED.made("copy request")
    index = np.arange(len(before.num_requests))
    last = columns(after.requests)[index, before.num_requests]
    for row, of_day, count in zip(last, columns(before.requests), before.num_requests, strict=True):
        same = of_day[:count]
        like = (same[:, 2:] == row[2:]).all(1) & (same[:, 1] - same[:, 0] == row[1] - row[0])
        assert (like & (np.abs(same[:, 0] - row[0]) <= 120) & (same[:, 0] != row[0])).any()
    np.testing.assert_array_equal(after.num_requests, before.num_requests + 1)
    is_old = np.arange(8) < before.num_requests[:, None]
    np.testing.assert_array_equal(columns(after.requests)[is_old], columns(before.requests)[is_old])


def test_a_dropped_request_leaves_the_others_in_order():
    before, after = EDITED.made("drop request")
    for number in range(len(before.num_requests)):
        old, new = rows(before, number), rows(after, number)
        queue = [(*row, bool(may)) for row, may in zip(columns(old.requests), old.flexible, strict=True)]
        left = [(*row, bool(may)) for row, may in zip(columns(new.requests), new.flexible, strict=True)]
        count = int(old.num_requests)
        ways = [queue[:n] + queue[n + 1 : count] for n in range(count)]
        assert any(all(np.array_equal(a, b) for a, b in zip(way, left, strict=False)) for way in ways)


def test_an_event_is_shifted_within_what_is_free():
    before, after = EDITED.made("shift event")
    old, new = one_changed(columns(before.calendar), columns(after.calendar), before.calendar.start != ABSENT)
    np.testing.assert_array_equal(new[:, 1] - new[:, 0], old[:, 1] - old[:, 0])
    moved = new[:, 0] - old[:, 0]
    assert (moved > 0).any()
    assert (moved < 0).any()


@pytest.mark.parametrize(("name", "minutes"), [("lengthen event", 15), ("shorten event", -15)])
def test_an_event_ends_a_quarter_of_an_hour_apart(name, minutes):
    before, after = EDITED.made(name)
    old, new = one_changed(columns(before.calendar), columns(after.calendar), before.calendar.start != ABSENT)
    np.testing.assert_array_equal(new - old, np.tile([0, minutes, 0, 0, 0], (len(old), 1)))
    assert (new[:, 1] > new[:, 0]).all()


def test_an_added_event_is_where_one_is_before_it():
    before, after = EDITED.made("add event")
    assert min(map(len, events(before))) == 0
    for old, new in zip(events(before), events(after), strict=True):
        ((start, end, place, kind, importance),) = new - old
        assert end - start in (15, 30)
        at_home = (0, 450, 0, 0, 0)
        assert max([at_home, *(event for event in old if event[0] < start)])[2] == place
        assert kind in EVENT_KINDS
        assert 1 <= importance <= 3
        assert old <= new


def test_a_dropped_event_is_gone():
    before, after = EDITED.made("drop event")
    for old, new in zip(events(before), events(after), strict=True):
        assert new < old
        assert len(new) == len(old) - 1


def test_tasks_come_last_and_go():
    for old, new in zip(*map(tasks, EDITED.made("add task")), strict=True):
        assert new[:-1] == old
        minutes, priority, due_days = new[-1]
        assert 30 <= minutes <= 180
        assert 1 <= priority <= min([3, *(task[1] for task in old)])
        assert due_days in (0, 1, 2, 3, NO_LIMIT)
    for old, new in zip(*map(tasks, EDITED.made("drop task")), strict=True):
        assert new in [old[:n] + old[n + 1 :] for n in range(len(old))]
