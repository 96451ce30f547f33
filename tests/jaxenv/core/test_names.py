"""The nearest name: whatever its case, completed from its beginning, and none where none is near."""

import pytest

from jaxenv.host.names import did_you_mean, did_you_mean_one_of, nearest

NAMES = ("LifeOps-v0", "LifeStack-v0", "TeamsClone-v0")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("LifeOps-v00", "LifeOps-v0"),
        ("LIFESTACK-V0", "LifeStack-v0"),
        ("teams", "TeamsClone-v0"),
        ("CartPole", None),
        ("", None),
        (3, None),
    ],
)
def test_the_nearest_name(word, name):
    assert nearest(word, NAMES) == name
    assert did_you_mean(word, NAMES) == (f" Did you mean {name!r}?" if name else "")


@pytest.mark.parametrize(("word", "name"), [("lte", "le"), ("gte", "ge"), ("neq", "ne"), ("equal", "eq")])
def test_of_names_as_near_the_one_that_begins_and_ends_alike(word, name):
    assert nearest(word, ("eq", "ne", "gt", "lt", "ge", "le")) == name


def test_all_names_follow():
    assert did_you_mean_one_of("x", iter(NAMES)) == " Available: LifeOps-v0, LifeStack-v0, TeamsClone-v0."
