"""Sessions of the server: few, and none for long."""

import pytest

from scenarios.serving.sessions import SessionError, Sessions


def test_sessions_are_limited_in_number_and_time() -> None:
    now = [0.0]
    sessions = Sessions(list, limit=2, idle_seconds=60, clock=lambda: now[0])
    one, two = sessions.open("one"), sessions.open("two")
    assert sessions.open("one") is one
    with pytest.raises(SessionError, match="all 2 sessions are in use") as error:
        sessions.open("three")
    assert error.value.status == 429
    now[0] = 50.0
    assert sessions.get("two") is two
    now[0] = 100.0  # the first was used last at 0, the second at 50
    with pytest.raises(SessionError, match="idled too long") as error:
        sessions.get("one")
    assert error.value.status == 404
    assert sessions.open("three") is not one
    assert sessions.get("two") is two
    sessions.close("two")
    assert sessions.open("four") == []


def test_a_session_at_work_does_not_idle() -> None:
    """A first reset compiles, for longer than some let a session idle."""
    now = [0.0]
    sessions = Sessions(list, limit=1, idle_seconds=5, clock=lambda: now[0])
    with sessions.held("one"):
        one = sessions.open("one")
        now[0] = 60.0
        with pytest.raises(SessionError, match="all 1 sessions are in use"):
            sessions.open("two")
    now[0] = 64.0  # it idles from the end of its work
    assert sessions.get("one") is one
    now[0] = 70.0
    assert sessions.open("two") is not one
