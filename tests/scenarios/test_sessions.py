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
