"""The ids of the suite as parameters of a test; some that share an engine with another are left to `make test-all`."""

import pytest

import jaxenv

OF_ONE_ENGINE = (
    "LifeOps-v0",
    "TeamsClone-Mentions-v0",
    "TeamsClone-MultiTask-v0",
    "TeamsClone-MultiAgent-v0",
    "Week-Notes-v0",
    "Week-Open-v0",
)
FIRST_OF_ITS_ENGINE = ("LifeOps-Shaped-v0", "LifeStack-v0", "TeamsClone-v0", "Week-v0")


def _with_slow(slow):
    return [pytest.param(id, marks=[pytest.mark.slow] if id in slow else []) for id in jaxenv.registered()]


IDS = _with_slow(OF_ONE_ENGINE)
ENGINES = _with_slow(set(jaxenv.registered()) - set(FIRST_OF_ITS_ENGINE))
