"""The specification's client in a quiet office, for its tests."""

import pytest

from scenarios.teamsclone import TeamsEnvClient
from strategies.teamsclone_words import OFFICE, Game


@pytest.fixture(scope="module")
def shared() -> TeamsEnvClient:
    """One client of the quiet office for all tests, to be used through `office`."""
    return Game(OFFICE).client()


@pytest.fixture
def office(shared: TeamsEnvClient) -> TeamsEnvClient:
    """At the start of an episode."""
    shared.reset()
    return shared
